"""Answers that rest on durable replies only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def settled(ask: Callable[[], Awaitable[T]], commit: Callable[[], int]) -> T:
    """What `ask` gives once every reply it used is the stored one.

    Two processes that share a cache may ask a server the same thing at once and get different
    answers; the first one stored is the truth. Work that used the other one is done again, from
    the cache this time, before anything can depend on it.

    Args:
        ask: the work, from requests to its outcome; reads nothing but replies.
        commit: makes the replies so far durable and returns how many of them were not the first.
    """
    lost = commit()
    while True:
        outcome = await ask()
        now = commit()
        if now == lost:
            return outcome
        lost = now

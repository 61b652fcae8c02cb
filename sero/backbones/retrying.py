"""When a call is tried again, and how long the client pauses before: the one place for it."""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    stop_before_delay,
)

log = logging.getLogger(__name__)

T = TypeVar("T")

_MAX_DOUBLINGS = 32


class Transient(Exception):
    """One attempt failed in a way that another may not.

    Attributes:
        reason: what happened, fit for a message.
        status: HTTP status, None when no answer came.
        malformed: an answer came but was no chat completion.
        retry_after_s: how long the server asks to wait, None when it does not say.
    """

    def __init__(
        self,
        reason: str,
        *,
        status: int | None = None,
        malformed: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.malformed = malformed
        self.retry_after_s = retry_after_s


def retryable(status: int) -> bool:
    """Whether an HTTP status may go away by itself: 408, 409, 429 and 5xx."""
    return status in (408, 409, 429) or status >= 500


def retry_after_s(header: str | None, now: datetime) -> float | None:
    """Seconds a `Retry-After` header asks for, as a number or an HTTP date; None if unreadable."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            date = parsedate_to_datetime(header)
            # a date of the header without a zone is in UTC (RFC 9110)
            date = date if date.tzinfo else date.replace(tzinfo=UTC)
            seconds = (date - now).total_seconds()
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if seconds == seconds else None


def pause_s(
    attempt: int,
    asked_s: float | None,
    *,
    backoff_s: float,
    backoff_max_s: float,
    jitter: random.Random,
) -> float:
    """Seconds before the attempt that follows number `attempt` (1 is the first).

    Doubling from `backoff_s` up to `backoff_max_s`, half of it random, so that calls which failed
    together do not return together. What the server asked for is a lower bound.
    """
    if asked_s is not None:
        return asked_s + jitter.uniform(0.0, backoff_s)
    ceiling = min(backoff_max_s, backoff_s * 2.0 ** min(attempt - 1, _MAX_DOUBLINGS))
    return ceiling * jitter.uniform(0.5, 1.0)


async def try_again(
    first: Transient,
    attempt: Callable[[], Awaitable[T]],
    *,
    max_retries: int,
    backoff_s: float,
    backoff_max_s: float,
    left_s: float,
    jitter: random.Random,
) -> T:
    """Repeat a call whose first attempt failed.

    The first attempt is made by the caller, so that a call which succeeds pays for no policy; it
    counts here as attempt 1.

    Args:
        first: how it failed.
        attempt: one further attempt.
        max_retries: attempts beyond the first.
        backoff_s, backoff_max_s: first and longest pause.
        left_s: seconds to the call's deadline; a pause that would pass it is not begun.
        jitter: for the pauses; no result depends on it.

    Raises:
        Transient: the last failure.
    """
    made = [first]

    async def next_attempt() -> T:
        if made:
            raise made.pop()
        return await attempt()

    def pause(state: RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome else None
        return pause_s(
            state.attempt_number,
            failure.retry_after_s if isinstance(failure, Transient) else None,
            backoff_s=backoff_s,
            backoff_max_s=backoff_max_s,
            jitter=jitter,
        )

    def note(state: RetryCallState) -> None:
        failure = state.outcome.exception() if state.outcome else None
        log.info(
            "attempt %d failed: %s; the next in %.1f s",
            state.attempt_number,
            failure,
            state.upcoming_sleep,
        )

    retrying = AsyncRetrying(
        retry=retry_if_exception_type(Transient),
        stop=stop_after_attempt(1 + max_retries) | stop_before_delay(left_s),
        wait=pause,
        before_sleep=note,
        reraise=True,
    )
    return await retrying(next_attempt)

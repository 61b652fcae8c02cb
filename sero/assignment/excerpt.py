"""Proposals on the beginning of a long task (`assign.excerpt_chars`).

A proposal shows how its author would play the role, and the start of a task may be enough for that;
proposals are the most numerous prompts with the task in them, I J of them. Criteria are written
from the whole task, for the role is played on all of it. Reviewers read the whole task as well and
are told where the excerpt ended, so that no proposal is blamed for what its author could not see.
"""

from __future__ import annotations

from sero.assignment.asking import text_of


def task_for_proposals(task: str, chars: int | None) -> str:
    """The first `chars` characters of a task with a mark behind them; None or a short task: all."""
    return _with_words("excerpt_mark", task.strip(), chars, cut=True)


def task_for_reviews(task: str, chars: int | None) -> str:
    """The whole task, and what the proposals saw of it where that was less."""
    return _with_words("excerpt_note", task.strip(), chars, cut=False)


def _with_words(name: str, task: str, chars: int | None, *, cut: bool) -> str:
    if chars is None or len(task) <= chars:
        return task
    words = text_of(name, shown=str(chars), all=str(len(task)))
    return (task[:chars] if cut else task) + words

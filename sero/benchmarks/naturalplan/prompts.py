"""What a model sees: the published zero-shot prompt, and the answer format of its subtask.

The published prompts name no format for trips, announce examples that do not follow for
calendars, and only the first word for meetings. The formats are data
(`prompts/naturalplan/answer_format.yaml`), pinned by a golden file.
"""

from __future__ import annotations

GROUPS = ("trip_planning", "calendar_scheduling", "meeting_planning")
TRIP, CALENDAR, MEETING = GROUPS

# A sentence of every published prompt of the subtask, looked for in this order.
_SIGNS = {
    MEETING: "meet as many friends as possible",
    CALENDAR: "You need to schedule a meeting for",
    TRIP: "take direct flights to commute between",
}
_CALENDAR_END = "SOLUTION:"


def group_of(prompt: str) -> str | None:
    """The subtask a prompt belongs to, read from its text alone."""
    return next((group for group, sign in _SIGNS.items() if sign in prompt), None)


def task_prompt(published: str, answer_format: str) -> str:
    """The published prompt plus the answer format, byte-stable.

    A prompt that ends with `SOLUTION:` keeps its ending, blanks included; the format goes
    before it.
    """
    head, end, blanks = published.rpartition(_CALENDAR_END)
    if end and not blanks.strip():
        return f"{head}\n{answer_format}\n\n{end}{blanks}"
    return f"{published}\n\n{answer_format}"

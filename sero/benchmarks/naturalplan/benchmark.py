"""The NaturalPlan benchmark: split, seed pool, parsing and the two scorers.

`official` repeats the published verdicts on the raw response, with the code's crashes as 0.
`careful` is right where the published code is plainly wrong: it drops think blocks, reads
typographic dashes, quotes and blanks, takes exact minutes, refuses a plan that contradicts
itself or goes on behind the gold one, and survives unknown names. It is no milder on the answer
format than typography asks for. Neither gives partial credit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from sero.benchmarks import prompt_files
from sero.benchmarks.base import Parsed, Score, Task
from sero.benchmarks.generate.planning import generate_naturalplan
from sero.benchmarks.item_benchmark import ItemBenchmark, ItemsConfig, Row
from sero.benchmarks.naturalplan import (
    calendar,
    meeting,
    meeting_official,
    sources,
    trip,
    trip_official,
)
from sero.benchmarks.naturalplan.items import make_task, read_item
from sero.benchmarks.naturalplan.prompts import CALENDAR, MEETING, TRIP, group_of

_CRASHES = (KeyError, IndexError, ValueError, OverflowError)
_NO_ITEM_KIND = "the prompt belongs to none of the three subtasks"


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalPlanConfig(ItemsConfig):
    """The `benchmark` section of NaturalPlan.

    Attributes:
        scorer: `careful` or `official`.
    """

    scorer: Literal["careful", "official"]


class NaturalPlan(ItemBenchmark):
    """Trip planning, calendar scheduling and meeting planning as one benchmark."""

    Config: ClassVar[type[NaturalPlanConfig]] = NaturalPlanConfig
    published: ClassVar[Mapping[str, int]] = {TRIP: 1600, CALENDAR: 1000, MEETING: 1000}
    # Neither the few-shot prompt nor the stored model output is ever used.
    fields: ClassVar[tuple[str, ...]] = (
        "example_id",
        "task",
        "num_cities",
        "cities",
        "durations",
        "num_people",
        "num_days",
        "duration",
        "constraints",
        "dist_matrix",
        "prompt_0shot",
        "golden_plan",
    )

    def __init__(self, config: NaturalPlanConfig) -> None:
        super().__init__(config)
        self.scorer: str = config.scorer

    def task_from_data(self, raw: Mapping[str, Any], where: str = "item") -> Task:
        """One task from one published item with `example_id` and `task` beside its fields.

        An item without `example_id` is called after its place.

        Raises:
            DataError: with every fault of the item.
        """
        group, item = read_item(raw, where)
        answer_format = prompt_files.text(self.config.prompts, prompt_files.ANSWER_FORMAT, group)
        return make_task(raw.get("example_id", where), group, item, answer_format)

    def read_source(self, path: Path) -> list[Row]:
        """The items of the three published files, or of a JSONL file."""
        return sources.read_source(path)

    def fetch(self, revision: str | None = None) -> tuple[list[Row], str]:
        """The items of the published repository."""
        from sero.benchmarks import hub

        return hub.fetch_rows(hub.NATURALPLAN, self.read_source, revision)

    def generate(self, n: int, *, seed: int, difficulty: int) -> Sequence[Mapping[str, Any]]:
        """Trips, calendars and meetings in turn."""
        return generate_naturalplan(n, seed=seed, difficulty=difficulty)

    def parse(self, prompt: str, response: str) -> Parsed:
        """Read a response; the subtask comes from the prompt alone.

        The careful `text` is the response without think blocks, the official one is raw.
        """
        if self.scorer == "official":
            return _parse_official(group_of(prompt), response)
        return super().parse(prompt, response)

    def read(self, prompt: str, response: str) -> Parsed:
        return _parse_careful(group_of(prompt), prompt, response)

    def score(self, parsed: Parsed, task: Task) -> Score:
        """0 or 1. Meeting tasks also carry `valid_meeting_fraction`, which is not the score."""
        if self.scorer == "official":
            return _score_official(parsed, task)
        return _score_careful(parsed, task)


def _parse_careful(group: str | None, prompt: str, response: str) -> Parsed:
    answer: str | None = None
    reason = ""
    match group:
        case "trip_planning":
            stays, reason = trip.read(response, trip.total_days(prompt))
            answer = trip.answer_text(stays) if stays else None
        case "calendar_scheduling":
            answer = calendar.read(response)
            reason = "" if answer else "no slot 'Day, H:MM - H:MM' in the response"
        case "meeting_planning":
            steps, reason = meeting.read(response)
            answer = None if steps is None else meeting.answer_text(steps)
        case _:
            reason = _NO_ITEM_KIND
    return Parsed(answer=answer, text=response, reason=reason)


def _score_careful(parsed: Parsed, task: Task) -> Score:
    gold = task.reference
    if task.group == MEETING:
        return _score_meeting(parsed, gold)
    if parsed.answer is None:
        return Score(value=0.0, reason=parsed.reason)
    if task.group == TRIP:
        wanted = trip.answer_text(_gold_stays(gold))
    else:
        wanted = calendar.read(gold["golden_plan"]) or ""
    if parsed.answer == wanted:
        return Score(value=1.0, reason="the gold answer")
    return Score(value=0.0, reason=f"got {parsed.answer}; gold is {wanted}")


def _score_meeting(parsed: Parsed, gold: Mapping[str, Any]) -> Score:
    if parsed.answer is None:
        return Score(value=0.0, reason=parsed.reason, metrics=_fraction(0, 1))
    day = meeting.day_of(gold["constraints"], gold["dist_matrix"])
    wanted, _ = meeting.simulate(meeting.gold_steps(gold["golden_plan"]), day)
    valid, stop = meeting.simulate(meeting.read_steps(parsed.answer) or (), day)
    reason = f"{valid} of {wanted} meetings" + (f"; {stop}" if stop else "")
    return Score(value=float(valid >= wanted), reason=reason, metrics=_fraction(valid, wanted))


def _fraction(valid: int, wanted: int) -> dict[str, float]:
    return {"valid_meeting_fraction": min(1.0, valid / wanted) if wanted else 1.0}


def _parse_official(group: str | None, response: str) -> Parsed:
    answer: str | None = None
    reason = "the published reader finds no answer"
    try:
        match group:
            case "trip_planning":
                answer = trip.answer_text(trip_official.read_official(response)) or None
            case "calendar_scheduling":
                slot = calendar.read_official(response)
                answer = None if slot == calendar.NO_SLOT else f"{slot[0]}, {slot[1]} - {slot[2]}"
            case "meeting_planning":
                steps = meeting_official.read_official(response)
                readable = bool(steps) and steps[0].startswith(meeting.STEP_HEADS)
                answer = ". ".join(steps) if readable else None
            case _:
                reason = _NO_ITEM_KIND
    except _CRASHES as error:
        reason = _crash(error)
    return Parsed(answer=answer, text=response, reason="" if answer else reason)


def _score_official(parsed: Parsed, task: Task) -> Score:
    gold = task.reference
    try:
        if task.group == TRIP:
            stays = trip_official.read_official(parsed.text)
            return _verdict(trip_official.matches(stays, _gold_stays(gold)))
        if task.group == CALENDAR:
            slot = calendar.read_official(parsed.text)
            return _verdict(slot == calendar.read_official(gold["golden_plan"]))
        constraints, matrix = gold["constraints"], gold["dist_matrix"]
        steps = meeting_official.read_official(parsed.text)
        wanted = meeting_official.simulate_official(gold["golden_plan"], constraints, matrix)
        valid = meeting_official.simulate_official(steps, constraints, matrix)
    except _CRASHES as error:
        metrics = _fraction(0, 1) if task.group == MEETING else {}
        return Score(value=0.0, reason=_crash(error), metrics=metrics)
    reason = f"{valid} of {wanted} meetings"
    return Score(value=float(valid == wanted), reason=reason, metrics=_fraction(valid, wanted))


def _gold_stays(gold: Mapping[str, Any]) -> tuple[trip.Stay, ...]:
    return tuple(zip(gold["cities"], gold["durations"], strict=True))


def _verdict(solved: bool) -> Score:
    return Score(value=float(solved), reason="the gold answer" if solved else "not the gold answer")


def _crash(error: Exception) -> str:
    return f"the published code stops with {type(error).__name__}"

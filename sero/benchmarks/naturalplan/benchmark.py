"""The NaturalPlan benchmark: split, seed pool, parsing and the two scorers.

`official` repeats the published verdicts on the raw response, with the code's crashes as 0.
`careful` is right where the published code is plainly wrong: it drops think blocks, reads
typographic dashes, quotes and blanks, takes exact minutes, refuses a plan that contradicts
itself or goes on behind the gold one, and survives unknown names. It is no milder on the answer
format than typography asks for. Neither gives partial credit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Gt

from sero.benchmarks.base import Parsed, Score, Split, Task
from sero.benchmarks.naturalplan import (
    calendar,
    meeting,
    meeting_official,
    trip,
    trip_official,
)
from sero.benchmarks.naturalplan.items import CALENDAR, MEETING, TRIP, load_items
from sero.benchmarks.naturalplan.prompts import GROUPS, group_of, text
from sero.benchmarks.normalise import strip_think
from sero.benchmarks.splits import stratified_split
from sero.errors import DataError
from sero.roles.load import load_pool
from sero.roles.pool import RolePool

PUBLISHED_COUNTS: Mapping[str, int] = {TRIP: 1600, CALENDAR: 1000, MEETING: 1000}
_CRASHES = (KeyError, IndexError, ValueError, OverflowError)
_NO_ITEM_KIND = "the prompt belongs to none of the three subtasks"


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalPlanConfig:
    """The `benchmark` section of NaturalPlan.

    Attributes:
        source: folder or file of the data, see `load_items`.
        scorer: `careful` or `official`.
        n_train: training tasks, shared equally between the three subtasks.
        n_heldout: held-out tasks, likewise; None is all the rest.
        split_seed: seed of the split, independent of the run's seed.
        allow_counts: accept data of another size than published, and fewer held-out tasks.
        strict_add: an Add must score strictly better in warm-up too; read by the commit rule.
        seed_pool: a pool file, `package:naturalplan/seed_pool.yaml` or a path.
    """

    name: str
    source: str | None
    scorer: Literal["careful", "official"]
    n_train: Annotated[int, Gt(0)]
    n_heldout: Annotated[int, Gt(0)] | None
    split_seed: Annotated[int, Ge(0)]
    allow_counts: bool
    strict_add: bool
    seed_pool: str


class NaturalPlan:
    """Trip planning, calendar scheduling and meeting planning as one benchmark."""

    Config: ClassVar[type[NaturalPlanConfig]] = NaturalPlanConfig
    simulated = False

    def __init__(self, config: NaturalPlanConfig) -> None:
        self.config = config
        self.name = config.name
        self.scorer: str = config.scorer
        self.output_protocol = text("answer_format", "output_protocol")

    def load(self) -> Split:
        """Read the data and draw the split.

        Raises:
            DataError: missing or damaged data, or other counts than announced.
        """
        config = self.config
        tasks, fingerprint = load_items(config.source)
        if not config.allow_counts:
            _check_counts(Counter(task.group for task in tasks), config)
        parts = stratified_split(
            tasks,
            n_train=config.n_train,
            n_heldout=config.n_heldout,
            seed=config.split_seed,
            name=config.name,
        )
        if not parts.heldout:
            raise DataError(
                f"{config.source}: {len(tasks)} tasks, {config.n_train} of them for training, "
                "leave none held out. Lower benchmark.n_train or supply more data."
            )
        return Split(train=parts.train, heldout=parts.heldout, fingerprint=fingerprint)

    def seed_pool(self) -> RolePool:
        return load_pool(self.config.seed_pool)

    def known_texts(self) -> tuple[str, ...]:
        """The seed pool's cards and every text this benchmark puts into a prompt."""
        cards = [
            "\n".join((card.name, card.identity_text, card.communication_protocol))
            for card in self.seed_pool()
        ]
        formats = [text("answer_format", group) for group in GROUPS]
        return (*cards, *formats, self.output_protocol, text("single_agent", "system"))

    def parse(self, prompt: str, response: str) -> Parsed:
        """Read a response; the subtask comes from the prompt alone.

        The careful `text` is the response without think blocks, the official one is raw.
        """
        group = group_of(prompt)
        if self.config.scorer == "official":
            return _parse_official(group, response)
        stripped = strip_think(response)
        if stripped is None:
            return Parsed(answer=None, text="", reason="the think block never closes")
        return _parse_careful(group, prompt, stripped)

    def score(self, parsed: Parsed, task: Task) -> Score:
        """0 or 1. Meeting tasks also carry `valid_meeting_fraction`, which is not the score."""
        if self.config.scorer == "official":
            return _score_official(parsed, task)
        return _score_careful(parsed, task)


def _check_counts(found: Counter[str], config: NaturalPlanConfig) -> None:
    wrong = [
        f"{group}: {found[group]} items found, {n} expected"
        for group, n in PUBLISHED_COUNTS.items()
        if found[group] != n
    ]
    wanted = config.n_train + (config.n_heldout or 1)
    if found.total() < wanted:
        wrong.append(f"{found.total()} items found, {wanted} expected for the split")
    if wrong:
        raise DataError(
            f"{config.source}: not the published data\n  "
            + "\n  ".join(wrong)
            + "\nSupply the whole data, or set benchmark.allow_counts=true to split what is there."
        )


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

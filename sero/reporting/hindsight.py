"""The best uniform assignment in hindsight: what assigning roles task by task is measured to.

A uniform assignment has one candidate in every role (`assign.by=NAME`). The best of them is chosen
knowing the very scores it is shown with, for each set of data by itself: two worlds share no more
than the candidates' names. So it is a figure to compare with, and no method.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sero.assignment.players import DECIDERS, META_DEBATE, RANDOM
from sero.reporting.figures import RunFigures
from sero.reporting.seeds import Block, Difference, SeedRow, compare, row_estimate
from sero.reporting.table import NONE, Table, bounds, named
from sero.reporting.text import score, signed

BEST = "best uniform, in hindsight"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hindsight:
    """The comparators of one method's assignments.

    Attributes:
        best: a row made of the runs of the best candidate of each set of data.
        chosen: who that is, and how often where it is not always the same.
        dynamic: rows in which Meta-Debate decides.
        random: the row of random assignments, if there is one.
    """

    best: SeedRow
    chosen: str
    dynamic: tuple[SeedRow, ...]
    random: SeedRow | None

    def remark(self, block: Block) -> str:
        """What stands below the table that shows the row."""
        each = f" for each of the {block.unit} by itself" if not block.over_items else ""
        return (
            f"{self.best.label}: {self.chosen}, chosen{each} knowing these scores. No method and "
            "no claim: nobody could have chosen so beforehand."
        )

    def differences(self, block: Block) -> list[tuple[SeedRow, SeedRow, Difference]]:
        """Every dynamic row minus the best uniform one, and minus the random one."""
        bases = [self.best, *([self.random] if self.random else [])]
        return [
            (row, base, compare(row, base, over_items=block.over_items))
            for row in self.dynamic
            for base in bases
        ]


def hindsights(block: Block) -> tuple[Hindsight, ...]:
    """For every method of a block with two or more uniform rows; in order of their labels."""
    alike: dict[tuple[str, ...], dict[str, list[SeedRow]]] = defaultdict(lambda: defaultdict(list))
    for row in block.rows:
        if row.key.by:
            key = row.key
            alike[key.experiment, key.method, key.name, key.rest][key.by].append(row)
    found = [
        _hindsight({by: rows[0] for by, rows in players.items()}, block)
        for players in alike.values()
        # trained beside it or not, a row may stand there twice: nothing is chosen between two
        if all(len(rows) == 1 for rows in players.values())
        and sum(by not in DECIDERS for by in players) > 1
    ]
    return tuple(sorted((one for one in found if one), key=lambda one: one.best.label))


def comparator_table(block: Block, found: Sequence[Hindsight]) -> Table:
    """What assigning roles task by task brings, against its comparators; rows where it was done."""
    rows = tuple(
        (
            row.label,
            base.label,
            str(d.runs),
            signed(d.estimate.mean),
            bounds(d.estimate, sign=True),
            f"{d.wins:g}/{d.runs}" if d.runs else NONE,
        )
        for one in found
        for row, base, d in one.differences(block)
    )
    note = (
        f"Paired on the same {block.unit} and items; intervals as in the tables of differences. "
        "The best uniform assignment was chosen knowing its scores, so the difference to it is "
        "rather too low than too high; nothing is tested."
    )
    return Table(
        title=named(block, "Dynamic assignment against its comparators"),
        columns=("row", "minus", "pairs", "difference", "95 % CI", "wins"),
        rows=rows,
        notes=(note,),
    )


def hindsight_lines(block: Block) -> list[str]:
    """The same in sentences, for the table at the end of a small sweep."""
    lines = []
    for one in hindsights(block):
        best = row_estimate(one.best, block)
        lines.append(
            f"{one.best.label}: {score(best.mean)}, 95 % CI {bounds(best)}, n = {best.n} "
            f"{'items' if block.over_items else block.unit} ({one.chosen}; chosen knowing these "
            "scores: no method, no claim)"
        )
        lines += [
            f"{row.label} minus {base.label}: {signed(d.estimate.mean)}, 95 % CI "
            f"{bounds(d.estimate, sign=True)}"
            for row, base, d in one.differences(block)
            if base is one.best
        ]
    return lines


def _hindsight(players: Mapping[str, SeedRow], block: Block) -> Hindsight | None:
    uniform = {by: row for by, row in players.items() if by not in DECIDERS}
    runs: list[RunFigures] = []
    chosen: Counter[str] = Counter()
    # Without a fingerprint a seed's data are its own.
    places = {run.data or run.seed: None for row in uniform.values() for run in row.runs}
    for place in places:
        here = {
            by: [run for run in row.runs if (run.data or run.seed) == place]
            for by, row in uniform.items()
        }
        if all(here.values()):
            who = min(here, key=lambda by: (-_mean(here[by], block), by))
            runs += here[who]
            chosen[who] += 1
    if not runs:
        return None
    first = next(iter(uniform.values()))
    label = first.label.replace(f"· by {first.key.by}", f"· {BEST}", 1)
    return Hindsight(
        best=SeedRow(label=label, key=replace(first.key, by=BEST), runs=tuple(runs)),
        chosen=_named(chosen, block),
        dynamic=tuple(row for by, row in players.items() if by == META_DEBATE),
        random=players.get(RANDOM),
    )


def _mean(runs: Sequence[RunFigures], block: Block) -> float:
    """Mean score of a candidate's runs on one set of data, over the items the table shows."""
    if not block.over_items or not block.items:
        return float(np.mean([run.score for run in runs]))
    return float(np.mean([run.scored[item][1] for run in runs for item in block.items]))


def _named(chosen: Counter[str], block: Block) -> str:
    if len(chosen) == 1:
        return next(iter(chosen))
    return ", ".join(f"{who} in {n}" for who, n in sorted(chosen.items())) + f" {block.unit}"

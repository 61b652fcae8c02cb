"""The best uniform assignment in hindsight: what assigning roles task by task is measured to.

A uniform assignment has one candidate in every role (`assign.by=NAME`). The best of them is chosen
knowing the very scores it is shown with, for each set of data by itself: two worlds share no more
than the candidates' names. So it is a figure to compare with, and no method. Its intervals contain
the choice: over items it is made anew in each resample, over worlds within each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sero.assignment.players import DECIDERS, META_DEBATE, RANDOM
from sero.reporting.differences import Difference, compare, item_differences
from sero.reporting.figures import RunFigures
from sero.reporting.rows import Scored
from sero.reporting.seeds import Block, SeedRow, common, item_scores, most_runs, row_estimate
from sero.reporting.statistics import Estimate, best_estimate, best_score_estimate
from sero.reporting.table import NONE, Table, bounds, ends, named
from sero.reporting.text import score, signed

BEST = "best uniform, in hindsight"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hindsight:
    """The comparators of one host's assignments.

    Attributes:
        best: a row made of the runs of the best candidate of each set of data.
        chosen: who that is, and how often where it is not always the same.
        uniform: the rows it is chosen from.
        dynamic: rows in which Meta-Debate decides, by one rule or another.
        random: the rows of random assignments: one where a candidate may play several roles, one
            where the roles go round.
    """

    best: SeedRow
    chosen: str
    uniform: tuple[SeedRow, ...]
    dynamic: tuple[SeedRow, ...]
    random: tuple[SeedRow, ...]

    def estimate(self, block: Block) -> Estimate:
        """The best row's mean; the interval contains the choice."""
        if not block.over_items:
            return row_estimate(self.best, block)
        return best_score_estimate(_side_by_side([item_scores(row, block) for row in self.uniform]))

    def shown(self, block: Block) -> tuple[SeedRow, Estimate, str]:
        """The row, its estimate, and what stands below the table that shows them."""
        return (
            self.best,
            self.estimate(block),
            f"{self.best.label}: {self.chosen}, chosen {self.how(block)}. No method and no claim: "
            "nobody could have chosen so beforehand.",
        )

    def how(self, block: Block) -> str:
        """From which scores the best was chosen, and what the interval makes of that."""
        if block.over_items:
            return (
                f"knowing these scores of {len(block.items)} items, anew in each resample of its "
                "interval; the fewer the items, the more it flatters"
            )
        items = " to ".join(ends([len(run.scored) for run in self.best.runs]))
        return (
            f"within each of the {block.unit} knowing the scores of its own {items} items; the "
            "fewer the items, the more it flatters"
        )

    def differences(self, block: Block) -> list[tuple[SeedRow, SeedRow, Difference]]:
        """Every dynamic row minus the best uniform one, and minus the random one of its kind."""
        found = []
        for row in self.dynamic:
            found.append((row, self.best, self._to_best(row, block)))
            found += [
                (row, other, compare(row, other, over_items=block.over_items))
                for other in self.random
                if other.key.reuse == row.key.reuse
            ]
        return found

    def _to_best(self, row: SeedRow, block: Block) -> Difference:
        found = compare(row, self.best, over_items=block.over_items)
        if not block.over_items:
            return found
        # x - max_j u_j = -max_j (u_j - x)
        above = best_estimate(_side_by_side([item_differences(one, row) for one in self.uniform]))
        return replace(found, estimate=above.negated)


def hindsights(block: Block) -> tuple[Hindsight, ...]:
    """For every host of a block with two or more uniform rows; in order of their labels."""
    alike: dict[tuple[str, ...], list[SeedRow]] = defaultdict(list)
    for row in block.rows:
        if row.key.by:
            alike[row.key.experiment, row.key.host, row.key.roster].append(row)
    found = [_hindsight(rows, block) for rows in alike.values() if not _twice(rows)]
    return tuple(sorted((one for one in found if one), key=lambda one: one.best.label))


def _twice(rows: Sequence[SeedRow]) -> bool:
    """Trained beside it or not, a row may stand there twice: nothing is chosen between two."""
    return len({(row.key.name, row.key.by, _rule(row)) for row in rows}) < len(rows)


def _rule(row: SeedRow) -> object:
    """What of the rules its decider reads."""
    if row.key.by == META_DEBATE:
        return row.key.rules
    return row.key.by in DECIDERS and row.key.reuse


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
    where = "anew in each resample" if block.over_items else f"within each of the {block.unit}"
    note = (
        f"Paired on the same {block.unit} and items; intervals as in the tables of differences, "
        f"with the best uniform assignment chosen {where}. It was chosen knowing its scores, so "
        "the difference to it is rather too low than too high; nothing is tested."
    )
    return Table(
        title=named(block, "Dynamic assignment against its comparators"),
        columns=("row", "minus", "pairs", "difference", "95 % CI", "wins"),
        rows=rows,
        notes=(note,),
        words=2,
    )


def hindsight_lines(block: Block) -> list[str]:
    """The same in sentences, for the table at the end of a small sweep."""
    lines = []
    for one in hindsights(block):
        best = one.estimate(block)
        lines.append(
            f"{one.best.label}: {score(best.mean)}, 95 % CI {bounds(best)}, n = {best.n} "
            f"{'items' if block.over_items else block.unit} ({one.chosen}, chosen "
            f"{one.how(block)}: no method, no claim)"
        )
        lines += [
            f"{row.label} minus {base.label}: {signed(d.estimate.mean)}, 95 % CI "
            f"{bounds(d.estimate, sign=True)}"
            for row, base, d in one.differences(block)
            if base is one.best
        ]
    return lines


def _hindsight(rows: Sequence[SeedRow], block: Block) -> Hindsight | None:
    """None without two uniform rows that have some data in common."""
    players: dict[str, list[SeedRow]] = defaultdict(list)
    for row in rows:
        players[row.key.by].append(row)
    uniform = {by: most_runs(found) for by, found in players.items() if by not in DECIDERS}
    if len(uniform) < 2:
        return None
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
    title = first.key.host_title
    label = first.label.replace(first.key.title, f"{title} · {BEST}", 1)
    return Hindsight(
        best=SeedRow(label=label, key=replace(first.key, by=BEST), runs=tuple(runs)),
        chosen=_named(chosen, block),
        uniform=tuple(uniform.values()),
        dynamic=tuple(players[META_DEBATE]),
        random=tuple(
            most_runs(rows)
            for reuse in (False, True)
            if (rows := [row for row in players[RANDOM] if row.key.reuse == reuse])
        ),
    )


def _side_by_side(columns: Sequence[Scored]) -> dict[str, list[list[float]]]:
    """Per group, the values that the columns have of each item they all have."""
    found: dict[str, list[list[float]]] = defaultdict(list)
    for item in common(columns):
        found[columns[0][item][0]].append([column[item][1] for column in columns])
    return found


def _mean(runs: Sequence[RunFigures], block: Block) -> float:
    """Mean score of a candidate's runs on one set of data, over the items the table shows."""
    if not block.over_items or not block.items:
        return float(np.mean([run.score for run in runs]))
    return float(np.mean([run.scored[item][1] for run in runs for item in block.items]))


def _named(chosen: Counter[str], block: Block) -> str:
    if len(chosen) == 1:
        return next(iter(chosen))
    return ", ".join(f"{who} in {n}" for who, n in sorted(chosen.items())) + f" {block.unit}"

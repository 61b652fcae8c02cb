"""The assignment world's figures beside the published ones (method.md §8.6). Simulated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from sero.assignment.rules import AssignMode
from sero.assignment.scores import Floats
from sero.assignment.world import (
    Played,
    WorldSpec,
    assigned,
    assigned_auto,
    excluding,
    excluding_corrected,
    play,
)

ARGMAX, GREEDY, HUNGARIAN = AssignMode.ARGMAX, AssignMode.GREEDY, AssignMode.HUNGARIAN
GAMER = (3.0, 1.0, 1.0, 1.0)
"""Self-bonus of every evaluator where one promotes itself by 2 more than the others."""
LONE_GAMER = (2.0, 0.0, 0.0, 0.0)
"""The same where the others do not promote themselves at all."""
NOISY = 2.0
SELF_MARGIN = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure: mean role success over worlds.

    Attributes:
        published: None where nothing was published.
        fitted: the world's constants were chosen so that it comes out.
        mean: over the worlds.
        half_width: of the 95 % interval over the worlds (Student's t).
    """

    name: str
    published: float | None
    fitted: bool
    mean: float
    half_width: float


def world_table(keys: Iterable[int], n_tasks: int) -> tuple[Row, ...]:
    """Every figure of the section over the same worlds.

    Args:
        keys: of the worlds, at least two.
        n_tasks: tasks of each.
    """
    return table_of(world_figures(keys, n_tasks))


def table_of(figures: Mapping[str, Floats]) -> tuple[Row, ...]:
    """The rows of figures that `world_figures` found."""
    rows = []
    for name, (published, fitted) in _PUBLISHED.items():
        mean, half = interval(figures[name])
        rows.append(Row(name=name, published=published, fitted=fitted, mean=mean, half_width=half))
    return tuple(rows)


def world_figures(keys: Iterable[int], n_tasks: int) -> dict[str, Floats]:
    """The name of every figure to its values, one per world, so that figures pair. Shape (W,)."""
    worlds = [_figures(key, n_tasks) for key in keys]
    return {name: np.array([world[name] for world in worlds]) for name in _PUBLISHED}


def interval(values: Floats) -> tuple[float, float]:
    """The mean over worlds, and the half width of its 95 % interval (Student's t)."""
    half = stats.sem(values) * stats.t.ppf(0.975, len(values) - 1)
    return float(values.mean()), float(half)


_PUBLISHED: dict[str, tuple[float | None, bool]] = {
    "random, mean uniform": (0.492, True),
    "best uniform": (0.566, True),
    "argmax": (0.712, True),
    "oracle": (0.722, True),
    "greedy": (None, False),
    "margin": (None, False),
    "hungarian": (None, False),
    "hungarian, self excluded": (0.678, False),
    "argmax, noise sd 2": (0.674, False),
    "argmax, self excluded": (0.706, False),
    "argmax, self excluded, corrected": (0.708, False),
    "argmax, self excluded by auto": (None, False),
    "gamer, all scores": (0.704, False),
    "gamer, self excluded": (0.706, False),
    "gamer, self excluded, corrected": (0.708, False),
    "gamer, self excluded by auto": (None, False),
    "lone gamer, all scores": (None, False),
    "lone gamer, self excluded": (None, False),
    "lone gamer, self excluded by auto": (None, False),
}


def _figures(key: int, n_tasks: int) -> dict[str, float]:
    """Every figure of one world."""
    plain = play(WorldSpec(key=key), n_tasks)
    noisy = play(WorldSpec(key=key, noise_sd=NOISY), n_tasks)
    gamed = play(WorldSpec(key=key, bonus=GAMER), n_tasks)
    lone = play(WorldSpec(key=key, bonus=LONE_GAMER), n_tasks)

    def auto(played: Played) -> float:
        return played.success(assigned_auto(played, ARGMAX, margin=SELF_MARGIN)[0])

    return {
        "random, mean uniform": plain.random,
        "best uniform": float(plain.uniform.max()),
        "oracle": plain.oracle,
        **{str(mode): plain.success(assigned(plain, mode)) for mode in AssignMode},
        "hungarian, self excluded": plain.success(assigned(plain, HUNGARIAN, excluding)),
        "argmax, noise sd 2": noisy.success(assigned(noisy, ARGMAX)),
        "argmax, self excluded": plain.success(assigned(plain, ARGMAX, excluding)),
        "argmax, self excluded, corrected": plain.success(
            assigned(plain, ARGMAX, excluding_corrected)
        ),
        "argmax, self excluded by auto": auto(plain),
        "gamer, all scores": gamed.success(assigned(gamed, ARGMAX)),
        "gamer, self excluded": gamed.success(assigned(gamed, ARGMAX, excluding)),
        "gamer, self excluded, corrected": gamed.success(
            assigned(gamed, ARGMAX, excluding_corrected)
        ),
        "gamer, self excluded by auto": auto(gamed),
        "lone gamer, all scores": lone.success(assigned(lone, ARGMAX)),
        "lone gamer, self excluded": lone.success(assigned(lone, ARGMAX, excluding)),
        "lone gamer, self excluded by auto": auto(lone),
    }

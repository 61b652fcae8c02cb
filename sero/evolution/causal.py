"""How much a team's answer hangs on single messages: CAPE and TCTE (method.md §2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from sero.backbones.base import Phase
from sero.benchmarks.base import Task
from sero.credit import PoolState
from sero.evolution.gate import EPS
from sero.evolution.rolling import Roller, Scored
from sero.inference.layout import template
from sero.inference.trace import Rollout


@dataclass(frozen=True, slots=True, kw_only=True)
class CausalEffects:
    """What became of one task's answer when each message was taken away in turn.

    Attributes:
        correct: the untouched answer was correct.
        flips: CAPE_i per role of B_t in stage order: correctness changed under do(O_i).
        degrees: d_i, successors in the DAG and the aggregator.
    """

    correct: bool
    flips: Mapping[str, bool]
    degrees: Mapping[str, int]

    @property
    def tcte(self) -> float:
        """The team's total causal effect, in [0, 1]; 0 without a team."""
        return tcte(list(self.flips.values()), [self.degrees[name] for name in self.flips])


def tcte(flips: Sequence[bool], degrees: Sequence[int]) -> float:
    """TCTE = (1/n) Σ_i CAPE_i / sqrt(d_i).

    Args:
        flips: CAPE_i, correctness flips when role i's message is replaced.
        degrees: d_i ≥ 1, out-degree with the edge to the sink.

    Raises:
        ValueError: the lengths differ, or a degree is below 1.

    Source: EIB-Learner (arXiv:2505.23352), causal diagnostics.
    """
    if len(flips) != len(degrees):
        raise ValueError(f"tcte got {len(flips)} flips and {len(degrees)} degrees; one per role")
    if any(d < 1 for d in degrees):
        raise ValueError(f"tcte got degrees {list(degrees)}; the sink edge makes each at least 1")
    if not flips:
        return 0.0
    return sum(flip / sqrt(d) for flip, d in zip(flips, degrees, strict=True)) / len(flips)


def out_degrees(rollout: Rollout) -> dict[str, int]:
    """d_i per role of B_t in stage order: its successors, and the aggregator, which hears all."""
    degrees = dict.fromkeys(rollout.order, 1)
    for source, _ in rollout.edges:
        degrees[source] += 1
    return degrees


async def causal_effects(
    task: Task, state: PoolState, roll: Roller, *, episode: int, threshold: float = 1.0
) -> CausalEffects:
    """Replace each role's message by the neutral text, run what lies downstream, compare.

    Team, order and DAG stay those of the untouched run, because every role still drafts. Costs
    one rollout and one per role of B_t, less what the call cache holds.

    Args:
        threshold: score from which an answer is correct; 1 asks for all of it.

    Raises:
        BackboneError: the machine failed.
    """
    neutral = template("counterfactual", "neutral")

    def correct(scored: Scored) -> bool:
        return scored.value >= threshold - EPS

    base = await roll(task, state, Phase.LOO, episode)
    team = base.rollout.order
    flips = {}
    for name in team:
        without = await roll(
            task, state, Phase.LOO, episode, team_names=team, replace={name: neutral}
        )
        flips[name] = correct(without) is not correct(base)
    return CausalEffects(correct=correct(base), flips=flips, degrees=out_degrees(base.rollout))


async def mean_effects(
    tasks: Sequence[Task], state: PoolState, roll: Roller, *, episode: int
) -> dict[str, float]:
    """Mean CAPE over all messages, and mean TCTE over the tasks, under their metric names.

    Raises:
        BackboneError: the machine failed.
    """
    effects = [await causal_effects(task, state, roll, episode=episode) for task in tasks]
    flips = [flip for one in effects for flip in one.flips.values()]
    if not flips:
        return {}
    return {
        "credit/cape": sum(flips) / len(flips),
        "credit/tcte": sum(one.tcte for one in effects) / len(effects),
    }

"""What a card can do: competence and error per capability (method.md §7). Hidden ground truth."""

from __future__ import annotations

from dataclasses import dataclass

from sero.skillworld.sheet import Kind, Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """p and w of one role, one value per capability.

    Attributes:
        right: p_k, the chance to state the right fact unaided.
        wrong: w_k, the chance to state the wrong one.
    """

    right: tuple[float, ...]
    wrong: tuple[float, ...]


def skill_of(truth: Truth, n_capabilities: int) -> Skill:
    """The skill behind a truth.

    In its family a card is good (0.85, 0.03), medium (0.45, 0.12) or harmful (0.10, 0.55);
    elsewhere it is (0.03, 0.02), a harmful one (0.03, 0.12). A distractor is (0.05, 0.30)
    everywhere, a misleader (0.05, 0.50); an unknown card is everywhere as off its family. The
    others state nothing by themselves.
    """
    off = (0.03, 0.02)
    match truth.kind:
        case Kind.GOOD:
            own = (0.85, 0.03)
        case Kind.MEDIUM:
            own = (0.45, 0.12)
        case Kind.HARMFUL:
            own, off = (0.10, 0.55), (0.03, 0.12)
        case Kind.DISTRACTOR:
            own = off = (0.05, 0.30)
        case Kind.MISLEADER:
            own = off = (0.05, 0.50)
        case Kind.UNKNOWN:
            own = off
        case Kind.ROUTER | Kind.VALIDATOR | Kind.AGGREGATOR:
            own = off = (0.0, 0.0)
    pairs = [own if k == truth.family else off for k in range(n_capabilities)]
    return Skill(right=tuple(p for p, _ in pairs), wrong=tuple(w for _, w in pairs))

"""The active team A_t: who is asked for a task (method.md §4.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from annotated_types import Ge, Le

from sero.backbones.base import CallContext
from sero.credit import CreditConfig, PoolState, historical
from sero.encoders import TextEncoder
from sero.inference.role_assignment import AS_WRITTEN, Assigner, RoleAssignment
from sero.roles.card import RoleCard, RoleType


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalConfig:
    """The `retrieval` section. `family_cover_min` None means `family_cover_rel` decides."""

    credit_mode: Literal["raw", "minmax", "none"]
    alpha: Annotated[float, Ge(0), Le(1)]
    setup_slots: Annotated[int, Ge(0)]
    spec_slots: Annotated[int, Ge(0)]
    val_slots: Annotated[int, Ge(0)]
    family_cover: Literal["distinct", "soft", "off"]
    family_cover_min: Annotated[float, Ge(-1), Le(1)] | None
    family_cover_rel: Annotated[float, Ge(0), Le(1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """A_t: the picked roles B_t in pool order, and the terminal role.

    Attributes:
        members: B_t.
        aggregator: r_agg, None when the pool lost it.
        similarity: ρ_r of every member.
        assignment: who plays which role, where that was decided for this task.
    """

    members: tuple[RoleCard, ...]
    aggregator: RoleCard | None
    similarity: Mapping[str, float]
    assignment: RoleAssignment = AS_WRITTEN

    @property
    def names(self) -> tuple[str, ...]:
        """A_t by name, the aggregator last."""
        last = (self.aggregator.name,) if self.aggregator else ()
        return (*(card.name for card in self.members), *last)

    def card_of(self, card: RoleCard) -> RoleCard:
        """A card as it is played on this task; one outside of the team as it stands."""
        return next((one for one in self.members if one.name == card.name), card)


async def assigned_team(
    prompt: str, team: Team, assigner: Assigner | None, *, call: CallContext
) -> Team:
    """A_t with its players: the bridge from Meta-Debate to a pool (method.md §5).

    Raises:
        BackboneError: the machine failed.
    """
    if assigner is None or team.aggregator is None:
        return team
    assigned = await assigner.assign(prompt, (*team.members, team.aggregator), call)
    *members, aggregator = assigned.cards
    return replace(team, members=tuple(members), aggregator=aggregator, assignment=assigned)


def retrieve_team(
    prompt: str,
    state: PoolState,
    encoder: TextEncoder,
    cfg: RetrievalConfig,
    credit_cfg: CreditConfig,
    reserve_validator: bool,
) -> Team:
    """Pick B_t by type, best ranking score R_r first, and add the aggregator.

    With `reserve_validator` one validator stays out of the team for the repair pass, unless the
    pool has only one, which then serves in both places.
    """
    pool = state.pool
    slots = team_slots(len(pool.of_type(RoleType.VALIDATOR)), cfg, reserve_validator)
    similarity = similarities(prompt, pool.cards, encoder)
    picked: set[str] = set()
    for role_type, n_slots in slots.items():
        cards = pool.of_type(role_type)
        rho = [similarity[card.name] for card in cards]
        credit = [historical(state.credit[card.name], credit_cfg) for card in cards]
        scores = ranking_scores(rho, credit, mode=cfg.credit_mode, alpha=cfg.alpha)
        ranked = sorted(range(len(cards)), key=lambda i: (-scores[i], i))
        if role_type is RoleType.SPECIALIST and cfg.family_cover != "off":
            families = [card.capability_family for card in cards]
            floor = cover_floor(rho, cfg)
            cover = cover_distinct if cfg.family_cover == "distinct" else cover_soft
            ranked = cover(ranked, families, [value >= floor for value in rho], n_slots)
        picked |= {cards[i].name for i in ranked[:n_slots]}
    members = tuple(card for card in pool if card.name in picked)
    return Team(
        members=members,
        aggregator=pool.terminal,
        similarity={card.name: similarity[card.name] for card in members},
    )


def team_slots(
    n_validators: int, cfg: RetrievalConfig, reserve_validator: bool
) -> dict[RoleType, int]:
    """How many roles of each type a team takes at most; it takes as many as the pool has.

    Args:
        n_validators: validators in the pool.
    """
    spare = 1 if reserve_validator and n_validators > 1 else 0
    return {
        RoleType.ROUTER: cfg.setup_slots,
        RoleType.SPECIALIST: cfg.spec_slots,
        RoleType.VALIDATOR: min(cfg.val_slots, n_validators - spare),
    }


def explicit_team(
    prompt: str, names: Sequence[str], state: PoolState, encoder: TextEncoder
) -> Team:
    """The team a caller names (credit estimators bypass retrieval); the aggregator is added.

    Raises:
        KeyError: a name that is not in the pool.
    """
    wanted = [state.pool[name] for name in names]
    members = tuple(
        card for card in state.pool if card in wanted and card.role_type is not RoleType.AGGREGATOR
    )
    return Team(
        members=members,
        aggregator=state.pool.terminal,
        similarity=similarities(prompt, members, encoder),
    )


def similarities(prompt: str, cards: Sequence[RoleCard], encoder: TextEncoder) -> dict[str, float]:
    """ρ_r = ⟨e(r), e(x)⟩ by role name."""
    query = encoder.encode(prompt)
    return {card.name: float(encoder.encode(card.prompt_text) @ query) for card in cards}


def ranking_scores(
    similarity: Sequence[float],
    credit: Sequence[float],
    *,
    mode: Literal["raw", "minmax", "none"],
    alpha: float,
) -> list[float]:
    """R_r = α ρ_r + (1-α) c_r over the candidates of one type.

    `minmax` stretches c to [0, 1] over these candidates (all equal: 0); `none` is ρ alone.
    """
    if mode == "none":
        return list(similarity)
    if mode == "minmax" and credit:
        low, span = min(credit), max(credit) - min(credit)
        credit = [(c - low) / span if span > 1e-9 else 0.0 for c in credit]
    return [alpha * rho + (1.0 - alpha) * c for rho, c in zip(similarity, credit, strict=True)]


def cover_floor(similarity: Sequence[float], cfg: RetrievalConfig) -> float:
    """The similarity from which a family counts as matching the task."""
    if cfg.family_cover_min is not None:
        return cfg.family_cover_min
    return cfg.family_cover_rel * max(similarity, default=0.0)


def cover_distinct(
    ranked: Sequence[int], families: Sequence[str], matches: Sequence[bool], slots: int
) -> list[int]:
    """First the best matching card of every family, then the rest, each part by rank."""
    first: list[int] = []
    seen: set[str] = set()
    for i in ranked:
        if matches[i] and families[i] not in seen:
            seen.add(families[i])
            first.append(i)
    return [*first, *(i for i in ranked if i not in first)][:slots]


def cover_soft(
    ranked: Sequence[int], families: Sequence[str], matches: Sequence[bool], slots: int
) -> list[int]:
    """The top picks; while two share a family and an unpicked family matches, swap the weaker."""
    picks, rest = list(ranked[:slots]), list(ranked[slots:])
    while True:
        taken = [families[i] for i in picks]
        weaker = next((i for i in reversed(picks) if families[i] in taken[: picks.index(i)]), None)
        better = next((i for i in rest if matches[i] and families[i] not in taken), None)
        if weaker is None or better is None:
            return picks
        picks[picks.index(weaker)] = better
        rest.remove(better)

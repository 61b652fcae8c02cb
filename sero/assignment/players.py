"""From candidates to the cards of a host: who plays which role of a team on a task.

Meta-Debate decides by proposals and reviews. Beside it stand the comparators of method.md §5: one
candidate in every role (uniform), a random one in each, and the best assignment where a simulated
world knows it (oracle). All of them play the same cards with the same engine, so what differs is
the assignment alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sero.assignment.config import AssignConfig, RunAssignConfig
from sero.assignment.forecast import forecast
from sero.assignment.load import load_candidates
from sero.assignment.meta_debate import assign_roles
from sero.assignment.roster import Candidate, DebateRole, Panel, Roster
from sero.assignment.rules import AssignMode, assign
from sero.assignment.scores import Floats, Suitability
from sero.backbones.base import Backbone, CallContext
from sero.errors import RosterError
from sero.inference.parts import no_backbone
from sero.inference.role_assignment import (
    NOTHING_ASKED,
    Assigner,
    PlannedAssignment,
    RoleAssignment,
)
from sero.inference.span import Span
from sero.roles.card import RoleCard
from sero.roles.pool import RolePool
from sero.seeding import rng_for
from sero.validation import did_you_mean

META_DEBATE, RANDOM, ORACLE = "meta_debate", "random", "oracle"
DECIDERS = (META_DEBATE, RANDOM, ORACLE)
"""Values of `assign.by` beside the candidates' names; no candidate may be called so."""

Truth = Callable[[str, Sequence[RoleCard], Sequence[Candidate]], Floats]
"""Each candidate's probability of success in each role on a task, as a world knows it. (I, J)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaDebate:
    """Decides anew for every task, by proposals and reviews (`assign.by=meta_debate`).

    Attributes:
        roster: candidates and evaluators; its roles are descriptions and criteria for cards of the
            same names, in the place of what those say of themselves.
        panel: who answers for each of the roster's seats.
    """

    roster: Roster
    panel: Panel = field(compare=False)  # who answers changes no plan
    cfg: AssignConfig

    async def assign(
        self, prompt: str, cards: Sequence[RoleCard], call: CallContext
    ) -> RoleAssignment:
        roster = with_roles(self.roster, cards)
        found = await assign_roles(prompt, roster, self.panel, self.cfg, call=call)
        return RoleAssignment(
            cards=as_played(cards, [roster.candidates[j] for j in found.chosen]),
            suitability=found.suitability,
            messages=found.messages,
            record=found.to_data(),
        )

    def planned(self, n_roles: int, cards: Sequence[RoleCard] | None = None) -> PlannedAssignment:
        """From nothing repeated to everything: exact where nothing can be repeated.

        By their number alone nobody knows which roles have criteria of their own, so these are
        saved in the lower bound only. A role's name stands in its prompts, so each has at least a
        proposal and a review of its own; candidates may be alike.
        """
        n_candidates, n_evaluators = len(self.roster.candidates), len(self.roster.evaluators)
        if n_candidates == 1:
            return NOTHING_ASKED
        if cards is None:
            unknown = (DebateRole(name=f"role-{i}", description="?") for i in range(n_roles))
            roster = replace(self.roster, roles=tuple(unknown))
            saved = min(sum(bool(role.criteria) for role in self.roster.roles), n_roles)
        else:
            roster, saved = with_roles(self.roster, cards), 0
        most = forecast(roster, self.cfg, host_calls=1)
        rounds = 1 + self.cfg.max_revisions
        return PlannedAssignment(
            calls=Span(most.calls - saved, most.most_calls),
            distinct=2 * n_roles,
            shown=n_roles * n_candidates * n_evaluators * rounds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniform:
    """One candidate plays every role of the team (`assign.by=NAME`).

    A validator that is kept for the repair is not of the team: it stays as written under every
    assigner.
    """

    candidate: Candidate

    async def assign(
        self, prompt: str, cards: Sequence[RoleCard], call: CallContext
    ) -> RoleAssignment:
        return _decided("uniform", cards, [self.candidate] * len(cards), call)

    def planned(self, n_roles: int, cards: Sequence[RoleCard] | None = None) -> PlannedAssignment:
        return NOTHING_ASKED


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomPlayers:
    """A random candidate for each role, drawn from (run seed, task, role) (`assign.by=random`).

    Attributes:
        reuse: each role draws by itself; else nobody plays a second role before everybody has one.
    """

    candidates: tuple[Candidate, ...]
    reuse: bool

    async def assign(
        self, prompt: str, cards: Sequence[RoleCard], call: CallContext
    ) -> RoleAssignment:
        # a stream for each role: one that leaves the team changes few of the others' players
        streams = [rng_for(call.run_seed, "assign-random", call.item, card.name) for card in cards]
        turns = [(rng.random(), card.name) for rng, card in zip(streams, cards, strict=True)]
        preferred = [rng.permutation(len(self.candidates)) for rng in streams]
        held = np.zeros(len(self.candidates), dtype=int)
        chosen = [0] * len(cards)
        for i in sorted(range(len(cards)), key=turns.__getitem__):
            free = held == held.min() if not self.reuse else held >= 0
            chosen[i] = next(int(j) for j in preferred[i] if free[j])
            held[chosen[i]] += 1
        return _decided("random", cards, [self.candidates[j] for j in chosen], call)

    def planned(self, n_roles: int, cards: Sequence[RoleCard] | None = None) -> PlannedAssignment:
        return NOTHING_ASKED


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle:
    """The best assignment by what a simulated world knows (`assign.by=oracle`): a bound, no method.

    Attributes:
        reuse: a candidate may play several roles; else it is the best sum over distinct ones.
    """

    candidates: tuple[Candidate, ...]
    truth: Truth
    reuse: bool

    async def assign(
        self, prompt: str, cards: Sequence[RoleCard], call: CallContext
    ) -> RoleAssignment:
        success = self.truth(prompt, cards, self.candidates)
        known = Suitability(means=success, variances=np.zeros_like(success))
        chosen = assign(known, AssignMode.ARGMAX if self.reuse else AssignMode.HUNGARIAN)
        return _decided(ORACLE, cards, [self.candidates[j] for j in chosen], call)

    def planned(self, n_roles: int, cards: Sequence[RoleCard] | None = None) -> PlannedAssignment:
        return NOTHING_ASKED


def roster_for_run(
    cfg: RunAssignConfig,
    pool: RolePool,
    backbones: Collection[str],
    *,
    truth_known: bool = False,
) -> Roster:
    """The roster of a run, checked against the rest of it.

    Args:
        cfg: with `by` set.
        pool: the roles that are to be played.
        backbones: names of the run's further backbones.
        truth_known: the benchmark is a world that knows what candidates are worth.

    Raises:
        RosterError: every fault of the file, together.
    """
    roster = load_candidates(cfg.roster)
    faults = choice_faults(cfg, roster, backbones)
    if cfg.by == ORACLE and not truth_known:
        faults.append(
            f"assign.by: {ORACLE} needs to know what every candidate is worth, and only the "
            "simulated benchmark=assignment_world does"
        )
    faults += [
        f"roles.{role.name}: the method has no such role; there are {', '.join(pool.names)}"
        f"{did_you_mean(role.name, pool.names)}"
        for role in roster.roles
        if role.name not in pool
    ]
    if faults:
        raise RosterError(cfg.roster, faults)
    return roster


def choice_faults(cfg: RunAssignConfig, roster: Roster, backbones: Collection[str]) -> list[str]:
    """What is wrong with `assign.by` and the seats of a roster, before anything else is read.

    Args:
        backbones: names of the run's further backbones.
    """
    names = [one.name for one in roster.candidates]
    faults = [
        f"candidates.{name}: this name is kept for assign.by={name}; choose another one"
        for name in names
        if name in DECIDERS
    ]
    if cfg.by not in (*DECIDERS, *names):
        offered = [META_DEBATE, RANDOM, *names]
        faults.append(
            f"assign.by: got '{cfg.by}'; there are {', '.join(offered)}"
            f"{did_you_mean(str(cfg.by), (*DECIDERS, *names))}"
        )
    faults += dict.fromkeys(
        no_backbone(f"'{one.name}'", one.backbone, backbones)
        for one in (*roster.candidates, *roster.evaluators)
        if one.backbone is not None and one.backbone not in backbones
    )
    return faults


def make_assigner(
    by: str,
    roster: Roster,
    cfg: AssignConfig,
    backbone: Backbone,
    others: Mapping[str, Backbone],
    truth: Truth | None = None,
) -> Assigner:
    """The assigner of `assign.by`, which `roster_for_run` has checked.

    Args:
        backbone: the run's own.
        others: the further ones, by the keys of the roster's seats.
        truth: what the benchmark's world knows of candidates, if it is one.
    """
    if by == META_DEBATE:
        panel = {seat: backbone if seat.key is None else others[seat.key] for seat in roster.seats}
        return MetaDebate(roster=roster, panel=panel, cfg=cfg)
    reuse = cfg.mode is AssignMode.ARGMAX
    if by == RANDOM:
        return RandomPlayers(candidates=roster.candidates, reuse=reuse)
    if by == ORACLE and truth is not None:
        return Oracle(candidates=roster.candidates, truth=truth, reuse=reuse)
    return Uniform(candidate=next(one for one in roster.candidates if one.name == by))


def with_roles(roster: Roster, cards: Sequence[RoleCard]) -> Roster:
    """The roster for a team: its own roles where it has them, else what the cards say."""
    own = {role.name: role for role in roster.roles}
    return replace(roster, roles=tuple(own.get(card.name) or role_of(card) for card in cards))


def role_of(card: RoleCard) -> DebateRole:
    """A card as a role of the debate: its prompt is its description."""
    return DebateRole(name=card.name, description=card.prompt_text.strip() or card.name)


def as_played(cards: Sequence[RoleCard], players: Sequence[Candidate]) -> tuple[RoleCard, ...]:
    """Each card as its player plays it.

    The player's prompt strategy comes before the card's own prompt; its temperature and its
    backbone replace the card's.
    """
    return tuple(_played_by(card, one) for card, one in zip(cards, players, strict=True))


def _played_by(card: RoleCard, player: Candidate) -> RoleCard:
    strategy = player.prompt.strip()
    before = (*strategy.split("\n"), "") if strategy else ()
    return replace(
        card,
        system_prompt=(*before, *card.system_prompt),
        temperature=player.temperature,
        backbone=player.seat.key,
    )


def _decided(
    rule: str, cards: Sequence[RoleCard], players: Sequence[Candidate], call: CallContext
) -> RoleAssignment:
    """Roles with players that nobody had to be asked about."""
    assignment = {card.name: one.name for card, one in zip(cards, players, strict=True)}
    return RoleAssignment(
        cards=as_played(cards, players),
        record={"item": call.item, "rule": rule, "assignment": assignment},
    )

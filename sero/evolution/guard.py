"""Structural guards before commitment: every violation at once, nothing raised (method.md §4.8)."""

from __future__ import annotations

from dataclasses import dataclass

from sero.encoders import TextEncoder
from sero.evolution.contracts import Terms
from sero.evolution.reasons import Code, Reason
from sero.evolution.sections import GuardConfig, PoolConfig
from sero.roles.card import RoleCard, RoleType
from sero.roles.pool import RolePool


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """The limits an edited pool must keep.

    Attributes:
        reserved: one validator is reserved for repair, so generated validators are refused.
    """

    cfg: GuardConfig
    pool: PoolConfig
    terms: Terms
    reserved: bool
    encoder: TextEncoder

    def violations(self, candidate: RolePool, current: RolePool) -> tuple[Reason, ...]:
        """Everything the candidate breaks; empty when it may go to the gate.

        With `guard.enabled=false` only P_max and the last card remain (names are unique by
        construction, cards are valid by the editor's door).
        """
        added = [card for card in candidate if card.name not in current]
        removed = [card for card in current if card.name not in candidate]
        found = self._size(candidate, grows=bool(added), shrinks=bool(removed))
        if self.cfg.enabled:
            for card in added:
                found += self._added(card, candidate, current)
            for card in removed:
                found += self._removed(card, candidate)
            found += self._terminal(candidate)
        return tuple(found)

    def _size(self, candidate: RolePool, *, grows: bool, shrinks: bool) -> list[Reason]:
        n = len(candidate)
        smallest = self.pool.p_min if self.cfg.enabled else 1
        if grows and n > self.pool.p_max:
            return [Reason(Code.POOL_FULL, f"{n} roles, at most {self.pool.p_max}")]
        if shrinks and n < smallest:
            return [Reason(Code.POOL_TOO_SMALL, f"{n} roles, at least {smallest}")]
        return []

    def _added(self, card: RoleCard, candidate: RolePool, current: RolePool) -> list[Reason]:
        found = []
        if self.reserved and card.role_type is RoleType.VALIDATOR:
            detail = "validators are not generated while one is reserved for repair"
            found.append(Reason(Code.VALIDATOR_GENERATED, detail))
        share = family_share(candidate, card.capability_family)
        restores = (
            card.capability_family in self.terms.seed_families
            and card.capability_family not in current.families
        )
        if share > self.cfg.max_family_share and not restores:
            detail = (
                f"family '{card.capability_family}' would hold {share:.0%} of the unprotected "
                f"roles, at most {self.cfg.max_family_share:.0%}"
            )
            found.append(Reason(Code.FAMILY_DOMINATES, detail))
        nearest = self._nearest(card, current)
        if nearest is not None and nearest[0] >= self.cfg.max_similarity:
            detail = (
                f"cosine {nearest[0]:.3f} to '{nearest[1]}', below {self.cfg.max_similarity} needed"
            )
            found.append(Reason(Code.NEAR_DUPLICATE, detail))
        return found

    def _nearest(self, card: RoleCard, current: RolePool) -> tuple[float, str] | None:
        """Highest cosine to an unprotected role, and that role's name."""
        own = self.encoder.encode(card.identity_text)
        near = [
            (float(self.encoder.encode(other.identity_text) @ own), other.name)
            for other in current
            if not other.protected
        ]
        return max(near, default=None, key=lambda pair: pair[0])

    def _removed(self, card: RoleCard, candidate: RolePool) -> list[Reason]:
        found = []
        family = card.capability_family
        if card.protected:
            found.append(Reason(Code.PROTECTED, f"'{card.name}' is protected"))
        if family in self.terms.seed_families and family not in candidate.families:
            found.append(
                Reason(Code.FAMILY_LOST, f"'{card.name}' is the last of family '{family}'")
            )
        n = len(candidate.of_type(RoleType.VALIDATOR))
        if card.role_type is RoleType.VALIDATOR and n < self.terms.min_validators:
            detail = f"{n} validator(s) left, at least {self.terms.min_validators}"
            found.append(Reason(Code.VALIDATORS_TOO_FEW, detail))
        return found

    def _terminal(self, candidate: RolePool) -> list[Reason]:
        n = len(candidate.of_type(RoleType.AGGREGATOR))
        if n == 1:
            return []
        return [Reason(Code.TERMINAL_COUNT, f"{n} aggregators, exactly one is needed")]


def family_share(pool: RolePool, family: str) -> float:
    """Share of a family among the unprotected roles; 0 in a pool without any."""
    free = [card for card in pool if not card.protected]
    return sum(card.capability_family == family for card in free) / len(free) if free else 0.0


def largest_family_share(pool: RolePool) -> float:
    """Share of the largest family among the unprotected roles."""
    return max((family_share(pool, family) for family in pool.families), default=0.0)

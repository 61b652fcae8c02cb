"""The simulated encoder: reads the world's texts with its key and places them as §7 says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from sero.encoders import Vector, unit
from sero.skillworld.sheet import Kind
from sero.skillworld.text import (
    read_answer,
    read_case_id,
    read_message,
    read_sheet_code,
    signs_of,
)
from sero.skillworld.world import MIN_DIM, Case, Matrix, ScenarioName, WorldSpec, world_for

TASK_NOISE = 0.25
ROLE_NOISE = 0.125
MISLEADER_NOISE = 0.2
ROLE_SHARE = 0.5
"""Weight of the speaker's own vector in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillWorldEncoderConfig:
    """`encoder=skillworld`: the encoder of one world."""

    world: int
    scenario: ScenarioName
    dim: Annotated[int, Ge(MIN_DIM)]


class SkillWorldEncoder:
    """e(.) of the simulated world: exact geometry for its own texts, a fixed direction for others.

    - a role's text: unit(U_family + ξ/8), so that harmful cards look right; a distractor
      unit(Σ U), a misleader unit(unit(Σ U) + ξ/5); router, validator and aggregator a direction
      each;
    - a case: e_x = unit(Σ_{k in Q} U_k + ξ/4); with an answer behind it,
      unit(e_x + unit(Σ U or V over the answer's facts));
    - a message: unit(e_r / 2 + Σ U right, V wrong over its facts).

    Vectors of roles and cases are remembered and read-only.
    """

    Config: ClassVar[type[SkillWorldEncoderConfig]] = SkillWorldEncoderConfig

    def __init__(self, cfg: SkillWorldEncoderConfig) -> None:
        self.dim = cfg.dim
        self.name = f"skillworld-{cfg.scenario}-world-{cfg.world}-{cfg.dim}-v1"
        self._world = world_for(WorldSpec(key=cfg.world, scenario=cfg.scenario, dim=cfg.dim))
        self._role = remembering(self._role_vector)
        self._case = remembering(self._case_vector)

    def encode(self, text: str) -> Vector:
        """Unit-norm float32 vector of shape (dim,); the zero vector for a text without content."""
        message = read_message(text)
        if message is not None:
            facts = self._facts(message.facts, self._world.case(message.case_id))
            vector = unit(ROLE_SHARE * self._role(message.sheet) + facts)
            return vector if vector.any() else self._elsewhere(text)
        case_id = read_case_id(text)
        if case_id is not None:
            vector = self._case(case_id)
            answer = read_answer(text)
            if answer:
                vector = unit(vector + unit(self._facts(answer, self._world.case(case_id))))
            return vector
        sheet = read_sheet_code(text)
        if sheet is not None and (vector := self._role(sheet)).any():
            return vector
        return self._elsewhere(text)

    def _elsewhere(self, text: str) -> Vector:
        """A fixed direction for a text the world cannot place; zero without content."""
        if not text.strip():
            return np.zeros(self.dim, dtype=np.float32)
        return unit(self._world.noise("text", text))

    def _facts(self, facts: Mapping[int, str], case: Case) -> Matrix:
        """Σ U_k over right facts plus Σ V_k over wrong ones; facts not asked for are left out."""
        space = self._world.directions
        total = np.zeros(self.dim)
        for k, sign in zip(case.required, signs_of(facts, case), strict=True):
            if sign:
                total += space.right[k] if sign > 0 else space.wrong[k]
        return total

    def _role_vector(self, sheet: str) -> Vector:
        """e_r of a method sheet; zero when the world cannot read it."""
        space, truth = self._world.directions, self._world.truth(sheet)
        match truth.kind:
            case Kind.ROUTER:
                return unit(space.router)
            case Kind.VALIDATOR:
                return unit(space.validator)
            case Kind.AGGREGATOR:
                return unit(space.aggregator)
            case Kind.DISTRACTOR:
                return unit(space.right.sum(axis=0))
            case Kind.MISLEADER:
                every = unit(space.right.sum(axis=0))
                return unit(every + MISLEADER_NOISE * self._world.noise("role", sheet))
            case Kind.UNKNOWN:
                return np.zeros(self.dim, dtype=np.float32)
            case Kind.GOOD | Kind.MEDIUM | Kind.HARMFUL:
                assert truth.family is not None
                noise = self._world.noise("role", sheet)
                return unit(space.right[truth.family] + ROLE_NOISE * noise)

    def _case_vector(self, case_id: str) -> Vector:
        """e_x of a case."""
        required = list(self._world.case(case_id).required)
        total = self._world.directions.right[required].sum(axis=0)
        return unit(total + TASK_NOISE * self._world.noise("case", case_id))


def remembering(function: Callable[[str], Vector]) -> Callable[[str], Vector]:
    """A bounded memory in front of a pure function; what it returns is read-only."""

    def read_only(name: str) -> Vector:
        vector = function(name)
        vector.setflags(write=False)
        return vector

    return lru_cache(maxsize=2048)(read_only)

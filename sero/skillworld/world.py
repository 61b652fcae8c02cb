"""The world (method.md §7): capabilities, cases and their facts, pure draws, directions.

Everything is a function of the world's key and a name, so the world has no state and any part of
it can be asked for in any order.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sero.seeding import rng_for
from sero.skillworld.sheet import Kind, Truth, read_sheet, write_sheet

ScenarioName = Literal["default", "saturated"]
Matrix = NDArray[np.float64]

N_REQUIRED = 3
"""|Q|: facts a case asks for."""
MIN_DIM = 19
"""Dimensions the largest scenario needs: 2K + 3 orthonormal directions."""
_UNIFORMS = struct.Struct(">16I")
_SCALE = 1.0 / 2**32


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What a named scenario fixes.

    Attributes:
        n_capabilities: K.
        pairs: the two capabilities every case of a group needs, one pair per group.
        seed_specialists: truth of each specialist of the seed pool, in order.
    """

    n_capabilities: int
    pairs: tuple[tuple[int, int], ...]
    seed_specialists: tuple[Truth, ...]


_SEED_SPECIALISTS = (
    Truth(kind=Kind.GOOD, family=0),
    Truth(kind=Kind.GOOD, family=1),
    Truth(kind=Kind.HARMFUL, family=2),
    Truth(kind=Kind.MEDIUM, family=3),
    Truth(kind=Kind.DISTRACTOR, family=0),
)
SCENARIOS: Mapping[ScenarioName, Scenario] = MappingProxyType(
    {
        "default": Scenario(
            n_capabilities=6,
            pairs=((0, 4), (1, 5), (2, 3)),
            seed_specialists=_SEED_SPECIALISTS,
        ),
        # Nine seed roles under P_max = 12 leave three places: a regression test for diagnostics.
        "saturated": Scenario(
            n_capabilities=8,
            pairs=((0, 4), (1, 5), (2, 6), (3, 7)),
            seed_specialists=(*_SEED_SPECIALISTS, Truth(kind=Kind.MEDIUM, family=4)),
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSpec:
    """Which world: its key, its scenario, and d, the length of its encoder's vectors."""

    key: int
    scenario: ScenarioName
    dim: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A task of the world.

    Attributes:
        id: `train-007`, `test-123`.
        group: the pair it was made from, `g04`.
        required: Q in the order of prerequisites, capability numbers.
        right: the right value of each required fact, four digits.
        wrong: the one wrong value each fact has, four digits.
    """

    id: str
    group: str
    required: tuple[int, ...]
    right: tuple[str, ...]
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Directions:
    """Orthonormal directions of the embedding space: U and V of shape (K, d), three of (d,)."""

    right: Matrix
    wrong: Matrix
    router: Matrix
    validator: Matrix
    aggregator: Matrix


class World:
    """The simulated world of one spec. Use `world_for`, which keeps what was computed.

    Methods:
        case: the case of an id such as `test-012`; remembered.
        truth: what a method sheet hides; remembered.
    """

    def __init__(self, spec: WorldSpec) -> None:
        self.spec = spec
        self.scenario = SCENARIOS[spec.scenario]
        # d stays out of the secret: the same world can be seen through encoders of any length.
        self._secret = hashlib.blake2b(
            f"skillworld/{spec.scenario}/{spec.key}".encode(), digest_size=32
        ).digest()
        self.case = lru_cache(maxsize=4096)(self._make_case)
        self.truth = lru_cache(maxsize=4096)(self._read_truth)

    @property
    def n_capabilities(self) -> int:
        return self.scenario.n_capabilities

    def draws(self, *name: str) -> tuple[float, ...]:
        """Sixteen uniforms in [0, 1), a function of the world and the name."""
        text = "\x1f".join(name).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(text, key=self._secret, digest_size=64).digest()
        return tuple([word * _SCALE for word in _UNIFORMS.unpack(digest)])

    def sheet(self, truth: Truth, *, nonce: str) -> str:
        """The method sheet that hides `truth`; another nonce gives another sheet."""
        return write_sheet(self._secret, truth, nonce=nonce.encode())

    def _read_truth(self, code: str) -> Truth:
        return read_sheet(self._secret, code)

    def _make_case(self, case_id: str) -> Case:
        pairs = self.scenario.pairs
        pair = pairs[int(case_id.rpartition("-")[2]) % len(pairs)]
        u = self.draws("case", case_id)
        others = [k for k in range(self.n_capabilities) if k not in pair]
        chosen = (*pair, others[int(u[0] * len(others))])
        required = [k for _, k in sorted(zip(u[1:4], chosen, strict=True))]
        right = [int(v * 9000) for v in u[4:7]]
        wrong = [(r + 1 + int(v * 8999)) % 9000 for r, v in zip(right, u[7:10], strict=True)]
        return Case(
            id=case_id,
            group=f"g{pair[0]}{pair[1]}",
            required=tuple(required),
            right=tuple(str(1000 + r) for r in right),
            wrong=tuple(str(1000 + w) for w in wrong),
        )

    @cached_property
    def directions(self) -> Directions:
        """A random orthonormal basis, cut to the 2K + 3 directions the world needs."""
        k, d = self.n_capabilities, self.spec.dim
        rng = rng_for(self.spec.key, "skillworld", self.spec.scenario, "directions")
        basis = np.ascontiguousarray(np.linalg.qr(rng.standard_normal((d, 2 * k + 3)))[0].T)
        return Directions(
            right=basis[:k],
            wrong=basis[k : 2 * k],
            router=basis[2 * k],
            validator=basis[2 * k + 1],
            aggregator=basis[2 * k + 2],
        )

    def noise(self, *name: str) -> Matrix:
        """ξ ~ N(0, (32/d) I_d), a function of the world and the name: its length is about √32.

        So lengths and mean cosines do not depend on d; chance overlaps shrink as 1/√d.
        """
        d = self.spec.dim
        rng = rng_for(self.spec.key, "skillworld", self.spec.scenario, "noise", *name)
        normal: Matrix = rng.standard_normal(d)
        scale: float = (32.0 / d) ** 0.5
        return normal * scale


@lru_cache(maxsize=32)
def world_for(spec: WorldSpec) -> World:
    """The world of a spec; equal specs share one, which changes speed and nothing else."""
    return World(spec)

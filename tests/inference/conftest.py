"""Cards, sections and parts of the operator, each with one line for what a test cares about."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sero.backbones.base import CallContext, Phase
from sero.benchmarks.base import Parsed
from sero.credit import CreditConfig, CreditState, FastWeights, PoolState, RoleCredit
from sero.encoders import HashingConfig, HashingEncoder
from sero.inference.execution import ExecConfig
from sero.inference.graph import DagConfig
from sero.inference.operator import InferenceConfig
from sero.inference.parts import Parts
from sero.inference.repair import RepairConfig
from sero.inference.retrieval import RetrievalConfig
from sero.inference.trace import CallKind, RoleMessage
from sero.roles.card import RoleCard, RoleType
from sero.roles.pool import RolePool

SECTIONS: dict[str, tuple[type, dict[str, Any]]] = {
    "retrieval": (
        RetrievalConfig,
        {
            "credit_mode": "raw",
            "alpha": 0.5,
            "setup_slots": 1,
            "spec_slots": 3,
            "val_slots": 1,
            "family_cover": "off",
            "family_cover_min": None,
            "family_cover_rel": 0.5,
        },
    ),
    "credit": (
        CreditConfig,
        {
            "mu": 0.1,
            "fast_alpha": 0.5,
            "fast_weights": FastWeights(similarity=0, history=0, agreement=0, validity=0, peer=0),
            "peer_ratings": False,
            "order_source": "bootstrap",
            "loo_every": 40,
            "loo_tasks": 3,
            "loo_min_pool": 4,
            "loo_inactive": "skip",
            "loo_sequential": False,
            "estimator": "loo",
            "orders": 8,
            "antithetic": True,
            "tmc_tol": 0.01,
            "causal": False,
            "new_n": 3,
            "bias_correction": False,
        },
    ),
    "exec": (ExecConfig, {"rounds": 1, "max_tokens": 64}),
    "dag": (DagConfig, {"rule": "nearest", "order": "credit", "b_out": None, "b_in": None}),
    "repair": (RepairConfig, {"enabled": True, "reserved": True, "always": False}),
}


class TableEncoder:
    """Vectors by text: the first entry whose key is a part of the text, else zero."""

    name = "table"

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._table = {key: np.asarray(value, dtype=np.float32) for key, value in table.items()}
        self.dim = len(next(iter(self._table.values())))

    def encode(self, text: str) -> np.ndarray:
        found = (vector for key, vector in self._table.items() if key in text)
        return next(found, np.zeros(self.dim, dtype=np.float32))


@pytest.fixture
def table_encoder() -> type[TableEncoder]:
    return TableEncoder


@pytest.fixture
def hashing() -> HashingEncoder:
    return HashingEncoder(HashingConfig(dim=64))


@pytest.fixture
def card() -> Callable[..., RoleCard]:
    """A card by name and type; the rest is filler."""

    def make(name: str, role_type: str = "specialist", **changes: Any) -> RoleCard:
        values: dict[str, Any] = {
            "capability_family": "f",
            "communication_protocol": "One line.",
            "system_prompt": (f"Prompt of {name}.",),
        }
        return RoleCard(name=name, role_type=RoleType(role_type), **{**values, **changes})

    return make


@pytest.fixture
def pool_of(card) -> Callable[..., RolePool]:
    """A pool from words: `r*` routers, `s*` specialists, `v*` validators, `a*` aggregators."""
    kinds = {"r": "router", "s": "specialist", "v": "validator", "a": "aggregator"}

    def make(*names: str, **changes: Any) -> RolePool:
        return RolePool(tuple(card(name, kinds[name[0]], **changes) for name in names))

    return make


@pytest.fixture
def state_of(pool_of) -> Callable[..., PoolState]:
    """A pool from words, with c_r by name."""

    def make(*names: str, ema: Mapping[str, float] | None = None, **changes: Any) -> PoolState:
        credit = CreditState().updated({k: RoleCredit(ema=v) for k, v in (ema or {}).items()})
        return PoolState(pool_of(*names, **changes), credit)

    return make


@pytest.fixture
def section() -> Callable[..., Any]:
    """One section by name, with changes."""

    def make(name: str, **changes: Any) -> Any:
        kind, values = SECTIONS[name]
        return kind(**{**values, **changes})

    return make


@pytest.fixture
def config(section) -> Callable[..., InferenceConfig]:
    """All sections; changes by section: `config(dag={"rule": "credit"})`."""

    def make(**changes: Mapping[str, Any]) -> InferenceConfig:
        return InferenceConfig(**{n: section(n, **changes.get(n, {})) for n in SECTIONS})

    return make


@pytest.fixture
def call() -> CallContext:
    return CallContext(run_seed=7, phase=Phase.PRE, episode=3, item="task_1")


@pytest.fixture
def parts(hashing) -> Callable[..., Parts]:
    """Parts around a backbone; an answer can be read if it holds `ANSWER `."""

    def parse(prompt: str, response: str) -> Parsed:
        _, found, answer = response.rpartition("ANSWER ")
        return Parsed(answer=answer.strip() if found else None, text=response)

    def make(backbone: Any, encoder: Any = hashing, **changes: Any) -> Parts:
        values = {"backbone": backbone, "encoder": encoder, "parse": parse, "max_tokens": 64}
        return Parts(**{**values, **changes})

    return make


@pytest.fixture
def message() -> Callable[..., RoleMessage]:
    """What a role said; the rest is filler."""

    def make(role: str, text: str, **changes: Any) -> RoleMessage:
        values: dict[str, Any] = {
            "kind": CallKind.MESSAGE,
            "round": 1,
            "finish_reason": "stop",
            "prompt_tokens": 1,
            "completion_tokens": 1,
            "cached": False,
            "latency_s": 0.0,
            "retries": 0,
            "trimmed": 0,
        }
        return RoleMessage(role=role, text=text, **{**values, **changes})

    return make


@pytest.fixture
def golden() -> Callable[[str], str]:
    """The text of a golden file."""
    folder = Path(__file__).resolve().parent.parent / "golden"

    def read(name: str) -> str:
        return (folder / name).read_text(encoding="utf-8")

    return read

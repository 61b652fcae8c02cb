"""From a checked configuration to the parts of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sero.backbones.base import Backbone
from sero.backbones.cached import CachedBackbone
from sero.benchmarks.base import Benchmark, Split
from sero.config import RunConfig
from sero.credit import PoolState, pool_state_to_data
from sero.encoders import (
    MemoryEncoder,
    SentenceTransformerEncoder,
    StoredEncoder,
    TextEncoder,
)
from sero.errors import CardError, UserError
from sero.evolution.contracts import aggregation
from sero.evolution.controller import Controller
from sero.evolution.observation import observation_size
from sero.inference.operator import InferenceConfig
from sero.inference.parts import Parts
from sero.methods.base import Lab, Method, Start
from sero.running.saved import load_pool_state, pool_file
from sero.seeding import seed_everything
from sero.storage import dumps

CreditSource = Literal["none", "stored", "zeros"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What a run reads from outside: data and the pool it starts from.

    Attributes:
        seed_state: the pool the run starts from, with its credit.
        credit: where that credit came from, for the manifest.
        more: what else the method reads from files.
    """

    benchmark: Benchmark
    split: Split
    seed_state: PoolState
    credit: CreditSource
    more: Any = None

    @property
    def pool_sha256(self) -> str:
        """Of the starting pool, credit included, and of what else the method reads."""
        text = dumps(pool_state_to_data(self.seed_state))
        if self.more is not None:
            text += dumps(self.more)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """Everything a run works with."""

    inputs: Inputs
    backbone: CachedBackbone
    encoder: TextEncoder
    method: Method

    @property
    def benchmark(self) -> Benchmark:
        return self.inputs.benchmark

    @property
    def split(self) -> Split:
        return self.inputs.split


def load_inputs(config: RunConfig) -> Inputs:
    """Read the data and the starting pool.

    Raises:
        UserError: either cannot be loaded.
    """
    benchmark: Benchmark = config.benchmark.build()
    return inputs_of(config, benchmark, benchmark.load())


def inputs_of(config: RunConfig, benchmark: Benchmark, split: Split) -> Inputs:
    """The inputs of a run whose data are read already.

    Raises:
        UserError: the starting pool cannot be loaded, or has no protected aggregator.
    """
    method = config.method
    if config.from_pool is not None:
        if not method.target.takes_pool:
            raise UserError(
                f"from_pool: method={method.choice} has cards of its own and takes no pool; "
                "choose a method that answers with one, such as method=static"
            )
        state = load_pool_state(
            pool_file(config.from_pool), max_prompt_chars=config.schema.max_prompt_chars
        )
        credit: CreditSource = "stored" if state.credit.roles else "zeros"
        return Inputs(benchmark=benchmark, split=split, seed_state=state, credit=credit)
    start: Start = method.target.start(method.config, benchmark)
    terminal = aggregation(start.pool)
    if method.target.takes_pool and not terminal.holds:
        raise CardError(f"the seed pool of benchmark={config.benchmark.choice}", terminal.reasons)
    return Inputs(
        benchmark=benchmark,
        split=split,
        seed_state=PoolState(start.pool),
        credit="none",
        more=start.more,
    )


def assemble(config: RunConfig, inputs: Inputs) -> Workshop:
    """Build every part, reading models but calling no backbone.

    Raises:
        UserError: a model that cannot be loaded.
    """
    seed_everything(config.seed)
    cache = Path(config.paths.cache)
    model: Backbone = config.backbone.build()  # before the encoder, which takes long to load
    encoder = _encoder(config, cache)
    backbone = CachedBackbone(model, cache / "completions.sqlite")
    lab = make_lab(config, inputs.benchmark, backbone, encoder, commit=backbone.commit)
    return Workshop(
        inputs=inputs,
        backbone=backbone,
        encoder=encoder,
        method=config.method.build(lab=lab, state=inputs.seed_state),
    )


def make_lab(
    config: RunConfig,
    benchmark: Benchmark,
    backbone: Backbone,
    encoder: TextEncoder,
    *,
    commit: Callable[[], int],
) -> Lab:
    """What the configuration lends a method, around the parts that answer and embed."""

    def make_controller() -> Controller:
        controller: Controller = config.controller.build(
            obs_dim=observation_size(encoder.dim),
            role_dim=encoder.dim,
            seed=config.seed,
            policy=config.policy,
            reinforce=config.reinforce,
            batch=config.train.batch,
        )
        return controller

    return Lab(
        parts=Parts(
            backbone=backbone,
            encoder=encoder,
            parse=benchmark.parse,
            max_tokens=config.exec.max_tokens,
        ),
        inference=InferenceConfig(
            retrieval=config.retrieval,
            credit=config.credit,
            exec=config.exec,
            dag=config.dag,
            repair=config.repair,
        ),
        benchmark=benchmark,
        make_controller=make_controller,
        commit=commit,
        strict_add=config.benchmark.config.strict_add,
        run_seed=config.seed,
        train=config.train,
        policy=config.policy,
        pool=config.pool,
        guard=config.guard,
        gate=config.gate,
        schema=config.schema,
        editor=config.editor,
        early_stop=config.early_stop,
        random=config.random,
    )


def _encoder(config: RunConfig, cache: Path) -> TextEncoder:
    """Vectors of a trained model are kept on disk; cheap pure encoders are only remembered."""
    encoder: TextEncoder = config.encoder.build()
    if isinstance(encoder, SentenceTransformerEncoder):
        encoder = StoredEncoder(encoder, cache / "vectors.sqlite")
    return MemoryEncoder(encoder)

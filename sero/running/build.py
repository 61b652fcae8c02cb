"""From a checked configuration to the parts of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from sero.assignment.players import make_assigner, roster_for_run
from sero.assignment.roster import Roster
from sero.assignment.world_benchmark import truth_of
from sero.backbones.base import Backbone
from sero.backbones.cached import CachedBackbone
from sero.backbones.further import under_its_name
from sero.benchmarks.base import Benchmark, Split
from sero.config import Component, RunConfig
from sero.config.seats import part_of
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
from sero.inference.parts import Parts, no_backbone
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
        roster: who may play the roles; None where every card stands as it is.
    """

    benchmark: Benchmark
    split: Split
    seed_state: PoolState
    credit: CreditSource
    more: Any = None
    roster: Roster | None = None

    @property
    def pool_sha256(self) -> str:
        """Of the starting pool, credit included, and of what else the method reads."""
        text = dumps(pool_state_to_data(self.seed_state))
        if self.more is not None:
            text += dumps(self.more)
        if self.roster is not None:
            text += dumps(asdict(self.roster))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """Everything a run works with.

    Attributes:
        backbone: the run's own; its `commit` makes the replies of all durable.
        others: further ones, by the names that cards know them by.
    """

    inputs: Inputs
    backbone: CachedBackbone
    encoder: TextEncoder
    method: Method
    others: Mapping[str, CachedBackbone] = field(default_factory=dict)

    @property
    def backbones(self) -> tuple[CachedBackbone, ...]:
        """All of them, the run's own first."""
        return (self.backbone, *self.others.values())

    @property
    def simulated(self) -> bool:
        """Whether an answer, or the benchmark, comes from a simulated world."""
        simulated = any(backbone.identity.simulated for backbone in self.backbones)
        return simulated or self.benchmark.simulated

    async def check_alive(self) -> None:
        """Ask the run's own backbone, and those that were ever asked, something trivial.

        Raises:
            BackboneError: one does not answer.
        """
        for backbone in self.backbones:
            if backbone is self.backbone or backbone.stats.calls:
                await backbone.check_alive()

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
        UserError: the starting pool cannot be loaded, has no protected aggregator, or names a
            backbone that the run does not have; the roster has faults.
    """
    found = _with_roster(config, _start_of(config, benchmark, split))
    there = further_backbones(config, found.roster)
    faults = [
        no_backbone(f"role '{card.name}'", card.backbone, there)
        for card in found.seed_state.pool
        if card.backbone is not None and card.backbone not in there
    ]
    if faults:
        raise CardError("the starting pool", faults)
    return found


def _with_roster(config: RunConfig, found: Inputs) -> Inputs:
    """The inputs with the candidates for the roles, where `assign.by` asks for them."""
    if config.assign.by is None:
        return found
    roster = roster_for_run(
        config.assign,
        found.seed_state.pool,
        tuple(config.backbones),
        truth_known=truth_of(found.benchmark) is not None,
    )
    return replace(found, roster=roster)


def _start_of(config: RunConfig, benchmark: Benchmark, split: Split) -> Inputs:
    """The inputs without candidates for the roles."""
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
    parts = further_backbones(config, inputs.roster)
    further = {name: under_its_name(name, part.build) for name, part in parts.items()}
    encoder = _encoder(config, cache)
    backbone = CachedBackbone(model, cache / "completions.sqlite")
    others = {name: backbone.beside(one) for name, one in further.items()}
    lab = make_lab(config, inputs, backbone, encoder, others=others, commit=backbone.commit)
    return Workshop(
        inputs=inputs,
        backbone=backbone,
        others=others,
        encoder=encoder,
        method=config.method.build(lab=lab, state=inputs.seed_state),
    )


def further_backbones(config: RunConfig, roster: Roster | None) -> dict[str, Component]:
    """Every backbone but the run's own, by the names that cards know them by.

    Raises:
        UserError: a candidate has request options, and its backbone takes none.
    """
    named: dict[str | None, Component] = {None: config.backbone}
    named.update(config.backbones)
    seats = [] if roster is None else [seat for seat in roster.seats if seat.options]
    with_options = {str(seat.key): part_of(seat, named) for seat in seats}
    return {**config.backbones, **with_options}


def make_lab(
    config: RunConfig,
    inputs: Inputs,
    backbone: Backbone,
    encoder: TextEncoder,
    *,
    others: Mapping[str, Backbone],
    commit: Callable[[], int],
) -> Lab:
    """What the configuration lends a method, around the parts that answer and embed.

    Args:
        others: those of `further_backbones`.
    """
    benchmark, by = inputs.benchmark, config.assign.by
    assigner = None
    if by is not None and inputs.roster is not None:
        assigner = make_assigner(
            by, inputs.roster, config.assign, backbone, others, truth_of(benchmark)
        )

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
            backbones=others,
        ),
        inference=InferenceConfig(
            retrieval=config.retrieval,
            credit=config.credit,
            exec=config.exec,
            dag=config.dag,
            repair=config.repair,
            assigner=assigner,
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

"""A toy to evolve: sums of two numbers, roles whose skill is written on their card, and fakes.

Everything is reached through the fixture `toy`, since test modules cannot import a conftest.
"""

import asyncio
import hashlib
import io
import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import pytest
import torch

from sero.backbones.base import Phase
from sero.backbones.scripted import ScriptedBackbone
from sero.benchmarks.base import Parsed, Score, Split, Task
from sero.credit import CreditConfig, CreditState, FastWeights, PoolState
from sero.encoders import HashingConfig, HashingEncoder, MemoryEncoder
from sero.evolution.contracts import Terms
from sero.evolution.controller import Decision, MlpController, MlpControllerConfig
from sero.evolution.editor import CardEditor
from sero.evolution.gate import ScoreGate
from sero.evolution.guard import Guard
from sero.evolution.observation import observation_size
from sero.evolution.rolling import Ledger, Roller, Scored
from sero.evolution.sections import (
    EarlyStopConfig,
    EditorConfig,
    GateConfig,
    GuardConfig,
    PolicyConfig,
    PoolConfig,
    ReinforceConfig,
    SchemaConfig,
    TrainConfig,
)
from sero.evolution.trainer import Trainer
from sero.inference.execution import ExecConfig
from sero.inference.graph import DagConfig
from sero.inference.operator import InferenceConfig
from sero.inference.parts import Parts
from sero.inference.repair import RepairConfig
from sero.inference.retrieval import RetrievalConfig
from sero.inference.trace import Rollout
from sero.roles.card import RoleCard, RoleType
from sero.roles.pool import RolePool
from sero.skillworld import SkillWorldBackbone, SkillWorldBenchmark, SkillWorldEncoder
from sero.skillworld.cards import named_card, team_with
from sero.skillworld.sheet import Kind, Truth
from sero.skillworld.world import WorldSpec, world_for

SEED = 12
DIM = 32
FORMAT = "ANSWER: <number>"
ANSWER = re.compile(r"ANSWER: (-?[0-9]{1,9})")

CREDIT = CreditConfig(
    mu=0.1,
    fast_alpha=0.5,
    fast_weights=FastWeights(similarity=0, history=0, agreement=0, validity=0, peer=0),
    peer_ratings=False,
    order_source="bootstrap",
    loo_every=2,
    loo_tasks=1,
    loo_min_pool=4,
    loo_inactive="skip",
    loo_sequential=False,
    estimator="loo",
    orders=8,
    antithetic=True,
    tmc_tol=0.01,
    causal=False,
    new_n=3,
    bias_correction=False,
)
INFERENCE = InferenceConfig(
    retrieval=RetrievalConfig(
        credit_mode="raw",
        alpha=0.5,
        setup_slots=1,
        spec_slots=2,
        val_slots=0,
        family_cover="off",
        family_cover_min=None,
        family_cover_rel=0.5,
    ),
    credit=CREDIT,
    exec=ExecConfig(rounds=1, max_tokens=64),
    dag=DagConfig(rule="nearest", order="credit", b_out=None, b_in=None),
    repair=RepairConfig(enabled=True, reserved=True, always=False),
)
POLICY = PolicyConfig(
    hidden=16,
    op_embedding=4,
    bonus=0.1,
    credit_scale=10.0,
    credit_features=True,
    add_target="none",
    operations=("add", "remove", "noop"),
)
REINFORCE = ReinforceConfig(
    lr=1e-2, beta=0.05, baseline="published", baseline_decay=0.9, clip=1.0, reward="delta"
)
TRAIN = TrainConfig(warmup_epochs=1, main_epochs=1, batch=3, checkpoint_every=3)
POOL = PoolConfig(p_min=4, p_max=8)
GUARD = GuardConfig(enabled=True, min_validators=1, max_family_share=0.6, max_similarity=0.92)
GATE = GateConfig(kind="published", warmup="nonharmful", tasks=1, repeats=1)
EDITOR = EditorConfig(
    temperature=0.7,
    attempts=2,
    max_tokens=256,
    excerpt_chars=800,
    anchor_types="specialists",
    leak_check=True,
    recent=3,
)
EARLY_STOP = EarlyStopConfig(
    enabled=False, window=24, threshold=0.85, min_episodes=24, one_pass=False
)


def card(name, role_type=RoleType.SPECIALIST, family=None, *, lines=None, **fields):
    """A card; its words are its own unless given, so that no two are near-duplicates."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    own = tuple(" ".join(digest[i : i + 4] for i in range(8 * j, 8 * j + 8, 2)) for j in range(4))
    return RoleCard(
        name=name,
        role_type=RoleType(role_type),
        capability_family=family or name,
        communication_protocol=fields.pop("communication_protocol", FORMAT),
        system_prompt=lines or own,
        **fields,
    )


def skilled(name, skill, family, **fields):
    """A specialist of the toy: `exact` adds, `near` is one off, `wrong` is far off."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    words = " ".join(digest[i : i + 5] for i in range(0, 40, 5))
    return card(name, family=family, lines=(f"Skill: {skill}.", words), **fields)


def seed_pool():
    return RolePool(
        (
            card("router", "router", "planning", lines=("Skill: plan.", "Say how to begin.")),
            skilled("adder", "near", "adding"),
            skilled("guesser", "wrong", "guessing"),
            skilled("adder-2", "wrong", "adding"),
            card("checker", "validator", "checking", lines=("Skill: check.", "Look for slips.")),
            card(
                "scribe",
                "aggregator",
                "answering",
                lines=("Skill: vote.", "Take the answer most roles give."),
                protected=True,
            ),
        )
    )


def tasks(n=2):
    return tuple(
        Task(
            id=f"sum-{i}",
            group="even" if i % 2 == 0 else "odd",
            prompt=f"What is {112 + 31 * i} plus {205 + 17 * i}? Give the total to Nadia.",
            reference=MappingProxyType({"total": 317 + 48 * i}),
        )
        for i in range(n)
    )


class ToyBenchmark:
    """Sums: 1 for the total, 0.5 for one off, 0 for anything else."""

    name = "toy"
    scorer = "distance"
    simulated = False
    scores_slowly = False
    output_protocol = FORMAT

    def __init__(self, n_train=2, n_heldout=3):
        self._split = Split(
            train=tasks(n_train),
            heldout=tasks(n_train + n_heldout)[n_train:],
            fingerprint="0" * 64,
        )

    def load(self):
        return self._split

    def seed_pool(self):
        return seed_pool()

    def known_texts(self):
        return tuple(c.prompt_text for c in seed_pool())

    def parse(self, prompt, response):
        found = ANSWER.findall(response)
        answer = found[-1] if found else None
        return Parsed(answer=answer, text=response, reason="" if found else "no answer line")

    def score(self, parsed, task):
        if parsed.answer is None:
            return Score(value=0.0, reason="unread")
        off = abs(int(parsed.answer) - task.reference["total"])
        value = {0: 1.0, 1: 0.5}.get(off, 0.0)
        return Score(value=value, reason=f"{off} off", metrics={"off": float(off)})


def card_json(name, **changes):
    """An Add reply."""
    reply = {
        "name": name,
        "role_type": "specialist",
        "capability_family": "adding",
        "communication_protocol": FORMAT,
        "system_prompt": ["Skill: exact.", f"Work column by column, {name}."],
    }
    return json.dumps({**reply, **changes})


def fresh_card(digest, skill):
    words = [digest[i : i + 5] for i in range(8, 48, 5)]
    return card_json(
        f"helper-{digest[:6]}",
        capability_family="carrying",
        system_prompt=[f"Skill: {skill}.", *words],
    )


def written_card(request):
    """Cards of every kind, by the request's own hash: good, bad, and unusable."""
    text = json.dumps([[m.content for m in request.messages], request.sample_index])
    digest = hashlib.sha256(text.encode()).hexdigest()
    first = re.search(r"What is ([0-9]+)", request.messages[-1].content)[1]
    kinds = (
        lambda: fresh_card(digest, "exact"),
        lambda: fresh_card(digest, "exact"),
        lambda: fresh_card(digest, "near"),
        lambda: fresh_card(digest, "wrong"),
        lambda: card_json(f"nosy-{digest[:6]}", system_prompt=[f"The first number is {first}."]),
        lambda: card_json("adder"),
        lambda: "I would rather not.",
    )
    return kinds[int(digest[:8], 16) % len(kinds)]()


def toy_reply(request):
    """The toy model: a pure function of the request."""
    if request.role == "editor":
        return written_card(request)
    system, user = (message.content for message in request.messages)
    a, b = map(int, re.search(r"What is ([0-9]+) plus ([0-9]+)", user).groups())
    if "Check the draft answer" in user:
        draft = user.split("### Draft answer\n")[-1].split("###")[0]
        return "VERDICT: ok" if ANSWER.search(draft) else f"VERDICT: revise\nANSWER: {a + b}"
    skill = re.search(r"Skill: ([a-z]+)", system)[1]
    match skill:
        case "exact":
            return f"The columns give the total. ANSWER: {a + b}"
        case "near":
            return f"About that much. ANSWER: {a + b + 1}"
        case "wrong":
            return f"It feels like a lot. ANSWER: {a + b + 50}"
        case "vote":
            votes = Counter(map(int, ANSWER.findall(user)))
            most = [total for total, n in votes.items() if n == max(votes.values())]
            return f"ANSWER: {min(most)}" if most else "I cannot say."
        case _:
            return "Add the ones first, then the tens."


class RememberingEncoder(HashingEncoder):
    """Encodes each text once, for the speed of long test runs."""

    def __init__(self, dim=DIM):
        super().__init__(HashingConfig(dim=dim))
        self._known = {}

    def encode(self, text):
        if text not in self._known:
            self._known[text] = super().encode(text)
        return self._known[text]


class TableEncoder:
    """Vectors by the text's first line; unknown texts share one direction of their own."""

    name = "table"

    def __init__(self, table, dim):
        self._table, self.dim = table, dim

    def encode(self, text):
        import numpy as np

        vector = np.zeros(self.dim, dtype=np.float32)
        vector[-1] = 1.0
        return np.array(self._table.get(text.split("\n")[0], vector), dtype=np.float32)


def scored(value, *, team=("adder", "scribe"), validator=None, final_fast=None, answer="ANSWER: 1"):
    """A scored rollout without calls."""
    rollout = Rollout(
        team=tuple(team),
        order=tuple(team[:-1]),
        edges=(),
        levels=(0,) * (len(team) - 1),
        similarity={},
        fast={},
        final_fast=final_fast or {},
        messages=(),
        answer=answer,
        validator=validator,
    )
    return Scored(
        rollout=rollout,
        parsed=Parsed(answer=answer or None, text=answer),
        score=Score(value=value, reason=""),
    )


@dataclass
class FakeRoll:
    """Stands for a Roller: `rule(task, state, phase, repeat)` gives a score or a Scored."""

    rule: object
    asked: list = field(default_factory=list)

    async def __call__(self, task, state, phase, episode, *, repeat=0):
        self.asked.append((task.id, phase, episode, repeat, state))
        outcome = self.rule(task, state, phase, repeat)
        return outcome if isinstance(outcome, Scored) else scored(outcome)


class FixedController:
    """Takes the actions it is given, one per episode, and keeps what it is told."""

    name = "fixed"

    def __init__(self, actions):
        self._actions = list(actions)
        self.views = []
        self.rewards = []
        self.updates = 0

    due = False
    pending = 0

    def act(self, view, rng):
        self.views.append(view)
        action = self._actions[len(self.views) - 1]
        return Decision(action=action, log_prob=0.0, entropy=0.5, op_probs=(1.0, 0.0, 0.0))

    def record(self, view, decision, reward):
        self.rewards.append(reward)

    def update(self):
        self.updates += 1
        return {}

    def state(self):
        return {"views": len(self.views)}

    def restore(self, state):
        pass


@dataclass
class MemoryRecorder:
    """Keeps what a run writes; a checkpoint is bytes, with the lengths of the journals."""

    episodes: list = field(default_factory=list)
    metrics: list = field(default_factory=list)
    traces: list = field(default_factory=list)
    pools: dict = field(default_factory=dict)
    checkpoints: list = field(default_factory=list)
    after_episode: object = None

    def episode(self, record, metrics, traces, committed):
        self.episodes.append(json.loads(json.dumps(record)))
        self.metrics.append(dict(metrics))
        self.traces.extend(traces)
        if committed is not None:
            self.pools[record["episode"]] = committed
        if self.after_episode is not None:
            self.after_episode(record["episode"])

    def last_update(self, metrics, episode):
        """Kept apart from the episodes' metrics."""
        self.flushed = (episode, dict(metrics))

    def checkpoint(self, progress, controller):
        body = {
            "progress": progress,
            "controller": controller,
            "lengths": [len(self.episodes), len(self.metrics), len(self.traces)],
        }
        raw = io.BytesIO()
        torch.save(body, raw)
        self.checkpoints.append(raw.getvalue())

    def resumed(self, which=-1):
        """The checkpoint read back, and a recorder cut to it as a new process would find it."""
        body = torch.load(io.BytesIO(self.checkpoints[which]), weights_only=True)
        episodes, metrics, traces = body["lengths"]
        kept = MemoryRecorder(
            episodes=self.episodes[:episodes],
            metrics=self.metrics[:metrics],
            traces=self.traces[:traces],
            pools={k: v for k, v in self.pools.items() if k <= episodes},
        )
        return body, kept


class Interruptions:
    """Replies like the toy until the k-th call (from 1), where `strike(request)` happens."""

    def __init__(self, at=None, strike=None):
        self.at, self.strike, self.calls = at, strike, 0

    async def __call__(self, request):
        self.calls += 1
        if self.calls == self.at:
            await self.strike(request)
        return toy_reply(request)


def parts(backbone=None, encoder=None, benchmark=None):
    return Parts(
        backbone=backbone or ScriptedBackbone(toy_reply),
        encoder=encoder or RememberingEncoder(),
        parse=(benchmark or ToyBenchmark()).parse,
        max_tokens=64,
    )


def roller(backbone=None, *, inference=INFERENCE, ledger=None, commit=None, encoder=None):
    benchmark = ToyBenchmark()
    return Roller(
        parts=parts(backbone, encoder, benchmark),
        inference=inference,
        benchmark=benchmark,
        run_seed=SEED,
        commit=commit or (lambda: None),
        ledger=ledger or Ledger(),
    )


def terms(**changes):
    pool = seed_pool()
    own = {"seed_families": pool.families, "min_validators": 1, "output_protocol": FORMAT}
    return Terms(**{**own, **changes})


def guard(*, cfg=GUARD, pool=POOL, reserved=True, encoder=None, own_terms=None):
    return Guard(
        cfg=cfg,
        pool=pool,
        terms=own_terms or terms(),
        reserved=reserved,
        encoder=encoder or RememberingEncoder(),
    )


def editor(backbone, *, cfg=EDITOR, ledger=None, commit=None, known_texts=()):
    return CardEditor(
        backbone=backbone,
        cfg=cfg,
        max_prompt_chars=400,
        known_texts=known_texts,
        run_seed=SEED,
        commit=commit or (lambda: None),
        ledger=ledger or Ledger(),
    )


def controller(*, batch=TRAIN.batch, policy=POLICY, seed=SEED):
    return MlpController(
        MlpControllerConfig(name="mlp"),
        obs_dim=observation_size(DIM),
        role_dim=DIM,
        seed=seed,
        policy=policy,
        reinforce=REINFORCE,
        batch=batch,
    )


def trainer(backbone=None, *, n_train=2, train=TRAIN, credit=CREDIT, encoder=None, **changes):
    """The whole of Algorithm 2 on the toy; keyword arguments replace parts of the Trainer."""
    backbone = backbone or ScriptedBackbone(toy_reply)
    encoder = encoder or RememberingEncoder()
    ledger = Ledger()
    inference = replace(INFERENCE, credit=credit)
    own = {
        "tasks": tasks(n_train),
        "roll": roller(backbone, inference=inference, ledger=ledger, encoder=encoder),
        "controller": changes.pop("controller", None) or controller(batch=train.batch),
        "editor": editor(backbone, ledger=ledger, known_texts=ToyBenchmark().known_texts()),
        "guard": guard(encoder=encoder),
        "gate": ScoreGate(cfg=GATE, strict_add=False, train=tasks(n_train), run_seed=SEED),
        "train": train,
        "policy": POLICY,
        "credit": credit,
        "early_stop": EARLY_STOP,
        "run_seed": SEED,
        "check_budget": lambda cost: None,
    }
    return Trainer(**{**own, **changes})


def state(pool=None, credits=None):
    return PoolState(pool or seed_pool(), CreditState(MappingProxyType(dict(credits or {}))))


class Toy:
    """Everything above under one name."""

    SEED, DIM, FORMAT = SEED, DIM, FORMAT
    CREDIT, INFERENCE, POLICY, REINFORCE, TRAIN = CREDIT, INFERENCE, POLICY, REINFORCE, TRAIN
    POOL, GUARD, GATE, EDITOR, EARLY_STOP = POOL, GUARD, GATE, EDITOR, EARLY_STOP
    SCHEMA = SchemaConfig(max_prompt_chars=400)
    PRE, POST, LOO, GATING = Phase.PRE, Phase.POST, Phase.LOO, Phase.GATE
    Benchmark, Encoder, Table = ToyBenchmark, RememberingEncoder, TableEncoder
    Roll, Recorder, Fixed, Interruptions = FakeRoll, MemoryRecorder, FixedController, Interruptions
    card = staticmethod(card)
    skilled = staticmethod(skilled)
    seed_pool = staticmethod(seed_pool)
    tasks = staticmethod(tasks)
    state = staticmethod(state)
    scored = staticmethod(scored)
    reply = staticmethod(toy_reply)
    card_json = staticmethod(card_json)
    parts = staticmethod(parts)
    roller = staticmethod(roller)
    terms = staticmethod(terms)
    guard = staticmethod(guard)
    editor = staticmethod(editor)
    controller = staticmethod(controller)
    trainer = staticmethod(trainer)

    @staticmethod
    def run(work):
        """Drive a coroutine to its end on a loop of its own."""
        return asyncio.run(work)


class Simulated:
    """SkillWorld (d = 32) in the configuration of the verified outcomes (method.md §8)."""

    def __init__(self, key, *, credit_mode="raw", credit=None):
        self.spec = WorldSpec(key=key, scenario="default", dim=32)
        self.credit = replace(CREDIT, loo_tasks=3, loo_inactive="zero", new_n=0)
        if credit is not None:
            self.credit = credit
        common = {"name": "skillworld", "world": key, "scenario": "default", "dim": 32}
        self.benchmark = SkillWorldBenchmark(
            SkillWorldBenchmark.Config(
                **common,
                pool="seed",
                score="partial",
                noise=0.0,
                n_train=30,
                n_heldout=200,
                strict_add=False,
            )
        )
        backbone = SkillWorldBackbone.Config(**common, noise=0.0, editor="benign")
        encoder = SkillWorldEncoder.Config(world=key, scenario="default", dim=32)
        self.parts = Parts(
            backbone=SkillWorldBackbone(backbone),
            encoder=MemoryEncoder(SkillWorldEncoder(encoder)),
            parse=self.benchmark.parse,
            max_tokens=4096,
        )
        self.inference = InferenceConfig(
            retrieval=replace(INFERENCE.retrieval, credit_mode=credit_mode, spec_slots=3),
            credit=self.credit,
            exec=ExecConfig(rounds=1, max_tokens=4096),
            dag=INFERENCE.dag,
            repair=RepairConfig(enabled=True, reserved=True, always=True),
        )
        self.split = self.benchmark.load()

    def card(self, name, kind, family):
        """A specialist's card by its truth."""
        truth = Truth(kind=Kind(kind), family=family)
        return named_card(world_for(self.spec), name, truth, noise=0.0)

    def team_with(self, *specialists):
        return PoolState(team_with(world_for(self.spec), specialists, noise=0.0))

    def roller(self, backbone=None, *, commit=lambda: 0, ledger=None):
        return Roller(
            parts=replace(self.parts, backbone=backbone or self.parts.backbone),
            inference=self.inference,
            benchmark=self.benchmark,
            run_seed=self.spec.key,
            commit=commit,
            ledger=ledger or Ledger(),
        )

    async def mean_score(self, state, tasks, **how):
        """The mean score of a state over tasks; nothing is kept of the rollouts."""
        roll = self.roller()
        values = []
        for task in tasks:
            values.append((await roll(task, state, Phase.LOO, 1, **how)).value)
            roll.ledger.take()
        return sum(values) / len(values)


@pytest.fixture(scope="session")
def toy():
    return Toy


@pytest.fixture(scope="session")
def simulated():
    return Simulated

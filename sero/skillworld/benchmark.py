"""The simulated benchmark: cases of three facts with exact gold."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Gt, Le

from sero.benchmarks.base import Parsed, Score, Split, Task
from sero.errors import DataError
from sero.roles.pool import RolePool
from sero.skillworld.cards import seed_pool
from sero.skillworld.oracle import all_good_pool
from sero.skillworld.text import (
    case_prompt,
    output_protocol,
    read_answer,
    read_asked,
    read_facts,
)
from sero.skillworld.world import MIN_DIM, ScenarioName, WorldSpec, world_for
from sero.storage import dumps


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillWorldBenchmarkConfig:
    """`benchmark=skillworld`.

    Attributes:
        world: the world's key.
        scenario: what the world holds.
        score: `partial` is the share of facts right, `exact` 1 for all of them and else 0.
        noise: temperature of the seed pool's specialists.
        dim: length of the encoder's vectors; no task depends on it.
        n_train, n_heldout: tasks of the two splits.
        strict_add: Add must improve the score during warm-up too.
        pool: what a run starts from: the seed pool, or `all_good`, the ceiling's pool.
    """

    name: str
    world: int
    scenario: ScenarioName
    score: Literal["partial", "exact"]
    noise: Annotated[float, Ge(0), Le(1)]
    dim: Annotated[int, Ge(MIN_DIM)]
    n_train: Annotated[int, Gt(0)]
    n_heldout: Annotated[int, Gt(0)]
    strict_add: bool
    pool: Literal["seed", "all_good"]


class SkillWorldBenchmark:
    """Cases whose facts are values of the world, so that only the gold tells right from wrong."""

    Config: ClassVar[type[SkillWorldBenchmarkConfig]] = SkillWorldBenchmarkConfig
    simulated: bool = True
    scores_slowly: bool = False

    def __init__(self, cfg: SkillWorldBenchmarkConfig) -> None:
        self.cfg = cfg
        self.name = cfg.name
        self.scorer: str = cfg.score
        self.strict_add = cfg.strict_add
        self.output_protocol = output_protocol()
        self._spec = WorldSpec(key=cfg.world, scenario=cfg.scenario, dim=cfg.dim)
        self._world = world_for(self._spec)

    def load(self) -> Split:
        """The two splits; groups take turns. Nothing is read from disk."""
        train = tuple(self._task(f"train-{i:03d}") for i in range(self.cfg.n_train))
        heldout = tuple(self._task(f"test-{i:03d}") for i in range(self.cfg.n_heldout))
        digest = hashlib.sha256()
        for task in (*train, *heldout):
            record = [task.id, task.group, task.prompt, dict(task.reference)]
            digest.update(dumps(record).encode() + b"\n")
        return Split(train=train, heldout=heldout, fingerprint=digest.hexdigest())

    def seed_pool(self) -> RolePool:
        """The pool runs start from; one good role per family and more where it is `all_good`."""
        if self.cfg.pool == "all_good":
            return all_good_pool(self._spec, noise=self.cfg.noise)
        return seed_pool(self._world, noise=self.cfg.noise)

    def known_texts(self) -> tuple[str, ...]:
        """The seed cards and a prompt without its id."""
        cards = [
            text
            for card in self.seed_pool()
            for text in (card.name, card.identity_text, card.communication_protocol)
        ]
        prompt = case_prompt(self._world.case("train-0"))
        return (*cards, prompt.replace("train-0", ""), self.output_protocol)

    def parse(self, prompt: str, response: str) -> Parsed:
        """The last `Answer:` line as `c4=4821; c0=3310; c2=9999`, in the order asked.

        There is an answer only if every fact the prompt asks for has a number; facts it does not
        ask for are passed over.
        """
        asked = read_asked(prompt)
        if not asked:
            return Parsed(answer=None, text=response, reason="the prompt asks for no fact")
        facts = read_answer(response)
        if facts is None:
            return Parsed(answer=None, text=response, reason="no line 'Answer:'")
        missing = [f"c{k}" for k in asked if k not in facts]
        if missing:
            reason = f"the answer line gives no number for {', '.join(missing)}"
            return Parsed(answer=None, text=response, reason=reason)
        return Parsed(answer="; ".join(f"c{k}={facts[k]}" for k in asked), text=response)

    def score(self, parsed: Parsed, task: Task) -> Score:
        """Share of the task's facts right (`partial`), or 1 for all of them (`exact`)."""
        if parsed.answer is None:
            return Score(value=0.0, reason=parsed.reason or "no answer")
        gold: dict[str, str] = task.reference["facts"]
        facts = read_facts(parsed.answer)
        right = sum(facts.get(int(name[1:])) == value for name, value in gold.items())
        share, exact = right / len(gold), float(right == len(gold))
        reason = f"{right} of {len(gold)} facts right"
        if self.cfg.score == "exact":
            return Score(value=exact, reason=reason, metrics={"partial": share})
        return Score(value=share, reason=reason, metrics={"exact": exact})

    def task_from_data(self, raw: Mapping[str, Any], where: str = "item") -> Task:
        """The simulated world has no published items."""
        raise DataError(f"{where}: {self.name} is simulated; it has no items from outside to score")

    def _task(self, case_id: str) -> Task:
        case = self._world.case(case_id)
        gold = {f"c{k}": value for k, value in zip(case.required, case.right, strict=True)}
        return Task(
            id=case.id, group=case.group, prompt=case_prompt(case), reference={"facts": gold}
        )

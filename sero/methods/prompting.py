"""One agent, one prompt: chain of thought, and self-consistency over samples of it.

Both send p^SA verbatim as the system message and the task as the user's (method.md §4.9).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

from annotated_types import Ge, Gt, Le, MinLen

from sero.backbones.base import CallContext
from sero.backbones.settling import settled
from sero.benchmarks.base import Benchmark, Parsed
from sero.credit import PoolState
from sero.errors import CardError
from sero.inference.parts import speak, together
from sero.inference.trace import CallKind, RoleMessage, Rollout
from sero.methods.base import Lab, Start
from sero.methods.frozen import Frozen
from sero.roles.card import RoleCard, RoleType
from sero.roles.load import load_yaml
from sero.roles.pool import RolePool

AGENT = "single-agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainOfThoughtConfig:
    """`method=cot`.

    Attributes:
        prompt: YAML file whose `system` is p^SA, `package:<benchmark>/single_agent.yaml` or a path.
        temperature: of the one call.
    """

    name: str
    prompt: Annotated[str, MinLen(1)]
    temperature: Annotated[float, Ge(0), Le(1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfConsistencyConfig:
    """`method=sc`.

    Attributes:
        prompt: as for `cot`.
        temperature: of every sample; above 0, or all samples would be one.
        samples: k, independent samples of the one prompt.
    """

    name: str
    prompt: Annotated[str, MinLen(1)]
    temperature: Annotated[float, Gt(0), Le(1)]
    samples: Annotated[int, Gt(0)]


class ChainOfThought(Frozen):
    """CoT: one call."""

    Config: ClassVar[type[ChainOfThoughtConfig]] = ChainOfThoughtConfig

    def __init__(self, cfg: ChainOfThoughtConfig, *, lab: Lab, state: PoolState) -> None:
        super().__init__(cfg.name, lab=lab, state=state)

    @classmethod
    def start(cls, cfg: ChainOfThoughtConfig, benchmark: Benchmark) -> Start:
        return Start(pool=single_agent(cfg.prompt, cfg.temperature, benchmark))

    @property
    def calls_per_task(self) -> int:
        return 1

    async def answer(self, prompt: str, call: CallContext) -> Rollout:
        ask = partial(
            speak,
            self._state.pool[AGENT],
            prompt,
            (),
            self._lab.parts,
            call=call,
            kind=CallKind.SAMPLE,
            bare=True,
        )
        said = await settled(ask, self._lab.commit)
        return monologue((said,), said.text)


class SelfConsistency(Frozen):
    """SC@k: k samples, and the answer most of them agree on.

    Source: Wang et al. (2022), arXiv:2203.11171.
    """

    Config: ClassVar[type[SelfConsistencyConfig]] = SelfConsistencyConfig

    def __init__(self, cfg: SelfConsistencyConfig, *, lab: Lab, state: PoolState) -> None:
        super().__init__(cfg.name, lab=lab, state=state)
        self._samples = cfg.samples

    @classmethod
    def start(cls, cfg: SelfConsistencyConfig, benchmark: Benchmark) -> Start:
        return Start(pool=single_agent(cfg.prompt, cfg.temperature, benchmark))

    @property
    def calls_per_task(self) -> int:
        return self._samples

    async def answer(self, prompt: str, call: CallContext) -> Rollout:
        agent, lab = self._state.pool[AGENT], self._lab

        async def sample() -> list[RoleMessage]:
            return await together(
                speak(
                    agent,
                    prompt,
                    (),
                    lab.parts,
                    call=call,
                    kind=CallKind.SAMPLE,
                    bare=True,
                    sample_index=sample_of(k, call),
                )
                for k in range(self._samples)
            )

        said = await settled(sample, lab.commit)
        chosen = majority([lab.parts.parse(prompt, message.text) for message in said])
        return monologue(tuple(said), said[chosen].text)


def single_agent(file: str, temperature: float, benchmark: Benchmark) -> RolePool:
    """The pool of a method without roles: one agent, whose prompt is p^SA.

    Raises:
        CardError: no such file, or no text `system` in it.
    """
    raw = load_yaml(file)
    system = raw.get("system") if isinstance(raw, dict) else None
    if not isinstance(system, str) or not system.strip():
        raise CardError(file, ["system: missing; the prompt of the single agent is wanted"])
    agent = RoleCard(
        name=AGENT,
        role_type=RoleType.AGGREGATOR,
        protected=True,
        capability_family=AGENT,
        communication_protocol=benchmark.output_protocol,
        system_prompt=tuple(system.split("\n")),
        temperature=temperature,
    )
    return RolePool((agent,))


def sample_of(k: int, call: CallContext) -> tuple[str | int, ...]:
    """What names the k-th of several samples of one prompt: the run's seed and k."""
    return (call.run_seed, k)


def majority(parsed: Sequence[Parsed]) -> int:
    """Index of the sample that is answered with: the earliest one of the most frequent answer.

    Samples without a readable answer do not vote; a tie goes to the answer that came first; where
    none can be read it is the first sample.
    """
    votes = Counter(p.answer for p in parsed if p.answer is not None)
    if not votes:
        return 0
    most = max(votes.values())
    return next(i for i, p in enumerate(parsed) if p.answer is not None and votes[p.answer] == most)


def monologue(messages: tuple[RoleMessage, ...], answer: str) -> Rollout:
    """The rollout of one agent: no team, no order, no edges."""
    return Rollout(
        team=(AGENT,),
        order=(),
        edges=(),
        levels=(),
        similarity={},
        fast={},
        final_fast={},
        messages=messages,
        answer=answer,
    )

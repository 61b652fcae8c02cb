"""Debates without a judge: agents that hear each other's last answers and answer again.

LLM debate has N identical agents and a vote (Du et al., 2024, arXiv:2305.14325). DMAD fixes each
agent to a method of reasoning, and a terminal role puts their solutions together (Liu et al.,
2025). Nobody hears anybody in the first round; programs that agents write are text, and nothing
runs them.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar

from annotated_types import Ge, Gt, Le, MinLen

from sero.backbones.base import CallContext
from sero.backbones.settling import settled
from sero.benchmarks.base import Benchmark
from sero.credit import PoolState
from sero.inference.layout import Upstream
from sero.inference.parts import speak, together
from sero.inference.repair import aggregate
from sero.inference.trace import CallKind, RoleMessage, Rollout
from sero.methods.base import Lab, Start
from sero.methods.debate_file import Cast, load_cast, load_turns
from sero.methods.frozen import Frozen
from sero.methods.prompting import AGENT, majority, sample_of, single_agent
from sero.roles.card import RoleCard
from sero.roles.pool import RolePool

Turn = Callable[[int, int, Sequence[Upstream], str | None], Awaitable[RoleMessage]]
"""How speaker k speaks in a round, given the others' last messages and its own, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DebateConfig:
    """`method=debate`.

    Attributes:
        prompt: YAML file whose `system` is p^SA, the prompt of every agent.
        debate: YAML file with the text `turns.revise`.
        temperature: of every agent; above 0, or all first answers would be one.
        agents: N, identical agents.
        rounds: R, rounds of answers; the first of them hears nobody, as in the published code.
    """

    name: str
    prompt: Annotated[str, MinLen(1)]
    debate: Annotated[str, MinLen(1)]
    temperature: Annotated[float, Gt(0), Le(1)]
    agents: Annotated[int, Ge(2)]
    rounds: Annotated[int, Gt(0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiverseDebateConfig:
    """`method=dmad`.

    Attributes:
        prompt: as for `debate`; part of every approach's prompt.
        debate: YAML file of cards, a method of reasoning each and a terminal, and `turns.critique`.
        temperature: of every role.
        rounds: the presentation, and then the rounds of critique.
    """

    name: str
    prompt: Annotated[str, MinLen(1)]
    debate: Annotated[str, MinLen(1)]
    temperature: Annotated[float, Ge(0), Le(1)]
    rounds: Annotated[int, Gt(0)]


class Debate(Frozen):
    """LLM debate: N agents, R rounds, the majority of the last one.

    Agents share p^SA verbatim, so they differ by their sample alone, (run seed, agent): their
    first answers are the samples of SC@N at the same temperature.
    """

    Config: ClassVar[type[DebateConfig]] = DebateConfig

    def __init__(self, cfg: DebateConfig, *, lab: Lab, state: PoolState) -> None:
        super().__init__(cfg.name, lab=lab, state=state)
        self._rounds = cfg.rounds
        self._turns = load_turns(cfg.debate, ("revise",))

    @classmethod
    def start(cls, cfg: DebateConfig, benchmark: Benchmark) -> Start:
        agent = single_agent(cfg.prompt, cfg.temperature, benchmark)[AGENT]
        agents = [replace(agent, name=f"agent-{k}") for k in range(1, cfg.agents + 1)]
        return Start(pool=RolePool(tuple(agents)), more=load_turns(cfg.debate, ("revise",)))

    @property
    def calls_per_task(self) -> int:
        return len(self._state.pool) * self._rounds

    @property
    def shown_per_task(self) -> int:
        return heard_in(len(self._state.pool), self._rounds)

    async def answer(self, prompt: str, call: CallContext) -> Rollout:
        return await settled(partial(self._debate, prompt, call), self._lab.commit)

    async def _debate(self, prompt: str, call: CallContext) -> Rollout:
        """Answer, revise, and vote over canonical answers by the rule of SC@k.

        Raises:
            BackboneError: the machine failed.
        """
        agents, parts = self._state.pool.cards, self._lab.parts

        def turn(
            k: int, number: int, heard: Sequence[Upstream], own: str | None
        ) -> Awaitable[RoleMessage]:
            return speak(
                agents[k],
                prompt,
                heard,
                parts,
                call=call,
                kind=CallKind.MESSAGE,
                round=number,
                own=own,
                suffix="" if own is None else self._turns["revise"],
                bare=True,
                sample_index=sample_of(k, call),
            )

        said = await exchange(agents, self._rounds, turn)
        last = [message.text for message in said[-len(agents) :]]
        chosen = last[majority([parts.parse(prompt, text) for text in last])]
        return Rollout(
            team=self._state.pool.names,
            order=self._state.pool.names,
            edges=(),
            levels=(),
            similarity={},
            fast={},
            final_fast={},
            messages=tuple(said),
            answer=chosen,
            metrics={"agreement": converged(prompt, last, chosen, self._lab)},
        )


class DiverseDebate(Frozen):
    """DMAD: each agent presents by its own method, criticises the others, one role synthesises.

    The metric `confidence` is the share of approaches that converged on the answer, as `converged`
    counts them.
    """

    Config: ClassVar[type[DiverseDebateConfig]] = DiverseDebateConfig
    takes_players: ClassVar[bool] = True

    def __init__(self, cfg: DiverseDebateConfig, *, lab: Lab, state: PoolState) -> None:
        super().__init__(cfg.name, lab=lab, state=state)
        self._rounds = cfg.rounds
        self._turns = load_turns(cfg.debate, ("critique",))
        self._cast = Cast.of(state.pool)
        _approaches(cfg, lab.benchmark, max_prompt_chars=lab.schema.max_prompt_chars)

    @classmethod
    def start(cls, cfg: DiverseDebateConfig, benchmark: Benchmark) -> Start:
        pool = _approaches(cfg, benchmark, max_prompt_chars=sys.maxsize)  # the limit is __init__'s
        return Start(pool=pool, more=load_turns(cfg.debate, ("critique",)))

    @property
    def calls_per_task(self) -> int:
        """Every approach once a round, and the synthesis."""
        return len(self._cast.speakers) * self._rounds + 1

    @property
    def shown_per_task(self) -> int:
        n = len(self._cast.speakers)
        return heard_in(n, self._rounds) + n

    async def answer(self, prompt: str, call: CallContext) -> Rollout:
        return await settled(partial(self._debate, prompt, call), self._lab.commit)

    async def _debate(self, prompt: str, call: CallContext) -> Rollout:
        """Present, criticise, synthesise; an empty synthesis leaves the last message that is not.

        Raises:
            BackboneError: the machine failed.
        """
        parts = self._lab.parts
        assigned = await self._assigned(prompt, call)
        *approaches, terminal = assigned.cards

        def turn(
            k: int, number: int, heard: Sequence[Upstream], own: str | None
        ) -> Awaitable[RoleMessage]:
            return speak(
                approaches[k],
                prompt,
                heard,
                parts,
                call=call,
                kind=CallKind.MESSAGE,
                round=number,
                own=own,
                suffix="" if own is None else self._turns["critique"],
            )

        said = await exchange(approaches, self._rounds, turn)
        last = said[-len(approaches) :]
        heard = [upstream(card, m.text) for card, m in zip(approaches, last, strict=True)]
        final = await aggregate(prompt, terminal, heard, parts, call=call)
        share = converged(prompt, [m.text for m in last], final.text, self._lab)
        return Rollout(
            team=self._state.pool.names,
            order=tuple(card.name for card in approaches),
            edges=(),
            levels=(),
            similarity={},
            fast={},
            final_fast={},
            messages=(*assigned.messages, *said, final.message),
            answer=final.text,
            metrics={"confidence": share},
            assignment=assigned.record,
        )


async def exchange(speakers: Sequence[RoleCard], rounds: int, turn: Turn) -> list[RoleMessage]:
    """All speak at once in a round, and from the second on each has heard the others' last words.

    Returns:
        The messages by round, then speaker; the last `len(speakers)` are the final ones.

    Raises:
        BackboneError: the machine failed.
    """
    said: list[RoleMessage] = []
    for number in range(1, rounds + 1):
        last = said[-len(speakers) :]  # nothing before the first round
        before = [upstream(card, m.text) for card, m in zip(speakers, last, strict=False)]
        said += await together(
            turn(k, number, before[:k] + before[k + 1 :], before[k].text if before else None)
            for k in range(len(speakers))
        )
    return said


def upstream(card: RoleCard, text: str) -> Upstream:
    return Upstream(card.name, card.capability_family, text)


def heard_in(n: int, rounds: int) -> int:
    """Messages in the prompts of an exchange: from the second round on each speaker sees all n."""
    return n * n * (rounds - 1)


def converged(prompt: str, last: Sequence[str], answer: str, lab: Lab) -> float:
    """Share of the last messages with the same canonical text as the answer; 0 if it has none.

    As in the vote of SC@k, an answer is what the benchmark's parser makes of it. Of equal answers
    that it spells differently, such as `5/8` and `0.625`, each counts as another one.
    """
    given = lab.parts.parse(prompt, answer).answer
    if given is None:
        return 0.0
    return sum(lab.parts.parse(prompt, text).answer == given for text in last) / len(last)


def _approaches(
    cfg: DiverseDebateConfig, benchmark: Benchmark, *, max_prompt_chars: int
) -> RolePool:
    return load_cast(
        cfg.debate,
        cfg.prompt,
        benchmark,
        temperature=cfg.temperature,
        max_prompt_chars=max_prompt_chars,
    )

"""MAD: sides argue, and a judge ends the debate with an answer (Liang et al., 2024).

Each round the sides speak in the order of the file, the affirmative one first, then the judge; all
of them have read the debate so far. The judge's verdict is a first line, `VERDICT: stop` or
`VERDICT: continue`; nothing else that a role says decides anything. After the last round the judge
extracts the answer. A judge who does not speak each round hears all of them and answers once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar

from annotated_types import Ge, Gt, Le, MinLen

from sero.backbones.base import CallContext
from sero.backbones.settling import settled
from sero.benchmarks.base import Benchmark
from sero.credit import PoolState
from sero.inference.layout import Upstream
from sero.inference.parts import speak
from sero.inference.repair import aggregate
from sero.inference.role_assignment import RoleAssignment
from sero.inference.span import Span, exactly
from sero.inference.trace import CallKind, RoleMessage, Rollout
from sero.inference.verdict import first_verdict
from sero.methods.base import Lab, PlannedCalls, Start
from sero.methods.debate_file import Cast, load_cast, load_turns
from sero.methods.frozen import Frozen
from sero.roles.card import RoleCard
from sero.roles.pool import RolePool

STOP, CONTINUE = "stop", "continue"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedDebateConfig:
    """`method=mad`.

    Attributes:
        prompt: YAML file whose `system` is p^SA, part of both sides' prompts.
        debate: YAML file of the sides' cards and the judge's, of `turns.reply`, and of
            `turns.verdict` where the judge speaks each round.
        temperature: of every role.
        rounds: rounds until the judge has to extract the answer.
        judge_each_round: the judge may stop the debate after each round; false lets it speak once,
            after the last.
    """

    name: str
    prompt: Annotated[str, MinLen(1)]
    debate: Annotated[str, MinLen(1)]
    temperature: Annotated[float, Ge(0), Le(1)]
    rounds: Annotated[int, Gt(0)]
    judge_each_round: bool

    @property
    def turns(self) -> tuple[str, ...]:
        """The texts that the debate's file has to hold."""
        return ("reply", "verdict") if self.judge_each_round else ("reply",)


class JudgedDebate(Frozen):
    """MAD: affirmative, negative, judge; other sides and another judge from another file."""

    Config: ClassVar[type[JudgedDebateConfig]] = JudgedDebateConfig
    takes_players: ClassVar[bool] = True

    def __init__(self, cfg: JudgedDebateConfig, *, lab: Lab, state: PoolState) -> None:
        super().__init__(cfg.name, lab=lab, state=state)
        self._rounds = cfg.rounds
        self._judge_each_round = cfg.judge_each_round
        self._turns = load_turns(cfg.debate, cfg.turns)
        self._cast = Cast.of(state.pool)
        _sides_and_judge(cfg, lab.benchmark, max_prompt_chars=lab.schema.max_prompt_chars)

    @classmethod
    def start(cls, cfg: JudgedDebateConfig, benchmark: Benchmark) -> Start:
        pool = _sides_and_judge(cfg, benchmark, max_prompt_chars=sys.maxsize)  # see __init__
        return Start(pool=pool, more=load_turns(cfg.debate, cfg.turns))

    def planned_calls(self, n_train: int, n_heldout: int) -> PlannedCalls:
        """From a judge that stops after one round to one that never does.

        After k rounds n sides have seen 0 + 1 + ... + nk - 1 messages, and a judge of each round
        n + 2n + ... + kn; the extraction adds a call that sees nR. The messages per call grow with
        k, and the extraction raises them further.
        """
        n, rounds = len(self._cast.speakers), self._rounds
        said = n * rounds
        shown = said * (said - 1) // 2 + said
        if not self._judge_each_round:
            calls = exactly(said + 1)
        else:
            calls = Span(n + 1, said + rounds + 1)
            shown += said * (rounds + 1) // 2
        return self._planned(calls, calls.low, shown, n_heldout)

    async def answer(self, prompt: str, call: CallContext) -> Rollout:
        return await settled(partial(self._debate, prompt, call), self._lab.commit)

    async def _debate(self, prompt: str, call: CallContext) -> Rollout:
        """Rounds of argument until the judge stops with an answer, or the limit.

        Raises:
            BackboneError: the machine failed.
        """
        parts = self._lab.parts
        assigned = await self._assigned(prompt, call)
        *sides, judge = assigned.cards
        messages: list[RoleMessage] = []
        debate: list[Upstream] = []
        for number in range(1, self._rounds + 1):
            for side in sides:
                said = await speak(
                    side,
                    prompt,
                    debate,
                    parts,
                    call=call,
                    kind=CallKind.MESSAGE,
                    round=number,
                    suffix="" if number == 1 else self._turns["reply"],
                )
                messages.append(said)
                debate.append(in_round(side, number, said.text))
            if not self._judge_each_round:
                continue
            ruling = await speak(
                judge,
                prompt,
                debate,
                parts,
                call=call,
                kind=CallKind.JUDGE,
                round=number,
                suffix=self._turns["verdict"],
            )
            messages.append(ruling)
            answer = answer_of(ruling.text)
            if answer and parts.parse(prompt, answer).answer is not None:
                return self._rollout(messages, answer, assigned)
        last = await aggregate(prompt, judge, debate, parts, call=call)
        message = replace(last.message, round=self._rounds + (not self._judge_each_round))
        return self._rollout([*messages, message], last.text, assigned)

    def _rollout(
        self, messages: Sequence[RoleMessage], answer: str, assigned: RoleAssignment
    ) -> Rollout:
        return Rollout(
            team=self._state.pool.names,
            order=tuple(side.name for side in self._cast.speakers),
            edges=(),
            levels=(),
            similarity={},
            fast={},
            final_fast={},
            messages=(*assigned.messages, *messages),
            answer=answer,
            assignment=assigned.record,
        )


def answer_of(ruling: str) -> str:
    """What stands behind `VERDICT: stop`; empty where the judge did not say so.

    A stop needs an answer that can be read; without one the debate goes on.
    """
    found = first_verdict(ruling, (STOP, CONTINUE))
    return found.rest if found is not None and found.word == STOP else ""


def in_round(side: RoleCard, number: int, text: str) -> Upstream:
    """A side's message as everybody sees it, with the round it was said in."""
    return Upstream(f"{side.name}, round {number}", side.capability_family, text)


def _sides_and_judge(
    cfg: JudgedDebateConfig, benchmark: Benchmark, *, max_prompt_chars: int
) -> RolePool:
    return load_cast(
        cfg.debate,
        cfg.prompt,
        benchmark,
        temperature=cfg.temperature,
        max_prompt_chars=max_prompt_chars,
    )

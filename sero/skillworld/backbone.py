"""The simulated backbone: texts in, texts out, nothing remembered that could change an answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar

from annotated_types import Ge, Le

from sero.backbones.base import BackboneId, Completion, Request, Usage, request_key, request_seed
from sero.skillworld import rules
from sero.skillworld.chat import RoleChat, read_chat, read_role_name
from sero.skillworld.editor import EditorName, is_card_request, write_card
from sero.skillworld.latent import Skill, skill_of
from sero.skillworld.sheet import Kind
from sero.skillworld.text import (
    NO_SHEET,
    read_case_id,
    read_facts,
    read_sheet_code,
    signs_of,
    write_answer,
    write_message,
    write_ratings,
    write_report,
    write_setup,
)
from sero.skillworld.world import MIN_DIM, Case, ScenarioName, WorldSpec, world_for

NO_CASE = "There is no ledger case here."
CHARS_PER_TOKEN = 4
"""Tokens are counted as characters over four, rounded up: a fixed rule, not a tokenizer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillWorldBackboneConfig:
    """`backbone=skillworld`.

    Attributes:
        world: the world's key.
        dim: length of the encoder's vectors; no answer depends on it.
        noise: temperature the editor's cards carry.
        editor: the mix of qualities the editor draws from.
    """

    name: str
    world: int
    scenario: ScenarioName
    dim: Annotated[int, Ge(MIN_DIM)]
    noise: Annotated[float, Ge(0), Le(1)]
    editor: EditorName


@dataclass(frozen=True, slots=True, kw_only=True)
class _Speaker:
    """Who a system prompt makes of the model."""

    name: str
    sheet: str
    kind: Kind
    skill: Skill


class SkillWorldBackbone:
    """Answers every chat of the shared templates as method.md §7 says. Stateless.

    Equal requests get equal completions, in any order, in any process. At a temperature T > 0
    each draw of a specialist is rolled again with probability T, from the request's own seed.
    """

    Config: ClassVar[type[SkillWorldBackboneConfig]] = SkillWorldBackboneConfig

    def __init__(self, cfg: SkillWorldBackboneConfig) -> None:
        self.cfg = cfg
        self._world = world_for(WorldSpec(key=cfg.world, scenario=cfg.scenario, dim=cfg.dim))
        # The noise is part of who answers: the editor's cards carry it.
        noise = f"-noise-{cfg.noise:g}" if cfg.noise else ""
        self._identity = BackboneId(
            model=f"skillworld-{cfg.scenario}-{cfg.editor}",
            revision=f"world-{cfg.world}-v1{noise}",
            template="{}",
            simulated=True,
        )
        self._speaker = lru_cache(maxsize=4096)(self._read_speaker)

    @property
    def identity(self) -> BackboneId:
        return self._identity

    @property
    def max_prompt_chars(self) -> int | None:
        return None

    async def generate(self, request: Request) -> Completion:
        """Answer a request; never suspends and never fails."""
        text = self._reply(request)
        room = request.max_tokens * CHARS_PER_TOKEN
        finish_reason = "stop" if len(text) <= room else "length"
        text = text[:room]
        return Completion(
            text=text,
            finish_reason=finish_reason,
            usage=Usage(
                prompt_tokens=_tokens(sum([len(m.content) for m in request.messages])),
                completion_tokens=_tokens(len(text)),
            ),
        )

    async def close(self) -> None:
        """Nothing to close."""

    def _reply(self, request: Request) -> str:
        first = request.messages[0] if request.messages else None
        system = first.content if first is not None and first.role == "system" else ""
        user = request.messages[-1].content if request.messages else ""
        if is_card_request(system):
            seed = request_seed(request_key(self._identity, request))
            return write_card(self._world, self.cfg.editor, user, seed=seed, noise=self.cfg.noise)
        case_id = read_case_id(user)
        if case_id is None:
            return NO_CASE
        speaker, case, chat = self._speaker(system), self._world.case(case_id), read_chat(user)
        if chat.rated:
            return self._ratings(speaker, case, chat, request)
        match speaker.kind:
            case Kind.ROUTER:
                return write_setup(speaker.sheet, case)
            case Kind.AGGREGATOR:
                return self._answer(speaker, case, chat)
            case Kind.VALIDATOR if chat.checking:
                return self._report(speaker, case, chat)
            case _:
                return self._message(speaker, case, chat, request)

    def _read_speaker(self, system: str) -> _Speaker:
        sheet = read_sheet_code(system) or NO_SHEET
        truth = self._world.truth(sheet)
        return _Speaker(
            name=read_role_name(system),
            sheet=sheet,
            kind=truth.kind,
            skill=skill_of(truth, self._world.n_capabilities),
        )

    def _draws(self, speaker: _Speaker, case: Case) -> tuple[float, ...]:
        """u(x, r, k): the fixed uniforms of a role on a case, three per required fact."""
        return self._world.draws("role", speaker.name, case.id)

    def _message(self, speaker: _Speaker, case: Case, chat: RoleChat, request: Request) -> str:
        """What a specialist says; a validator of the team has no skill, so it only relays."""
        n = len(case.required)
        u: list[float] = list(self._draws(speaker, case)[: 2 * n])
        if request.temperature > 0.0 and speaker.kind is not Kind.VALIDATOR:
            seed = request_seed(request_key(self._identity, request))
            again = self._world.draws("again", speaker.name, case.id, str(seed))
            u = rules.reroll(u, again[: 2 * n], again[2 * n : 4 * n], rate=request.temperature)
        said = [signs_of(message.facts, case) for message in chat.messages]
        signs = rules.speak(
            [speaker.skill.right[k] for k in case.required],
            [speaker.skill.wrong[k] for k in case.required],
            rules.net_votes(said, n),
            setup=any(self._world.truth(m.sheet).kind is Kind.ROUTER for m in chat.messages),
            u=u[:n],
            relay=u[n:],
        )
        return write_message(speaker.sheet, case, signs)

    def _answer(self, speaker: _Speaker, case: Case, chat: RoleChat) -> str:
        """The vote over all messages; a draft stands before it, a report before the draft."""
        said = [signs_of(message.facts, case) for message in chat.messages]
        signs = rules.vote(said, u=self._draws(speaker, case)[: len(case.required)])
        voted = [
            right if sign > 0 else wrong
            for sign, right, wrong in zip(signs, case.right, case.wrong, strict=True)
        ]
        known = {**(chat.draft or {}), **chat.report}
        values = [known.get(k, value) for k, value in zip(case.required, voted, strict=True)]
        return write_answer(speaker.sheet, case, values)

    def _ratings(self, speaker: _Speaker, case: Case, chat: RoleChat, request: Request) -> str:
        """Ratings of others' drafts by what the rater finds alone; without skill it rates all 3."""
        own = read_facts(self._message(speaker, case, chat, request))
        return write_ratings([rules.rate(own, facts) for facts in chat.rated])

    def _report(self, speaker: _Speaker, case: Case, chat: RoleChat) -> str:
        """The validator's check of the draft: the facts it would change, if any."""
        n = len(case.required)
        u = self._draws(speaker, case)
        said = [signs_of(message.facts, case) for message in chat.messages]
        draft = signs_of(chat.draft or {}, case)
        checked = rules.check(draft, said, detect=u[:n], alarm=u[2 * n : 3 * n])
        changes = [
            new if (new > 0) != (old > 0) else 0 for old, new in zip(draft, checked, strict=True)
        ]
        return write_report(speaker.sheet, case, changes)


def _tokens(chars: int) -> int:
    return -(-chars // CHARS_PER_TOKEN)

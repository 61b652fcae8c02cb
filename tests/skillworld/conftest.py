"""A world to test, and a pipeline written out by hand as an independent check of the operator."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any

import numpy as np
import pytest

from sero.backbones.base import Completion, Request
from sero.benchmarks.base import Task
from sero.inference.layout import Upstream, fill, role_chat, template
from sero.roles.card import RoleCard, RoleType
from sero.roles.pool import RolePool
from sero.skillworld import SkillWorldBackbone, SkillWorldBenchmark, SkillWorldEncoder
from sero.skillworld.cards import named_card
from sero.skillworld.sheet import Kind, Truth
from sero.skillworld.text import case_prompt, read_message, signs_of
from sero.skillworld.world import World, WorldSpec, world_for


def make_backbone(world=7, scenario="default", noise=0.0, editor="benign"):
    return SkillWorldBackbone(
        SkillWorldBackbone.Config(
            name="skillworld", world=world, scenario=scenario, dim=32, noise=noise, editor=editor
        )
    )


def make_benchmark(
    world=7, scenario="default", noise=0.0, score="partial", n_heldout=200, pool="seed"
):
    return SkillWorldBenchmark(
        SkillWorldBenchmark.Config(
            name="skillworld",
            world=world,
            scenario=scenario,
            score=score,
            noise=noise,
            dim=32,
            n_train=30,
            n_heldout=n_heldout,
            strict_add=False,
            pool=pool,
        )
    )


def make_encoder(world=7, scenario="default", dim=32):
    return SkillWorldEncoder(SkillWorldEncoder.Config(world=world, scenario=scenario, dim=dim))


def ask(
    backbone: SkillWorldBackbone,
    card: RoleCard,
    prompt: str,
    upstream: Sequence[Upstream] = (),
    *,
    suffix: str = "",
    temperature: float | None = None,
    sample_index: tuple[str | int, ...] = (0,),
) -> Completion:
    """One role call, through the layout every backbone gets."""
    chat = role_chat(card, prompt, upstream, suffix=suffix, max_chars=None)
    request = Request(
        messages=chat.messages,
        temperature=card.temperature if temperature is None else temperature,
        max_tokens=1024,
        sample_index=sample_index,
        role=card.name,
    )
    return run(backbone.generate(request))


def sent(card: RoleCard, text: str) -> Upstream:
    return Upstream(card.name, card.capability_family, text)


def check_suffix(draft: str) -> str:
    return fill(template("repair", "draft"), {"text": draft}) + template("repair", "check")


def revise_suffix(draft: str, validator: RoleCard, report: str) -> str:
    values = {
        "name": validator.name,
        "family": validator.capability_family,
        "text": report,
    }
    return (
        fill(template("repair", "draft"), {"text": draft})
        + fill(template("repair", "report"), values)
        + template("repair", "revise")
    )


def answer_by_hand(
    backbone: SkillWorldBackbone, encoder: SkillWorldEncoder, pool: RolePool, task: Task
) -> str:
    """method.md §4.1-4.4 with val_slots = 0, family_cover = off, repair.always, no credit yet."""
    query = encoder.encode(task.prompt)

    def best(role_type: RoleType, slots: int) -> list[RoleCard]:
        cards = pool.of_type(role_type)
        rho = [float(encoder.encode(card.prompt_text) @ query) for card in cards]
        return [cards[i] for i in np.argsort([-r for r in rho], kind="stable")[:slots]]

    team = best(RoleType.ROUTER, 1) + best(RoleType.SPECIALIST, 3)
    drafts = np.array([encoder.encode(ask(backbone, card, task.prompt).text) for card in team])
    mean = drafts.mean(axis=0)
    fast = 0.5 * drafts @ query + 0.5 * drafts @ (mean / np.linalg.norm(mean))
    order = sorted(
        range(len(team)),
        key=lambda i: (team[i].role_type.stage, -fast[i], pool.index(team[i].name)),
    )
    assert len(order) == 4
    edges = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]  # n = 4, b_out = b_in = 2, nearest first
    said: list[Upstream] = []
    for place, i in enumerate(order):
        upstream = [said[a] for a, b in edges if b == place]
        said.append(sent(team[i], ask(backbone, team[i], task.prompt, upstream).text))
    terminal = pool.terminal
    assert terminal is not None
    draft = ask(backbone, terminal, task.prompt, said).text
    validator = pool.of_type(RoleType.VALIDATOR)[0]
    report = ask(backbone, validator, task.prompt, said, suffix=check_suffix(draft)).text
    if report.startswith("VERDICT: ok"):
        return draft
    return ask(
        backbone, terminal, task.prompt, said, suffix=revise_suffix(draft, validator, report)
    ).text


def run(answer: Coroutine[Any, Any, Completion]) -> Completion:
    """Drive a coroutine that never suspends; a backbone that waits for something fails here."""
    try:
        answer.send(None)
    except StopIteration as stop:
        completion: Completion = stop.value
        return completion
    raise AssertionError("the simulated backbone suspended")


def likely(count: int, n: int, p: float) -> bool:
    """A count of n draws is within four standard deviations of n p."""
    return bool(abs(count - n * p) <= 4.0 * np.sqrt(n * p * (1.0 - p)) + 1.0)


class Tools:
    """The helpers above under one fixture, since test modules cannot import a conftest."""

    backbone = staticmethod(make_backbone)
    benchmark = staticmethod(make_benchmark)
    encoder = staticmethod(make_encoder)
    ask = staticmethod(ask)
    sent = staticmethod(sent)
    check_suffix = staticmethod(check_suffix)
    revise_suffix = staticmethod(revise_suffix)
    answer_by_hand = staticmethod(answer_by_hand)
    run = staticmethod(run)
    likely = staticmethod(likely)


@pytest.fixture
def tools() -> type[Tools]:
    return Tools


@pytest.fixture
def world() -> World:
    return world_for(WorldSpec(key=7, scenario="default", dim=32))


@pytest.fixture
def cases(world):
    """Every case of group g04, so that c0 is always asked for. 2000 cases."""
    return [world.case(f"test-{i}") for i in range(0, 6000, 3)]


@pytest.fixture
def card(world):
    def of(truth, name="speaker", noise=0.0):
        return named_card(world, name, truth, noise=noise)

    return of


@pytest.fixture
def say(world, tools):
    """say(card, case, upstream texts): the card's message as signs."""
    backbone = tools.backbone()
    anyone = named_card(world, "someone", Truth(kind=Kind.MEDIUM, family=1), noise=0.0)

    def signs(speaker, case, upstream=(), **options):
        sent = [tools.sent(anyone, text) for text in upstream]
        reply = tools.ask(backbone, speaker, case_prompt(case), sent, **options).text
        message = read_message(reply)
        assert message.case_id == case.id
        return signs_of(message.facts, case)

    return signs

"""The file of a debate: what its turns say, and the cards of its roles, in one YAML file.

`turns:` holds texts set behind the messages of a turn; `roles:` the cards. Two names in braces in
a card are filled in: `{single_agent}`, the benchmark's p^SA, and `{output_protocol}`, its answer
format. So one file serves every benchmark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sero.benchmarks.base import Benchmark
from sero.errors import CardError
from sero.inference.layout import fill
from sero.methods.prompting import AGENT, single_agent
from sero.roles.card import RoleCard, RoleType
from sero.roles.load import load_yaml, pool_from_data
from sero.roles.pool import RolePool
from sero.validation import did_you_mean

Turns = Mapping[str, str]
"""Name of a turn to its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """Who debates: the speakers in the order of the file, and the one terminal role."""

    speakers: tuple[RoleCard, ...]
    terminal: RoleCard

    @classmethod
    def of(cls, pool: RolePool) -> Cast:
        """The cast of a pool that `load_cast` made."""
        terminal = pool.terminal
        assert terminal is not None, "load_cast refuses a file without one"
        return cls(speakers=tuple(c for c in pool if c != terminal), terminal=terminal)


def load_turns(path: str, names: Sequence[str]) -> dict[str, str]:
    """The texts of a debate's turns.

    Raises:
        CardError: a text is missing or empty, or stands there for nothing.
    """
    raw = load_yaml(path)
    found = raw.get("turns") if isinstance(raw, Mapping) else None
    if not isinstance(found, Mapping):
        raise CardError(path, ["turns: missing; the texts of the debate's turns are wanted"])
    faults = [
        f"turns.{name}: missing; a text is wanted"
        for name in names
        if not isinstance(found.get(name), str) or not found[name].strip()
    ]
    faults += [
        f"turns.{key}: unknown turn{did_you_mean(str(key), names)}"
        for key in found
        if key not in names
    ]
    if faults:
        raise CardError(path, faults)
    return {name: found[name] for name in names}


def load_cast(
    path: str,
    prompt: str,
    benchmark: Benchmark,
    *,
    temperature: float,
    max_prompt_chars: int,
) -> RolePool:
    """The cards of a debate for one benchmark.

    Args:
        path: the debate's file.
        prompt: the file of p^SA.
        temperature: of every role; a card's own is not read.
        max_prompt_chars: bound on each card's prompt as the file has it, in characters.

    Raises:
        CardError: every fault of the cards, or else of the cast.
    """
    raw = load_yaml(path)
    cards: Any = {k: v for k, v in raw.items() if k != "turns"} if isinstance(raw, Mapping) else raw
    pool = pool_from_data(cards, where=path, max_prompt_chars=max_prompt_chars)
    faults = _faults(pool)
    if faults:
        raise CardError(path, faults)
    agent = single_agent(prompt, temperature, benchmark)[AGENT]
    values = {
        "single_agent": agent.prompt_text.strip(),
        "output_protocol": benchmark.output_protocol,
    }

    def filled(card: RoleCard) -> RoleCard:
        return replace(
            card,
            system_prompt=tuple(fill(card.prompt_text, values).split("\n")),
            communication_protocol=fill(card.communication_protocol, values),
            temperature=temperature,
        )

    return RolePool(tuple(map(filled, pool)))


def _faults(pool: RolePool) -> list[str]:
    """What keeps the cards from being two or more speakers and, last, a terminal."""
    terminals = pool.of_type(RoleType.AGGREGATOR)
    faults = []
    if len(terminals) != 1 or not terminals[0].protected:
        faults.append(
            f"roles: {len(terminals)} aggregator(s); a debate has one terminal role, an "
            "aggregator with `protected: true`"
        )
    elif pool.cards[-1] != terminals[0]:
        faults.append(f"roles: '{terminals[0].name}' is not the last; the terminal speaks last")
    if len(pool) < 3:
        faults.append("roles: a debate needs two speakers and a terminal role")
    return faults

"""The pool of a run at any episode, and the field-level difference of two pools."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sero.credit import CreditState, PoolState, credit_from_data
from sero.errors import UserError
from sero.reporting.entries import Episode
from sero.roles.card import RoleCard
from sero.roles.load import load_yaml, pool_from_data
from sero.roles.pool import RolePool

_COMMIT = re.compile(r"episode_([0-9]{1,9})\.yaml")
_UNBOUNDED = 10**9
"""Saved cards were checked against the run's own length limit when they came in."""

FINAL = "final"
SEED = "seed"


def load_state(path: Path) -> PoolState:
    """A saved pool with its credit blocks; a card without one has no credit yet.

    Raises:
        CardError: every fault of the file.
    """
    raw = load_yaml(path)
    pool = pool_from_data(raw, where=str(path), max_prompt_chars=_UNBOUNDED)
    try:
        return PoolState(pool, credit_from_data(raw))
    except (TypeError, AttributeError) as error:
        raise UserError(f"{path}: a damaged credit block: {error}") from error


def commits(directory: Path) -> dict[int, Path]:
    """Episode to pool file, for every commit, in order."""
    folder = directory / "pool"
    if not folder.is_dir():
        return {}
    found = ((_COMMIT.fullmatch(path.name), path) for path in folder.iterdir())
    return dict(sorted((int(match[1]), path) for match, path in found if match))


def pool_file(directory: Path, point: str, *, last_episode: int) -> Path:
    """The file that holds the pool as it was after an episode.

    Args:
        directory: a run directory.
        point: an episode's number, 0 or `seed` for the seed pool, `final` for the frozen one.
        last_episode: number of the run's last episode so far.

    Raises:
        UserError: no such point in this run.
    """
    if point == FINAL:
        path = directory / "pool" / "final.yaml"
        if not path.is_file():
            raise UserError(
                f"{directory}: no pool/final.yaml, training has not ended; "
                f"name an episode from 0 to {last_episode}"
            )
        return path
    number = 0 if point == SEED else _episode_number(point)
    if number is None or number > last_episode:
        raise UserError(
            f"{directory}: no episode {point!r}; accepted are 0 (the seed pool) to {last_episode}, "
            f"'{SEED}' and '{FINAL}'"
        )
    reached = [path for episode, path in commits(directory).items() if episode <= number]
    path = reached[-1] if reached else directory / "pool" / "seed.yaml"
    if not path.is_file():
        raise UserError(f"{directory}: no pool/seed.yaml; the run saved no pool yet")
    return path


def _episode_number(point: str) -> int | None:
    return int(point) if point.isascii() and point.isdigit() and len(point) < 10 else None


def last_episode(episodes: Iterator[Episode]) -> int:
    """Number of the last episode, 0 without any."""
    return max((episode.episode for episode in episodes), default=0)


def describe_difference(before: PoolState, after: PoolState) -> list[str]:
    """What changed between two pools, one line per field.

    `+ role` was added, `- role` removed, `~ role.field: old -> new` changed; the lines of a changed
    prompt follow with `-` and `+` of their own. Empty when the pools and their credit are equal.
    """
    old, new = before.pool, after.pool
    lines = [_headline("-", card) for card in old if card.name not in new]
    for card in new:
        if card.name in old:
            lines += _changed_fields(old[card.name], card)
            lines += _changed_credit(card.name, before.credit, after.credit)
        else:
            lines.append(_headline("+", card))
            lines += [f"      {line}" for line in card.system_prompt]
    if _common_order(old, new) != _common_order(new, old):
        lines.append(f"~ order: {', '.join(old.names)} -> {', '.join(new.names)}")
    return lines


def _headline(sign: str, card: RoleCard) -> str:
    marks = ", protected" if card.protected else ""
    parent = f", from {card.parent}" if card.parent else ""
    return f"{sign} {card.name} ({card.role_type.value}, {card.capability_family}{marks}{parent})"


def _changed_fields(old: RoleCard, new: RoleCard) -> list[str]:
    lines = []
    for field in dataclasses.fields(old):
        a, b = getattr(old, field.name), getattr(new, field.name)
        if a == b:
            continue
        if field.name == "system_prompt":
            lines.append(f"~ {new.name}.system_prompt:")
            edits = difflib.ndiff(list(a), list(b))
            lines += [f"      {edit}" for edit in edits if edit[0] in "+-"]
        else:
            lines.append(f"~ {new.name}.{field.name}: {_plain(a)} -> {_plain(b)}")
    return lines


def _changed_credit(name: str, old: CreditState, new: CreditState) -> list[str]:
    lines = []
    for field in dataclasses.fields(old[name]):
        a, b = getattr(old[name], field.name), getattr(new[name], field.name)
        if a != b:
            lines.append(f"~ {name}.credit.{field.name}: {_plain(a)} -> {_plain(b)}")
    return lines


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, tuple):
        return "[" + ", ".join(str(part) for part in value) + "]"
    return "none" if value is None else str(value)


def _common_order(pool: RolePool, other: RolePool) -> list[str]:
    return [name for name in pool.names if name in other]

"""Method sheets: an opaque code in a card's text that only the world's key can read.

The code is twelve lower-case letters, so that it never looks like a number or a name of a task:
six letters of nonce, two of payload (kind and family) under a keyed pad, four of check.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from sero.roles.card import RoleType


class Kind(StrEnum):
    """What a card is worth; hidden from everything but the world itself."""

    GOOD = "good"
    MEDIUM = "medium"
    HARMFUL = "harmful"
    DISTRACTOR = "distractor"
    ROUTER = "router"
    VALIDATOR = "validator"
    AGGREGATOR = "aggregator"
    MISLEADER = "misleader"
    UNKNOWN = "unknown"

    @property
    def role_type(self) -> RoleType:
        match self:
            case Kind.ROUTER:
                return RoleType.ROUTER
            case Kind.VALIDATOR:
                return RoleType.VALIDATOR
            case Kind.AGGREGATOR:
                return RoleType.AGGREGATOR
            case _:
                return RoleType.SPECIALIST


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The truth about a card: its kind, and the capability of its family (specialists only)."""

    kind: Kind
    family: int | None = None


UNKNOWN = Truth(kind=Kind.UNKNOWN)
"""A missing, damaged or foreign sheet: a specialist that knows next to nothing anywhere."""

_NONCE, _PAYLOAD, _CHECK = 6, 2, 4
SHEET_LETTERS = _NONCE + _PAYLOAD + _CHECK
_FIRST = ord("a")
_NO_FAMILY = 25
_KINDS = tuple(kind for kind in Kind if kind is not Kind.UNKNOWN)


def write_sheet(key: bytes, truth: Truth, *, nonce: bytes) -> str:
    """The sheet of a card.

    Args:
        key: the world's secret, at most 64 bytes.
        truth: what the sheet hides; not `UNKNOWN`.
        nonce: whatever tells this card from others of the same truth; hashed under the key.

    Raises:
        ValueError: `truth` is `UNKNOWN` or its family is out of range.
    """
    if truth.kind is Kind.UNKNOWN:
        raise ValueError("write_sheet got an unknown truth; a sheet says what a card is")
    if truth.family is not None and not 0 <= truth.family < _NO_FAMILY:
        raise ValueError(
            f"write_sheet got family {truth.family}; families are 0 to {_NO_FAMILY - 1}"
        )
    family = _NO_FAMILY if truth.family is None else truth.family
    head = _letters(_digest(key, b"nonce", nonce)[:_NONCE])
    pad = _digest(key, b"pad", head.encode())
    payload = _letters((_KINDS.index(truth.kind) + pad[0], family + pad[1]))
    return head + payload + _check(key, head + payload)


def read_sheet(key: bytes, code: str) -> Truth:
    """What a sheet hides; `UNKNOWN` for any text that is not a sheet of this world."""
    if len(code) != SHEET_LETTERS or not (code.isascii() and code.isalpha() and code.islower()):
        return UNKNOWN
    head, body = code[:_NONCE], code[: _NONCE + _PAYLOAD]
    if _check(key, body) != code[len(body) :]:
        return UNKNOWN
    pad = _digest(key, b"pad", head.encode())
    kind, family = ((ord(body[_NONCE + i]) - _FIRST - pad[i]) % 26 for i in range(_PAYLOAD))
    if kind >= len(_KINDS):
        return UNKNOWN
    return Truth(kind=_KINDS[kind], family=None if family == _NO_FAMILY else family)


def _check(key: bytes, body: str) -> str:
    return _letters(_digest(key, b"check", body.encode())[:_CHECK])


def _letters(values: Iterable[int]) -> str:
    return "".join(chr(_FIRST + value % 26) for value in values)


def _digest(key: bytes, purpose: bytes, data: bytes) -> bytes:
    return hashlib.blake2b(data, key=key, person=purpose, digest_size=16).digest()

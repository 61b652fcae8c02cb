"""Invented names of generated tables, and what describes the subject of a table.

Names hold no digits, commas, quotes or articles, so that a name in an answer can be compared as
it stands; a few have letters beyond ASCII, as published tables do.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_STARTS = _words(
    "bra vel os tar min kel dor fen gal hur jas lor mav nev pel quin ras sol tul ul var wen yor "
    "zan né ør lú"
)
_MIDDLES = _words("mo ri ta len va so ke du ni bel ga the ro mar")
_TOWN_ENDS = _words("ra ford wick dal nes holm stad mere tin by gård ca")
_GOODS_ENDS = _words("ine ox ade ette on ica ium elle")
_FIRST = _words(
    "ada bruno carla denis edda falk gesa henk ines jarl katja lars mette nora oskar petra runa "
    "silas thea ugo vilma zoë"
)
_FAMILY_ENDS = _words("sen man ström ley ova ini ek berg")
_TEAMS = _words(
    "otters herons lynxes comets anvils rovers badgers lanterns magpies mariners thistles drakes"
)
_MOODS = _words("quiet amber northern silver patient brisk hollow gentle crimson early lucky pale")
_THINGS = _words(
    "heron lantern compass meadow anchor harvest falcon willow ember tide orchid raven"
)

Namer = Callable[[random.Random], str]


def town(rng: random.Random) -> str:
    return rng.choice(_STARTS) + rng.choice(_MIDDLES) + rng.choice(_TOWN_ENDS)


def goods(rng: random.Random) -> str:
    return rng.choice(_STARTS) + rng.choice(_MIDDLES) + rng.choice(_GOODS_ENDS)


def person(rng: random.Random) -> str:
    return f"{rng.choice(_FIRST)} {rng.choice(_STARTS)}{rng.choice(_FAMILY_ENDS)}"


def team(rng: random.Random) -> str:
    return f"{town(rng)} {rng.choice(_TEAMS)}"


def title(rng: random.Random) -> str:
    return f"{rng.choice(_MOODS)} {rng.choice(_THINGS)} {rng.choice(_STARTS)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A column of numbers.

    Attributes:
        low, high: range in units of the last place.
        places: digits behind the point.
        additive: a sum over rows means something; of a price or a share it does not.
        within: header of a column whose value in the same row this one never passes.
    """

    header: str
    low: int
    high: int
    places: int = 0
    additive: bool = True
    suffix: str = ""
    within: str = ""


def amount(header: str, low: int, high: int, places: int = 0, within: str = "") -> Spec:
    """A column whose values may be added up."""
    return Spec(header=header, low=low, high=high, places=places, within=within)


def gauge(header: str, low: int, high: int, places: int = 0, suffix: str = "") -> Spec:
    """A column of prices, shares, sizes: to be averaged, never added up."""
    return Spec(header=header, low=low, high=high, places=places, additive=False, suffix=suffix)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A figure of the trade: one column divided by another, in per cent or plain."""

    name: str
    top: str
    bottom: str
    percent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a table is about.

    Attributes:
        noun, nouns: what a row is.
        trade: where a rate is in use, as in "in port statistics".
        names: makes the name of a row; None where the rows are years.
        categories: headers of text columns with their values.
        since: header of the column with the year a row came into being.
        held: header of a column with a full date.
    """

    noun: str
    nouns: str
    trade: str
    names: Namer | None
    categories: tuple[tuple[str, tuple[str, ...]], ...]
    specs: tuple[Spec, ...]
    rates: tuple[Rate, ...]
    since: str = ""
    held: str = ""

"""Units of answers: read, compared and converted by exact factors.

A unit of the same dimension is accepted only with its exact factor (3 km is 3000 m, never 3 m),
one of another dimension not at all. Offsets (degrees Celsius) are never converted; an angle is a
pure number of radians.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from sero.benchmarks.olympiadbench.careful_text import plain, tidy

Dimension = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """`scale * pi**pi_power` of the base units of a dimension."""

    scale: Fraction
    pi_power: int
    dimension: Dimension


def _unit(scale: str, dimension: str = "", pi_power: int = 0) -> Unit:
    """A table entry; the dimension is written `kg m^2 s^-2`."""
    powers: dict[str, int] = {}
    for part in dimension.split():
        name, _, power = part.partition("^")
        powers[name] = int(power or 1)
    return Unit(scale=Fraction(scale), pi_power=pi_power, dimension=tuple(sorted(powers.items())))


_PREFIXES = dict(
    zip(
        ("f", "p", "n", "u", "µ", "m", "c", "d", "h", "k", "M", "G", "T"),
        (f"1e{n}" for n in (-15, -12, -9, -6, -6, -3, -2, -1, 2, 3, 6, 9, 12)),
        strict=True,
    )
)
_WORD_PREFIXES = dict(
    zip(
        ("nano", "micro", "milli", "centi", "deci", "kilo", "mega", "giga"),
        (f"1e{n}" for n in (-9, -6, -3, -2, -1, 3, 6, 9)),
        strict=True,
    )
)
_SYMBOLS = {
    "m": _unit("1", "m"),
    "g": _unit("1/1000", "kg"),
    "s": _unit("1", "s"),
    "A": _unit("1", "A"),
    "K": _unit("1", "K"),
    "mol": _unit("1", "mol"),
    "N": _unit("1", "kg m s^-2"),
    "J": _unit("1", "kg m^2 s^-2"),
    "W": _unit("1", "kg m^2 s^-3"),
    "Pa": _unit("1", "kg m^-1 s^-2"),
    "V": _unit("1", "kg m^2 s^-3 A^-1"),
    "C": _unit("1", "s A"),
    "Ω": _unit("1", "kg m^2 s^-3 A^-2"),
    "F": _unit("1", "kg^-1 m^-2 s^4 A^2"),
    "H": _unit("1", "kg m^2 s^-2 A^-2"),
    "T": _unit("1", "kg s^-2 A^-1"),
    "Wb": _unit("1", "kg m^2 s^-2 A^-1"),
    "Hz": _unit("1", "s^-1"),
    "L": _unit("1/1000", "m^3"),
    "l": _unit("1/1000", "m^3"),
    "eV": _unit("1.602176634e-19", "kg m^2 s^-2"),
    "bar": _unit("1e5", "kg m^-1 s^-2"),
    "rad": _unit("1"),
    "cal": _unit("4.184", "kg m^2 s^-2"),
}
_WORDS = {
    "metre": "m",
    "meter": "m",
    "gram": "g",
    "second": "s",
    "ampere": "A",
    "amp": "A",
    "kelvin": "K",
    "mole": "mol",
    "newton": "N",
    "joule": "J",
    "watt": "W",
    "pascal": "Pa",
    "volt": "V",
    "coulomb": "C",
    "ohm": "Ω",
    "farad": "F",
    "henry": "H",
    "tesla": "T",
    "weber": "Wb",
    "hertz": "Hz",
    "litre": "L",
    "liter": "L",
    "radian": "rad",
    "electronvolt": "eV",
}
_FIXED = {
    "sec": _unit("1", "s"),
    "min": _unit("60", "s"),
    "minute": _unit("60", "s"),
    "h": _unit("3600", "s"),
    "hr": _unit("3600", "s"),
    "hour": _unit("3600", "s"),
    "day": _unit("86400", "s"),
    "week": _unit("604800", "s"),
    "year": _unit("1", "year"),
    "month": _unit("1", "month"),
    "°": _unit("1/180", "", 1),
    "°C": _unit("1", "celsius"),
    "%": _unit("1/100"),
    "atm": _unit("101325", "kg m^-1 s^-2"),
    "Å": _unit("1e-10", "m"),
    "angstrom": _unit("1e-10", "m"),
    "micron": _unit("1e-6", "m"),
    "inch": _unit("0.0254", "m"),
    "inches": _unit("0.0254", "m"),
    "ft": _unit("0.3048", "m"),
    "foot": _unit("0.3048", "m"),
    "feet": _unit("0.3048", "m"),
    "yard": _unit("0.9144", "m"),
    "mile": _unit("1609.344", "m"),
    "mph": _unit("0.44704", "m s^-1"),
    "kph": _unit("5/18", "m s^-1"),
    "tonne": _unit("1000", "kg"),
    "dollar": _unit("1", "dollar"),
    "cent": _unit("1/100", "dollar"),
    "unit": _unit("1", "unit"),
    "rev": _unit("1", "turn"),
    "revolution": _unit("1", "turn"),
}
_TEXT = re.compile(r"\\text ?\{([^{}]*)\}")
_POWER = re.compile(r"\^ ?\{([^{}]*)\}")
_FRACTION = re.compile(r"\\frac ?\{((?:[^{}]|\{[^{}]*\})*+)\} ?\{((?:[^{}]|\{[^{}]*\})*+)\}")
_IN_WORDS = (
    (re.compile(r" squared\b"), "^2"),
    (re.compile(r" cubed\b"), "^3"),
    (re.compile(r"\bsq\. ?"), "sq "),
    (re.compile(r"\belectron[ -]volt"), "electronvolt"),
)
_TOKEN = re.compile(r" ?(?:°C|[A-Za-zµΩÅ]+|[°%*/()]|\^? ?[-+]?\d+)")
_MAX_LENGTH = 60
_MAX_POWER = 12
_LABEL = re.compile(r"[A-Za-z]{2,}(?: [A-Za-z]{2,}){0,2}\Z")
_NO_LABEL_WORDS = (
    "or and not no if unless except thousand thousands million millions billion billions "
    "hundred hundreds dozen dozens trillion times half halves third thirds quarter quarters "
    "squared cubed more less least most than minus plus over under about modulo mod divided "
    "square root maybe either neither nor probably approximately possibly score scores pair "
    "pairs double twice thrice factorial percent when where for is equals otherwise with"
)
_NO_LABEL = frozenset(_NO_LABEL_WORDS.split())


def read_unit(text: str) -> Unit | None:
    """The unit that a text such as `(m/s^2)` or `\\text{ km}` names; None when it names none."""
    if len(text) > _MAX_LENGTH:
        return None
    flat = _flat(text)
    tokens: list[str] = []
    at = 0
    while at < len(flat):
        match = _TOKEN.match(flat, at)
        if match is None:
            return None
        tokens.append(match[0].strip())
        at = match.end()
    if not tokens:
        return None
    scale, pi_power, powers, sign = Fraction(1), 0, dict[str, int](), 1
    inside = False
    square = 1
    i = 0
    while i < len(tokens):
        token = tokens[i]
        i += 1
        if token in ("/", "per"):
            sign = -1
            continue
        if token == "*":
            continue
        if token in ("square", "sq", "cubic"):
            square = 3 if token == "cubic" else 2
            continue
        if token == "(":
            inside = True
            continue
        if token == ")":
            inside, sign = False, 1
            continue
        unit = _atom(token)
        if unit is None:
            return None
        power = square
        square = 1
        if i < len(tokens) and (tokens[i][0] in "^-+" or tokens[i].isdigit()):
            power = int(tokens[i].lstrip("^ "))
            i += 1
        if not 0 < abs(power) <= _MAX_POWER:
            return None
        power *= sign
        scale *= unit.scale**power
        pi_power += unit.pi_power * power
        for name, p in unit.dimension:
            powers[name] = powers.get(name, 0) + p * power
        if not inside:
            sign = 1
    dimension = tuple(sorted((name, p) for name, p in powers.items() if p))
    return Unit(scale=scale, pi_power=pi_power, dimension=dimension)


def _flat(text: str) -> str:
    flat = plain(text)
    flat = _FRACTION.sub(r"\1/(\2)", _POWER.sub(r"^\1", flat))
    flat = _TEXT.sub(r" \1 ", flat)
    for pattern, written in _IN_WORDS:
        flat = pattern.sub(written, flat)
    for command, sign in (("\\mu", "µ"), ("\\Omega", "Ω"), ("\\AA", "Å")):
        flat = flat.replace(command + " ", sign).replace(command, sign)
    flat = " ".join(flat.replace("{", "").replace("}", "").split())
    for tight in ("^", "/", "*"):
        flat = flat.replace(" " + tight, tight).replace(tight + " ", tight)
    if flat.startswith("(") and flat.endswith(")") and flat.count("(") == 1:
        flat = flat[1:-1].strip()
    if flat.startswith("[") and flat.endswith("]"):
        flat = flat[1:-1].strip()
    return flat.replace("° C", "°C").rstrip(".")


def _atom(name: str) -> Unit | None:
    if name in _SYMBOLS:
        return _SYMBOLS[name]
    if name in _FIXED:
        return _FIXED[name]
    if len(name) > 1 and name[0] in _PREFIXES and name[1:] in _SYMBOLS:
        return _scaled(_SYMBOLS[name[1:]], _PREFIXES[name[0]])
    if len(name) < 3:
        return None
    word = name.lower()
    for form in (word, word.removesuffix("s"), word.removesuffix("es")):
        if form in _WORDS:
            return _SYMBOLS[_WORDS[form]]
        if form in _FIXED and len(form) > 1:
            return _FIXED[form]
        for prefix, factor in _WORD_PREFIXES.items():
            rest = form.removeprefix(prefix)
            if rest != form and rest in _WORDS:
                return _scaled(_SYMBOLS[_WORDS[rest]], factor)
    return None


def _scaled(unit: Unit, factor: str) -> Unit:
    return Unit(
        scale=unit.scale * Fraction(factor), pi_power=unit.pi_power, dimension=unit.dimension
    )


def factor_between(given: str, wanted: str) -> tuple[Fraction, int] | None:
    """(f, k) such that 1 of the given unit is f pi^k of the wanted one; None: not convertible."""
    if tidy(_flat(given)) == tidy(_flat(wanted)):
        return Fraction(1), 0
    ours, theirs = read_unit(given), read_unit(wanted)
    if ours is None or theirs is None:
        same = _label(given) and _label(given) == _label(wanted)
        return (Fraction(1), 0) if same else None
    if ours.dimension != theirs.dimension:
        return None
    return ours.scale / theirs.scale, ours.pi_power - theirs.pi_power


def _label(text: str) -> str:
    return _flat(text).lower().removesuffix("s")


def is_label(text: str) -> bool:
    """Whether a text is a unit, or a plain name of what is counted (`apples`).

    Words that change the number (`thousand`, `half`) or the claim (`or`, `at least`) are not.
    """
    if read_unit(text) is not None:
        return True
    flat = _flat(text)
    return bool(_LABEL.match(flat)) and not any(word in _NO_LABEL for word in flat.lower().split())

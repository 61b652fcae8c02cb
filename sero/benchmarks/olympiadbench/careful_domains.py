r"""Remarks that take only some of the real numbers: `x \in \mathbb{Z}`, `n integer`, `x prime`.

A gold that is a set of real numbers is not met by the integers or rationals in it. A remark of the
reals says nothing, and one about a letter in the gold's own ends is about a parameter. Where the
gold is an inequality in a letter that stands for integers (`k \ge 3`), they are implied.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from sero.benchmarks.olympiadbench.careful_arithmetic import Undefined
from sero.benchmarks.olympiadbench.careful_items import (
    closing_remark,
    has_inequality,
    name_and_rest,
    remark_sets,
)
from sero.benchmarks.olympiadbench.careful_set_reader import read_set
from sero.benchmarks.olympiadbench.careful_sets import meeting, same
from sero.benchmarks.olympiadbench.careful_terms import Unreadable
from sero.benchmarks.olympiadbench.careful_text import EQUALS, INEQUALITIES, split, tokens

_SET_SIGN = re.compile(r"\\(?:cup|cap|setminus|mathbb|emptyset)(?![A-Za-z])")
_NAMES = r"(?<![A-Za-z\\])[A-Za-z](?:_\{?\w+\}?)?(?: ?, ?[A-Za-z](?:_\{?\w+\}?)?)*"
_NUMBERS = r"(?:\\(?:mathbb|mathcal|text) ?\{? ?)?([ZNQP])(?![A-Za-z])"
_MEMBER = re.compile(rf"({_NAMES}) ?\\in ?{_NUMBERS}")
_SET = re.compile(rf"(?:\\in ?|(?=\\mathbb)){_NUMBERS}")
_SIGNED = r"(?:positive |non-?negative |negative )?"
_WORD = re.compile(
    r"(?<![A-Za-z\\])(irrational|rational|integer|integral|natural|whole|prime|composite|even|odd"
    r"|multiple|divisible|exclud|excep|remov|without|unless|not(?![a-z]))",
    re.IGNORECASE,
)
_NAMED = re.compile(
    rf"({_NAMES}) ?(?:\}}|\\text ?\{{)? ?(?:is |are |be )?(?:an? )?{_SIGNED}"
    r"(?:integer|integral|natural|whole)"
    rf"|(?:integers?|naturals?|numbers?) ?\}}? ?({_NAMES})(?![A-Za-z])",
    re.IGNORECASE,
)
_LETTER = re.compile(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])")
_STRAY_LETTER = re.compile(r"[A-Za-z] ?(?=[\[(])")
_WRAPPED = re.compile(r"\\text ?\{[^{}]*\}")
_LEAST = re.compile(
    r"(?:[ ,;(]|\\text ?\{)"
    r"(?:[ ,;({}]|\\text ?\{|(?:for|where|when|with|all|integers?)(?![A-Za-z])){0,12}+"
    r"(?<![A-Za-z\\])([A-Za-z]) ?(\\ge|>) ?(-?\d{1,9}+)(?:[ )}]|\\text ?\{)*+\Z"
)
_COUNTING = frozenset("ijklmn")
_SMALL = 3
_INTEGERS = frozenset({"Z", "N", "integer", "integral", "natural", "whole"})


def names_set(gold: str) -> bool:
    """Whether a plain gold has a sign that only sets have."""
    return _SET_SIGN.search(gold) is not None


def without_least(gold: str, answer: str) -> tuple[str, str]:
    r"""Gold and answer without the least value of their letter: `2n - 2 (n \ge 2)`.

    An answer's goes where the gold states the same, or none and it is a small one of a counter.
    """
    wanted, given = _least(gold), _least(answer)
    bare = gold if wanted is None else wanted.kept
    if given is None or has_inequality(bare):
        return bare, answer
    if wanted is not None:
        return bare, given.kept if given.value == wanted.value else answer
    said = split(given.kept, EQUALS)[0][-1]
    small = given.letter in _COUNTING and given.value <= _SMALL
    return bare, given.kept if small and given.letter in _LETTER.findall(said) else answer


@dataclass(frozen=True, slots=True, kw_only=True)
class _Least:
    """`kept` and a remark behind it: `letter` is at least `value`.

    A counter above k is at least k + 1; the half of k + 1/2 tells other letters above k apart.
    """

    kept: str
    letter: str
    value: Fraction


def _least(text: str) -> _Least | None:
    match = _LEAST.search(text)
    if match is None:
        return None
    kept, letter = text[: match.start()].rstrip(" ,;("), match[1]
    if letter not in _LETTER.findall(kept) or has_inequality(kept):
        return None
    if any(_sets(letter, part) for part in split(kept, {",", ";"})[0]):
        return None
    value = Fraction(match[3])
    if match[2] == ">":
        value += 1 if letter in _COUNTING else Fraction(1, 2)
    return _Least(kept=kept, letter=letter, value=value)


def _sets(letter: str, equation: str) -> bool:
    """Whether an equation gives a letter its value: `n = 5`, but not `f(n) = n`."""
    sides = split(equation, EQUALS)[0]
    others = " ".join(side for side in sides if side != letter)
    return len(sides) > 1 and letter in sides and letter not in _LETTER.findall(others)


def narrows(gold: str, answer: str) -> bool:
    """Whether a remark in an answer takes only some of the numbers in the gold's set.

    Args:
        gold: a plain text that names a set of real numbers.
        answer: a plain text.
    """
    if any(_leaves_out(gold, numbers) for numbers in remark_sets(answer)):
        return True
    own, is_described = _own_letters(gold)
    condition = closing_remark(answer)
    bounds = any(token in INEQUALITIES for token, _, _ in tokens(condition))
    if bounds and not closing_remark(gold) and not set(_LETTER.findall(condition)) <= own:
        return True
    kinds = _kinds(answer) - _kinds(gold)
    if not kinds:
        return False
    named = _restricted(answer) or (own if is_described else set())
    return kinds != {"integers"} or not named or not named <= own


def _leaves_out(gold: str, numbers: str) -> bool:
    r"""Whether the gold's set reaches beyond such as `\mathbb{R}^+`."""
    try:
        whole, part = read_set(gold), read_set(numbers)
        return not same(whole, meeting(whole, part), None)
    except (Undefined, Unreadable):
        return False


def _kinds(text: str) -> set[str]:
    found = [match[1] for match in _SET.finditer(text)]
    found += [match[1].lower() for match in _WORD.finditer(text)]
    return {"integers" if kind in _INTEGERS else kind for kind in found}


def _own_letters(gold: str) -> tuple[set[str], bool]:
    """Letters of the gold that may stand for integers; whether inequalities describe its set."""
    bare = _STRAY_LETTER.sub("", _WRAPPED.sub(" ", name_and_rest(gold)[1]), count=1)
    letters = set(_LETTER.findall(bare))
    if not any(token in INEQUALITIES or token == "|" for token, _, _ in tokens(bare)):
        return letters, False
    return letters if letters <= _COUNTING else set(), True


def _restricted(answer: str) -> set[str]:
    """The letters that the answer's remarks call integers."""
    members = {name for m in _MEMBER.finditer(answer) for name in _LETTER.findall(m[1])}
    named = {name for m in _NAMED.finditer(answer) for name in _LETTER.findall(m[1] or m[2])}
    return members | (named - {"a"})

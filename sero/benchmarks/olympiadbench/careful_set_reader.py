r"""Sets of real numbers as answers write them: intervals, unions, differences, inequalities.

Ends with symbols cannot be put in order; such unions are compared part by part.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import reduce

import mpmath

from sero.benchmarks.olympiadbench.careful_arithmetic import Undefined, as_mp
from sero.benchmarks.olympiadbench.careful_bounds import lettered, quantity, unlike
from sero.benchmarks.olympiadbench.careful_half_lines import half_line
from sero.benchmarks.olympiadbench.careful_numbers import Setting, evaluate
from sero.benchmarks.olympiadbench.careful_reader import read_terms
from sero.benchmarks.olympiadbench.careful_sets import (
    ABOVE,
    BELOW,
    DIGITS,
    EMPTY,
    LINE,
    End,
    RealSet,
    difference,
    interval,
    meeting,
    point,
    same,
    union,
)
from sero.benchmarks.olympiadbench.careful_terms import (
    Apply,
    Term,
    Unreadable,
    apply,
    free_symbols,
    integer,
    substitute,
)
from sero.benchmarks.olympiadbench.careful_text import AND, OR, RELATIONS, enclosed, split
from sero.benchmarks.olympiadbench.careful_values import agree

MAX_PARTS = 60
_OPERATIONS = {
    "\\cup": union,
    OR: union,
    "\\cap": meeting,
    AND: meeting,
    "\\setminus": difference,
}
_REALS = re.compile(r"\\mathbb ?\{? ?R ?\}? ?")
_LETTER_U = re.compile(r"(?<=[)\]}]) ?(?:\\text ?\{ ?[Uu] ?\}|[Uu]) ?(?=[(\[]|\\\{)")
_MINUS_SET = re.compile(r"- ?(?=\\\{)")
_SOME_REALS = re.compile(r"(?:\\mathbb|\\text)? ?\{? ?[ZNQ]")
_REAL_WORD = re.compile(r"\\text ?\{ ?real(?: numbers?)? ?\}|\breal(?: numbers?)?\b")
_STRAY_LETTER = re.compile(r"[A-Za-z] ?(?=[\[(])")
_LETTER = re.compile(r"(?:[A-Za-z]|\\[a-z]+)(?:_\{?\w+\}?)?\Z")
_INFINITY = apply("infinity")


def same_set(gold: str, answer: str, error: Fraction | None = None) -> bool:
    """Whether two plain texts name the same set of real numbers, ends within `error`.

    Raises:
        Unreadable: one of them names none.
    """
    ours, theirs = quantity(gold), quantity(answer)
    if unlike(ours, theirs):
        return False
    gold, answer = lettered(gold, ours), lettered(answer, theirs)
    try:
        return same(read_set(gold), read_set(answer), error)
    except Undefined:
        return _same_parts(gold, answer)


def read_set(text: str, layers: int = 6) -> RealSet:
    """The set that a plain text names.

    Raises:
        Unreadable: it names none, or has conditions on different letters.
        Undefined: an end is no number.
    """
    quantity(text)
    conditions = split(text, {","})[0]
    if 1 < len(conditions) <= MAX_PARTS and all(split(one, RELATIONS)[1] for one in conditions):
        return _jointly([read_set(one, layers) for one in conditions])
    parts, operators = _parts(text)
    result = _atom(parts[0], layers)
    for operator, part in zip(operators, parts[1:], strict=True):
        result = _OPERATIONS[operator](result, _atom(part, layers))
    return result


def _jointly(sets: list[RealSet]) -> RealSet:
    """What conditions between commas allow: all of them, or each in turn where none can meet."""
    result = reduce(meeting, sets)
    return reduce(union, sets) if result == EMPTY else result


def _parts(text: str) -> tuple[list[str], list[str]]:
    text = _LETTER_U.sub(r"\\cup ", _MINUS_SET.sub(r"\\setminus ", text.strip()))
    parts, operators = split(text, _OPERATIONS)
    if len(parts) > MAX_PARTS:
        raise Unreadable("too many parts")
    return [_without_member(part) for part in parts], operators


def _without_member(text: str) -> str:
    member, found = split(text, {"\\in"})
    return member[1] if found == ["\\in"] and len(member[0]) <= 12 else text


def _atom(text: str, layers: int) -> RealSet:
    text = _STRAY_LETTER.sub("", text, count=1) if _STRAY_LETTER.match(text) else text
    reals = _REALS.match(text)
    if reals:
        return half_line(text[reals.end() :].strip())
    if text in ("\\emptyset", "\\{\\}", "\\{ \\}"):
        return EMPTY
    brackets = enclosed(text)
    if brackets is None:
        return _solutions(text)
    opening, inside, closing = brackets
    if (opening, closing) == ("\\{", "\\}"):
        return _listed_or_described(inside, layers)
    ends, found = split(inside, {",", ";"})
    if len(ends) == 2 and opening in "([" and closing in ")]":
        return interval(_end(ends[0]), opening == "[", _end(ends[1]), closing == "]")
    if not found and layers and (opening, closing) in (("(", ")"), ("{", "}")):
        return read_set(inside, layers - 1)
    raise Unreadable("no set of real numbers")


def _listed_or_described(inside: str, layers: int) -> RealSet:
    if not layers:
        raise Unreadable("nested too deeply")
    for bar in ("|", ":"):
        sides, found = split(inside, {bar})
        if found == [bar]:
            return meeting(_domain(sides[0]), read_set(sides[1], layers - 1))
    result = EMPTY
    for element in split(inside, {",", ";"})[0][:MAX_PARTS]:
        result = union(result, point(_end(element)))
    return result


def _domain(front: str) -> RealSet:
    r"""The `S` of `\{x \in S \mid ...\}`; the integers are left to `careful_domains`."""
    name, *numbers = split(front, {"\\in"})[0]
    if not _LETTER.match(_REAL_WORD.sub("", name).strip()) or len(numbers) > 1:
        raise Unreadable("no set of real numbers")
    if not numbers or _SOME_REALS.match(numbers[0]):
        return LINE
    return read_set(numbers[0])


def _end(text: str) -> End:
    term = read_terms(text)[0]
    if term == _INFINITY:
        return ABOVE
    if term == apply("neg", _INFINITY):
        return BELOW
    return _at(term)


def _at(term: Term) -> End:
    with mpmath.workdps(DIGITS):
        return End(value=evaluate(term, Setting()), term=term)


def _solutions(text: str) -> RealSet:
    """The numbers for which a chain of inequalities in one letter holds."""
    sides, relations = split(text, RELATIONS)
    if not relations:
        raise Unreadable("no set of real numbers")
    result = LINE
    for left, relation, right in zip(sides, relations, sides[1:], strict=False):
        result = meeting(result, _solution(left, relation, right))
    return result


def _solution(left: str, relation: str, right: str) -> RealSet:
    if "\\infty" in left or "\\infty" in right:
        if relation not in ("<", ">"):
            raise Unreadable("a closed end at infinity")
        return LINE
    ours, theirs = read_terms(left)[0], read_terms(right)[0]
    if isinstance(ours, Apply) and ours.op == "abs" and not free_symbols(theirs):
        inner = ours.args[0]
        join = meeting if relation in ("<", "\\le") else union
        if relation in ("<", "\\le", ">", "\\ge"):
            below = _linear(apply("neg", theirs), relation, inner)
            return join(_linear(inner, relation, theirs), below)
    return _linear(ours, relation, theirs)


def _linear(left: Term, relation: str, right: Term) -> RealSet:
    """The solutions of a linear inequality in one letter."""
    names = sorted({*free_symbols(left), *free_symbols(right)})
    if len(names) != 1:
        raise Undefined("not in one letter")
    gap = apply("add", left, apply("neg", right))
    at = [substitute(gap, {names[0]: integer(k)}) for k in (0, 1, 2, 7)]
    slope = apply("add", at[1], apply("neg", at[0]))
    with mpmath.workdps(DIGITS):
        value = [as_mp(evaluate(term, Setting())) for term in (*at, slope)]
        noise = mpmath.mpf(10) ** -40
        if abs(value[4]) < noise or any(
            abs(value[i] - value[0] - k * value[4]) > noise for i, k in ((2, 2), (3, 7))
        ):
            raise Undefined("not linear")
    end = _at(apply("div", apply("neg", at[0]), slope))
    match relation:
        case "=":
            return point(end)
        case "\\ne":
            return difference(LINE, point(end))
        case "<" | ">" | "\\le" | "\\ge":
            closed = relation in ("\\le", "\\ge")
            if (relation in (">", "\\ge")) == (value[4] > 0):
                return interval(end, closed, ABOVE, False)
            return interval(BELOW, False, end, closed)
    raise Unreadable("no inequality")


def _same_parts(gold: str, answer: str) -> bool:
    """Unions of intervals with symbols: the same parts in any order."""
    wanted, operators = _parts(gold)
    given, others = _parts(answer)
    if len(wanted) != len(given) or any(op not in ("\\cup", OR) for op in operators + others):
        return False
    left = list(given)
    for part in wanted:
        match = next((other for other in left if _same_part(part, other)), None)
        if match is None:
            return False
        left.remove(match)
    return True


def _same_part(gold: str, answer: str) -> bool:
    ours, theirs = enclosed(_as_interval(gold)), enclosed(_as_interval(answer))
    if ours is None or theirs is None or (ours[0], ours[2]) != (theirs[0], theirs[2]):
        return False
    wanted, given = split(ours[1], {",", ";"})[0], split(theirs[1], {",", ";"})[0]
    return len(wanted) == len(given) and all(
        any(_same_symbolic_end(a, b) for a in read_terms(x) for b in read_terms(y))
        for x, y in zip(wanted, given, strict=True)
    )


def _as_interval(part: str) -> str:
    """`0 <= x < a` as `[0, a)`, and `x > a` as `(a, \\infty)`."""
    sides, relations = split(part, RELATIONS)
    if relations and all(relation in (">", "\\ge") for relation in relations):
        sides.reverse()
        relations = ["\\le" if relation == "\\ge" else "<" for relation in reversed(relations)]
    if not relations or not all(relation in ("<", "\\le") for relation in relations):
        return part
    if len(sides) == 2 and _LETTER.match(sides[0]):
        sides, relations = ["-\\infty", *sides], ["<", *relations]
    elif len(sides) == 2 and _LETTER.match(sides[1]):
        sides, relations = [*sides, "\\infty"], [*relations, "<"]
    if len(sides) != 3 or not _LETTER.match(sides[1]):
        return part
    opening = "[" if relations[0] == "\\le" else "("
    closing = "]" if relations[1] == "\\le" else ")"
    return f"{opening}{sides[0]}, {sides[2]}{closing}"


def _same_symbolic_end(gold: Term, answer: Term) -> bool:
    return gold == answer or agree(gold, answer)

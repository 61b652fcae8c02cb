r"""From the text of an answer to its single answers.

Separators are commas, semicolons, `and` and `or`; set braces around the whole, a leading `x \in`
and remarks such as `k \in \mathbb{Z}` go; `\pm` becomes two answers. Where a comma may separate
answers or group digits there are two lists, and the number of golds decides.
"""

from __future__ import annotations

import itertools
import re

from sero.benchmarks.olympiadbench.careful_text import (
    AND,
    INEQUALITIES,
    OR,
    RELATIONS,
    THOUSANDS,
    enclosed,
    split,
    tokens,
    unbraced,
)

MAX_ITEMS = 100
MAX_SIGNS = 4
MAX_REMARKS = 20
COMMAS = (",", ";")
_SURE_GROUP = re.compile(r",0")
_NUMBER_SET = re.compile(
    r"\\mathbb ?\{? ?[ZNRQC] ?\}?(?: ?[\^_] ?(?:\{[^{}]*\}|.))?\Z|\\text ?\{[^{}]*\}\Z"
)
_SHORT_NAMES = re.compile(r"[A-Za-z](?:_\{?\w+\}?)?(?: ?, ?[A-Za-z](?:_\{?\w+\}?)?)*\Z")
_REMARK = re.compile(
    r"[,;]? ?(?:\\text ?\{ ?|\\forall|\()? ?(?:\bwhere\b|\bfor (?:all|any|every|each|some)\b|"
    r"\bwith\b|\b(?:is|are) the only\b|\bis an integer\b|\bfor integers?\b)"
)
_FORALL = re.compile(r"[,;]? ?\(? ?\\forall")
_MEMBER_REMARK = re.compile(r" ?\( ?[A-Za-z](?: ?, ?[A-Za-z])* ?\\in ?\\mathbb[^()]*\)\Z")
_ALL = re.compile(
    r"\A(?:\\text ?\{)? ?(?:all|any|every)(?: (?:real|positive|non-negative|negative|odd|even|"
    r"integers?|numbers?|reals?|values?|of|natural|rational))* ?\}? ?(?=[A-Za-z] ?(?:\\[gl]e|[<>]))"
)
_UNION = re.compile(r"\\cup(?![A-Za-z])")
_NEXT = re.compile(rf"[,;{AND}{OR}] ?(?=[A-Za-z](?:_\{{?\w+\}}?)? ?(?:\([A-Za-z]\))? ?=)")
_ADJACENT = re.compile(r"(?:\([^()]*,[^()]*\) ?){2,}\Z")
_ADJECTIVES = (
    "open|closed|half-open|final|correct|required|desired|only|following|real|numerical|identity"
    "|maximum|minimum|greatest|smallest|largest"
)
_FORMS = (
    "interval|range|domain|set|circle|line|parabola|ellipse|hyperbola|curve|equation|function"
    "|value|answer|solution|both|either"
)
_QUANTITIES = (
    "result|number|total|probability|area|length|distance|radius|volume|angle|perimeter|sum"
    "|product|remainder|limit|maximum|minimum"
)
_COUNTED = "ways|solutions|pairs|triples|integers|values"
_LEADING = re.compile(
    rf"\A\\text ?\{{ ?(?:(?:the |an? )?(?:(?:{_ADJECTIVES}) )?(?:"
    rf"(?:{_FORMS})s?(?: is| are| equals| of)?"
    rf"|(?:{_QUANTITIES})(?: of (?:{_COUNTED}))? (?:is|are|equals))"
    r"|exactly|there (?:is|are)(?: exactly)?) ?:?\} ?",
    re.IGNORECASE,
)
_SUCH_THAT = re.compile(
    r"\A(?:\\text ?\{ ?)?(?:(?:all|any|the|real|numbers?|values?|of)(?![A-Za-z]) ?)*\}? ?"
    r"[A-Za-z] ?(?:\\text ?\{)? ?"
    r"(?:such that|with|where|satisfying|for which) ?\}? ?"
)
_SIGNED_TUPLE = re.compile(r"\\(?:pm|mp) ?\(([^()]*,[^()]*)\)\Z")
_LISTED = re.compile(r"[^=]{1,12}=(?= ?\\\{)")
_HAS_PAIR = re.compile(r"\\(?:pm|mp)(?![A-Za-z])")


def answer_lists(text: str, *, splits_words: bool = True) -> list[list[str]]:
    """The readings of a plain text as a list of single answers, most usual first.

    Args:
        splits_words: `and` and `or` separate answers; in sets they join conditions.
    """
    text = _without_remarks(text)
    if not splits_words:
        text = _inward(text)
    grouped = THOUSANDS.sub(
        lambda m: m[0].replace(",", "") if _SURE_GROUP.search(m[0]) else m[0], text
    )
    lists = [_items(grouped, splits_words)]
    merged = THOUSANDS.sub(lambda m: m[0].replace(",", ""), text)
    if merged != grouped:
        lists.append(_items(merged, splits_words))
    if not splits_words:
        lists += [joined for found in lists if (joined := _joint(found))]
    return [found for found in lists if len(found) <= MAX_ITEMS]


def _joint(conditions: list[str]) -> list[str]:
    """Several inequalities between commas as one condition: `x > 0, x \\ne 1`."""
    bounded = any(map(has_inequality, conditions))
    if not bounded or not 1 < len(conditions) <= MAX_REMARKS:
        return []
    if not all(split(condition, RELATIONS)[1] for condition in conditions):
        return []
    return [", ".join(conditions)]


def expansions(items: list[str]) -> list[list[str]]:
    r"""The list with each `\pm` written out, signs in step; then also freely, if that differs."""
    if not any(_HAS_PAIR.search(item) for item in items):
        return [items]
    in_step = [one for item in items for one in _in_step(item)]
    freely = [one for item in items for one in _freely(item)]
    return [in_step] if freely == in_step else [in_step, freely]


def bare_condition(text: str) -> str:
    """`x such that 3 < x < 4` as the inequality alone."""
    rest = _SUCH_THAT.sub("", text, count=1)
    return rest if rest != text and has_inequality(rest) else text


def name_and_rest(text: str) -> tuple[str, str]:
    r"""`x \in [0,1]` as (`x`, `[0,1]`); without such a front the name is empty."""
    sides, found = split(text, {"\\in"})
    if found == ["\\in"] and sides[1]:
        return sides[0], sides[1]
    return "", text


def _without_remarks(text: str) -> str:
    text = _LEADING.sub("", _MEMBER_REMARK.sub("", unbraced(text)))
    kept = ""
    for _ in range(MAX_REMARKS):
        start = _remark_start(text)
        following = _NEXT.search(text, start)
        kept += text[:start]
        if following is None:
            break
        kept += ", "
        text = text[following.end() :]
    return _ALL.sub("", kept).strip(" ,;")


def _remark_start(text: str) -> int:
    end = len(text)
    for pattern in (_REMARK, _FORALL):
        match = pattern.search(text, 0, end)
        if match and match.start() > 0:
            end = match.start()
    return end


def closing_remark(text: str) -> str:
    """The `where ...`, `with ...` or `for all ...` at the end of a plain text; maybe empty."""
    return text[_remark_start(text) :]


def remark_sets(text: str) -> list[str]:
    r"""The sets that remarks between commas put letters in: `\mathbb{Z}`."""
    parts = split(text, COMMAS)[0]
    return [name_and_rest(part)[1] for part in parts if _is_remark(part)]


def _inward(text: str) -> str:
    """`]0;1[` as `(0;1)`, where the brackets of a part open to the outside."""
    if "[" not in text and "]" not in text:
        return text
    parts = _UNION.split(text)
    for i, part in enumerate(parts):
        part = part.strip()
        if part.startswith("]"):
            part = "(" + part[1:]
        parts[i] = part[:-1] + ")" if part.endswith("[") else part
    return "\\cup ".join(parts)


def _items(text: str, splits_words: bool, layers: int = 4) -> list[str]:
    listed = _LISTED.match(text)
    rest = text[listed.end() :].strip() if listed else name_and_rest(text)[1]
    brackets = enclosed(rest)
    if brackets is not None and splits_words and layers:
        opening, inside, closing = brackets
        braces = (opening, closing) == ("\\{", "\\}")
        described = any(split(inside, {bar})[1] for bar in ("|", ":"))
        if braces and not described and inside.strip() != "\\emptyset":
            return _items(inside, splits_words, layers - 1)
        # Three and more in square brackets can only be a list, and so can tuples.
        inner = split(inside, {","})[0]
        listed_tuples = len(inner) > 1 and all(map(_is_tuple, inner))
        if (opening, closing) == ("[", "]") and (len(inner) > 2 or listed_tuples):
            return _items(inside, splits_words, layers - 1)
    if splits_words and layers:
        united = [enclosed(part) for part in split(rest, {"\\cup"})[0]]
        if len(united) > 1 and all(one and (one[0], one[2]) == ("\\{", "\\}") for one in united):
            return _items(",".join(one[1] for one in united if one), splits_words, layers - 1)
        if _ADJACENT.match(rest) and enclosed(rest) is None:
            text = re.sub(r"\) ?\(", "), (", rest)
    words = (AND, OR) if splits_words else ()
    parts, separators = split(text, {*COMMAS, *words})
    if len(parts) == 1:
        return [unbraced(text)]
    kept = [parts[0]]
    for separator, before, part in zip(separators, parts, parts[1:], strict=False):
        # `1, 3, and 5` has nothing between the last comma and the word.
        if not before and kept[-1:] == [""] and separator in (*words, ";"):
            kept.pop()
        kept.append(part)
    return [unbraced(part) for part in kept if not _is_remark(part)] or kept


def _is_remark(part: str) -> bool:
    """`k \\in \\mathbb{Z}`: a letter's range, which is no answer."""
    sides, found = split(part, {"\\in"})
    if found != ["\\in"]:
        return False
    return bool(_SHORT_NAMES.match(sides[0]) and _NUMBER_SET.match(sides[1]))


def _in_step(item: str) -> list[str]:
    if not _HAS_PAIR.search(item):
        return [item]
    pair = _SIGNED_TUPLE.match(item)
    if pair is not None:
        turned = ", ".join(f"-({part})" for part in split(pair[1], {","})[0])
        return [f"({pair[1]})", f"({turned})"]
    return [
        re.sub(r"\\pm(?![A-Za-z])", upper, re.sub(r"\\mp(?![A-Za-z])", lower, item))
        for upper, lower in ("+-", "-+")
    ]


def _freely(item: str) -> list[str]:
    signs = _HAS_PAIR.findall(item)
    if len(signs) < 2 or len(signs) > MAX_SIGNS or "\\mp" in signs:
        return _in_step(item)
    pieces = _HAS_PAIR.split(item)
    return [
        "".join(itertools.chain(*zip(pieces, (*choice, ""), strict=True)))
        for choice in itertools.product("+-", repeat=len(signs))
    ]


def _is_tuple(text: str) -> bool:
    pair = enclosed(text)
    return pair is not None and pair[0] == "(" and bool(split(pair[1], {","})[1])


def has_inequality(text: str) -> bool:
    return any(token in INEQUALITIES for token, _, depth in tokens(text) if depth == 0)

r"""Idioms of LaTeX and of typists, spelt as the rest of the reader expects them.

Two passes over a text: `respelt` before its commands are unified, `joined` after it. Linear in the
text.
"""

from __future__ import annotations

import re

_GROUP = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*+\})*+\})*+\}"
_SCRIPT = r"(?:\{[^{}]*\}|\w)"

_THIN_COMMA = re.compile(r"(?<=\d)(?:,\\!|\\text\{,\}|['’](?=\d{3}(?!\d)))(?=\d{3})")
_QUANTITY = re.compile(r"\\(?:SI|qty) ?\{([^{}]*)\} ?\{")
_CASES = re.compile(
    r"(?:\\left ?\\\{ ?)?\\begin ?\{(cases|array)\}(?:\{[lcr| ]*\})?(.*?)\\end ?\{\1\}"
    r"(?: ?\\right ?\.)?",
    re.DOTALL,
)
_MATRIX = re.compile(
    r"\\begin ?\{([pb]matrix)\}(.*?)\\end ?\{\1\}"
    r"|\\left ?[(\[] ?\\begin ?\{(array)\}(?:\{[lcr| ]*\})?(.*?)\\end ?\{\3\} ?\\right ?[)\]]",
    re.DOTALL,
)
_ROW = re.compile(r"\\\\|\\cr(?![A-Za-z])")
_TAB = re.compile(r"(?<!\\)&")
_MAPS = re.compile(r"([A-Za-z](?:_\w)?) ?(?::|\\colon) ?([A-Za-z]) ?\\mapsto(?![A-Za-z])")
_LETTER_O = re.compile(
    r"(?<=\d) ?\^ ?(?:\{ ?(?:\\mathrm ?)?o ?\}|\{ ?\\(?:mathrm|text) ?"
    r"\{o\} ?\}|\\(?:mathrm|text) ?\{o\})"
)
_THIN_PRODUCT = re.compile(
    r"(\\(?:sin|cos|tan|cot|sec|csc|ln|log|exp) ?(?:\^ ?(?:\{[^{}]*\}|\d))? ?"
    r"(?:\\[a-z]+|[A-Za-z]|\d+|\{[^{}]*\})) ?\\[,;:] ?(?!or\b|in\b)(?=[A-Za-z]{1,2}(?![A-Za-z]))"
)
_IDENTITY = re.compile(r"([A-Za-z](?:_\w)? ?\([A-Za-z]\)) ?\\equiv(?![A-Za-z])")
_NOT_EQUAL = re.compile(r"\\not ?=")
_AT_LEAST, _AT_MOST = re.compile(r">="), re.compile(r"<=(?!>)")

_TIMES_TEN = re.compile(r"(?<=\d) ?[xX] ?(?=10 ?\^)")
_BRACED_SIGN = re.compile(r"(?<!text)(?<!text )\{ ?([*/+=-]) ?\}")
_EXPONENT = re.compile(
    r"(?<=\d) ?\\text ?\{ ?[eE] ?([-+]?\d*) ?\} ?(?:\{ ?([-+]?\d+) ?\}|([-+]?\d+))?"
)
_LARGE = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_LARGE_WORD = re.compile(rf"(?<=\d) ?(?:\\text ?\{{ ?)?({'|'.join(_LARGE)})(?![A-Za-z])(?: ?\}})?")
_MEMBERS = re.compile(r"(\\in) ?\{([^{}]*,[^{}]*)\}")
_FRONT = re.compile(rf"(?:(?<=[-+*/=(,])|\A) ?[\^_] ?({_SCRIPT}) ?C ?_ ?({_SCRIPT})")
_TURNED = re.compile(rf"C ?(\^ ?{_SCRIPT}) ?(_ ?{_SCRIPT})")
_WRAPPED = re.compile(rf"\\text ?({_GROUP})")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_WORD = re.compile(r"[A-Za-z]{2}|\x00")


def respelt(text: str) -> str:
    """Environments as lists and tuples, quantities with units as text, `>=` as LaTeX."""
    text = _THIN_COMMA.sub("", _QUANTITY.sub(r"\1 \\text{", text))
    text = _CASES.sub(_listed, _MATRIX.sub(_rows, text))
    text = _MAPS.sub(r"\1(\2)=", _LETTER_O.sub("°", text))
    text = _THIN_PRODUCT.sub(r"\1*", _NOT_EQUAL.sub(r"\\ne ", text))
    return _AT_MOST.sub(r"\\le ", _AT_LEAST.sub(r"\\ge ", text))


def joined(text: str) -> str:
    """Powers of ten, large numbers in words, combinations, sets, identities in one spelling."""
    if "mod" not in text:
        text = _IDENTITY.sub(r"\1=", text)
    text = _BRACED_SIGN.sub(r"\1", _TIMES_TEN.sub("*", text))
    text = _LARGE_WORD.sub(lambda m: f"*10^{{{_LARGE[m[1]]}}}", _EXPONENT.sub(_power, text))
    text = _TURNED.sub(r"C\2\1", _FRONT.sub(_binomial, text))
    return _MEMBERS.sub(r"\1 \\{\2\\}", text)


def unwrapped(text: str) -> str:
    """Formulas without the wrapper around the whole of them: bold, upright, in text."""
    return _WRAPPED.sub(_bare, text)


def _listed(match: re.Match[str]) -> str:
    if match[1] == "array" and "\\right" not in match[0]:
        return match[0]
    return f" {_TAB.sub('', match[2])} " if _ROW.search(match[2]) else match[0]


def _rows(match: re.Match[str]) -> str:
    """A row or a column as a tuple, a matrix as a tuple of its rows."""
    rows = [_TAB.split(row) for row in _ROW.split(match[2] or match[4] or "") if row.strip()]
    if not rows or len({len(row) for row in rows}) > 1:
        return match[0]
    if len(rows) == 1 or len(rows[0]) == 1:
        return f"({','.join(entry for row in rows for entry in row)})"
    return "((" + "),(".join(",".join(row) for row in rows) + "))"


def _power(match: re.Match[str]) -> str:
    digits = [found for found in match.groups() if found]
    return f"e{digits[0]} " if len(digits) == 1 and digits[0][-1].isdigit() else match[0]


def _binomial(match: re.Match[str]) -> str:
    upper, lower = (script.strip("{}") for script in match.groups())
    return f"\\binom{{{upper}}}{{{lower}}}"


def _bare(match: re.Match[str]) -> str:
    inside = match[1][1:-1]
    formula = "{" in inside and not _WORD.search(_COMMAND.sub(" ", inside))
    return match[1] if formula else match[0]

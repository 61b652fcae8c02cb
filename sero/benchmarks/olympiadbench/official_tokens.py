"""LaTeX cut into the tokens of the grammar that the published OlympiadBench judge reads with.

SymPy 1.12 cuts lazily: a character it does not know raises only when reading gets that far, so
such a character is a token here (`ERROR`) and not an exception.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

END = "end"
ERROR = "error"

MULTIPLY = "multiply"
DIVIDE = "divide"
RELATION = "relation"
DIFFERENTIAL = "differential"
LETTER = "letter"
DIGIT = "digit"
COMMAND = "command"
FUNCTION = "function"

_BLANK = "blank"
_FUNCTIONS = (
    "exp log lg ln sin cos tan csc sec cot arcsin arccos arctan arccsc arcsec arccot "
    "sinh cosh tanh arsinh arcosh artanh"
)
_BLANKS = (
    "thinspace medspace thickspace quad qquad negthinspace negmedspace negthickspace left right "
    "vrule vcenter vbox vskip vspace hfil"
)
_OWN_KIND = "int sum prod lim sqrt overline mathit lfloor rfloor lceil rceil langle rangle"
_KEYWORDS: dict[str, tuple[str, str]] = {
    **{name: (FUNCTION, name) for name in _FUNCTIONS.split()},
    **dict.fromkeys(_BLANKS.split(), (_BLANK, "")),
    **dict.fromkeys(("times", "cdot"), (MULTIPLY, "*")),
    "div": (DIVIDE, "/"),
    **dict.fromkeys(("to", "rightarrow", "Rightarrow"), ("to", "")),
    **dict.fromkeys(("longrightarrow", "Longrightarrow"), ("to", "")),
    **dict.fromkeys(("leq", "le", "leqq", "leqslant"), (RELATION, "<=")),
    **dict.fromkeys(("geq", "ge", "geqq", "geqslant"), (RELATION, ">=")),
    "neq": (RELATION, "!="),
    **dict.fromkeys(("frac", "dfrac", "tfrac"), ("frac", "")),
    **dict.fromkeys(("binom", "dbinom", "tbinom"), ("binom", "")),
    **{name: (name, "") for name in _OWN_KIND.split()},
}
_PLAIN = {
    "*": (MULTIPLY, "*"),
    "/": (DIVIDE, "/"),
    ":": (DIVIDE, "/"),
    "<": (RELATION, "<"),
    ">": (RELATION, ">"),
}
# Longest match first; `d` with the letter or command after it is one token, as in `dx`.
_TOKEN = re.compile(
    r"""
      (?P<blank>[ \t\r\n]+ | \\[,:;!*.\-/"(=])
    | (?P<bar>\\(?:left|right)\|)
    | (?P<limits>\\int\\limits)
    | \\(?P<command>[a-zA-Z]+)
    | (?P<brace>\\[{}])
    | d[ \t\r\n]*(?P<differential>[a-zA-Z]|\\[a-zA-Z]+)
    | (?P<equal>&[ \t\r\n]*= | =(?:[ \t\r\n]*&)?)
    | (?P<letter>[a-zA-Z])
    | (?P<digit>[0-9])
    | (?P<quotes>'+)
    | (?P<plain>[-+*/(){}\[\]|_^:<>!,.])
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token and where it stands, `start` to `stop` (exclusive), in the text."""

    kind: str
    text: str = ""
    start: int = 0
    stop: int = 0


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a text, cut as they are asked for, up to an unknown character or the `END`."""
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            yield Token(kind=ERROR, start=at, stop=at)
            return
        kind, content = _sort(match)
        if kind != _BLANK:
            yield Token(kind=kind, text=content, start=at, stop=match.end())
        at = match.end()
    yield Token(kind=END, start=at, stop=at)


def _sort(match: re.Match[str]) -> tuple[str, str]:
    name = str(match.lastgroup)
    content = match[name]
    match name:
        case "command":
            return _KEYWORDS.get(content, (COMMAND, content))
        case "differential":
            return DIFFERENTIAL, content.removeprefix("\\")
        case "equal":
            return RELATION, "="
        case "limits":
            return "int", ""
        case "plain":
            return _PLAIN.get(content, (content, content))
        case "bar" | "brace":
            return content, content
        case _:
            return name, content

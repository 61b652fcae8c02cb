"""Tokens of a formula, a cursor over them, and the names they may stand for."""

from __future__ import annotations

import re

from sero.benchmarks.olympiadbench.careful_terms import Unreadable

MAX_TOKENS = 1500
END = ("end", "")
Token = tuple[str, str]
"""Kind and text."""

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau "
    "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
_FUNCTIONS = (
    "sin cos tan cot sec csc arcsin arccos arctan arccot sinh cosh tanh coth ln log lg lb exp "
    "gcd lcm max min floor ceil abs sgn arcsinh arccosh arctanh"
)
_ACCENTS = (
    "vec hat bar tilde dot ddot overline widehat widetilde overrightarrow mathcal "
    "mathscr mathfrak mathbb acute breve check"
)
GREEK = frozenset(_GREEK.split())
FUNCTIONS = frozenset(_FUNCTIONS.split())
"""Names that are functions after a backslash, in a wrapper, and in plain text."""
ACCENTS = frozenset(_ACCENTS.split())
ALIASES = {
    "asin": "arcsin",
    "arsinh": "arcsinh",
    "asinh": "arcsinh",
    "arcosh": "arccosh",
    "acosh": "arccosh",
    "artanh": "arctanh",
    "atanh": "arctanh",
    "acos": "arccos",
    "atan": "arctan",
    "arctg": "arctan",
    "tg": "tan",
    "ctg": "cot",
    "cosec": "csc",
    "sign": "sgn",
    "ceiling": "ceil",
}
# In plain text these are functions only in front of a bracket, those below also without one.
_CALLED = "sqrt|cbrt|binom|floor|ceiling|ceil|abs|max|min|gcd|lcm|sgn|sign|comb"
_WORDS = (
    "sqrt|arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|exp|asin|acos|atan|log|ln|csc|sec"
)
_LETTERS = "alpha|beta|gamma|delta|epsilon|theta|lambda|sigma|omega|tau|rho|phi|psi|pi"
_TOKEN = re.compile(
    r"(?P<blank>\s+)"
    r"|(?P<power_of_ten>(?:\d+(?:\.\d*)?|\.\d+)[eE][-+]?\d+(?![\d.]))"
    r"|(?P<number>\d+(?:\.\d*)?|\.\d+)"
    r"|(?P<command>\\[A-Za-z]+)"
    r"|(?P<escaped>\\.)"
    rf"|(?P<called>(?:{_CALLED})(?=\s*\())"
    rf"|(?P<word>{_WORDS})"
    rf"|(?P<letter>(?:{_LETTERS})(?![a-z])|[A-Za-z])"
    r"|(?P<sign>.)",
    re.DOTALL,
)
SIGNED_POWER_OF_TEN = re.compile(r"[\d.][eE][-+]\d")
_MANTISSA = re.compile(r"[\d.]+(?=[eE][-+])")


def tokenise(text: str, *, signed_power_of_ten: bool) -> list[Token]:
    """The tokens of a plain text.

    Args:
        signed_power_of_ten: read `2e-3` as 0.002, not as 2e - 3.

    Raises:
        Unreadable: too many.
    """
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None
        kind, token = str(match.lastgroup), match[0]
        mantissa = _MANTISSA.match(token) if kind == "power_of_ten" else None
        if mantissa is not None and not signed_power_of_ten:
            kind, token = "number", mantissa[0]
        at += len(token)
        if kind != "blank":
            found.append((kind, token))
        if len(found) > MAX_TOKENS:
            raise Unreadable("too long")
    return found


class Cursor:
    """A place in a list of tokens."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self) -> Token:
        return self.tokens[self.at] if self.at < len(self.tokens) else END

    def text(self) -> str:
        return self.peek()[1]

    def take(self) -> Token:
        token = self.peek()
        self.at += 1
        return token

    def take_if(self, text: str) -> bool:
        if self.peek() != END and self.text() == text:
            self.at += 1
            return True
        return False

    def take_sign(self) -> int:
        """-1 for an odd number of minus signs in front, else 1."""
        sign = 1
        while self.text() in ("+", "-"):
            if self.take()[1] == "-":
                sign = -sign
        return sign

    def expect(self, text: str) -> None:
        if not self.take_if(text):
            raise Unreadable(f"{text} is missing")

    def raw_group(self) -> str:
        """The text between braces, or the one token, that follows."""
        if not self.take_if("{"):
            return self.take()[1]
        parts: list[str] = []
        depth = 1
        while True:
            kind, token = self.take()
            if kind == "end":
                raise Unreadable("} is missing")
            depth += (token == "{") - (token == "}")
            if not depth:
                return "".join(parts)
            parts.append(token)

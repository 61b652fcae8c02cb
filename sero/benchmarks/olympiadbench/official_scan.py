"""Looking at tokens, and choosing between readings where the official grammar is ambiguous."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sero.benchmarks.olympiadbench import official_tokens as lex
from sero.benchmarks.olympiadbench.official_tokens import Token

MAX_NESTING = 60
"""Brackets inside brackets at which the published parser's recursion ends."""

MAX_CHAIN = 980
"""Factors in a row, or summands, at which it ends as well."""

MAX_TRIALS = 200
"""Combinations of choices, over a whole text; nested bars double them with each pair."""


class LatexError(ValueError):
    """The published parser raises on this text."""


class DeadEnd(LatexError):
    """This reading does not hold; another may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A piece of a formula as it was read.

    Attributes:
        kind: `number`, `letter`, `factors`, `frac` ...; the reader's methods name them.
        parts: what it is made of, in reading order.
        text: a number's digits, a name, an operator, or source text to be read again.
        mark: the quotes after a letter, the direction of a limit, the variable of a derivative.
        sub: the subscript, or the lower bound.
        sup: the superscript of a function, or the upper bound.
    """

    kind: str
    parts: tuple[Node, ...] = ()
    text: str = ""
    mark: str = ""
    sub: Node | None = None
    sup: Node | None = None


Read = tuple[Node, int]
Rule = Callable[[int], Read]


class Scanner(ABC):
    """One pass over one text. Every rule takes a position and returns a node and the next one.

    `closers` are the signs that open brackets wait for; while it is empty, reading may stop
    anywhere. `choices` are the decisions taken at the choice points of the present attempt,
    `split_at` the commas that separate arguments although a number could hold them, `only_calls`
    the parentheses that can hold nothing but arguments.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[Token] = []
        self.coming = lex.tokens(text)
        self.closers: list[str] = []
        self.choices: list[bool] = []
        self.made = 0
        self.trials = 0
        self.split_at: set[int] = set()
        self.only_calls: set[int] = set()
        self.commits: dict[int, bool] = {}
        self.calls: dict[int, bool] = {}

    def token(self, i: int) -> Token:
        while i >= len(self.tokens):
            token = next(self.coming, None)
            if token is None:
                break
            self.tokens.append(token)
        token = self.tokens[min(i, len(self.tokens) - 1)]
        if token.kind == lex.ERROR:
            raise LatexError(f"unknown character at {token.start}")
        return token

    def kind(self, i: int) -> str:
        return self.token(i).kind

    def expect(self, kind: str, i: int) -> int:
        if self.kind(i) != kind:
            raise DeadEnd(f"no {kind} at {self.token(i).start}")
        return i + 1

    @contextmanager
    def until(self, closer: str) -> Iterator[None]:
        if len(self.closers) >= MAX_NESTING:
            raise LatexError("nested too deeply")
        self.closers.append(closer)
        try:
            yield
        finally:
            self.closers.pop()

    def awaits(self, closer: str) -> bool:
        return bool(self.closers) and self.closers[-1] == closer

    def bounded(self, length: int) -> None:
        if length > MAX_CHAIN:
            raise LatexError("a chain too long")

    def choose(self) -> bool:
        """Whether to take the first of two readings; the second comes when the first fails."""
        if self.made == len(self.choices):
            self.choices.append(True)
        self.made += 1
        return self.choices[self.made - 1]

    def attempt(self, rule: Rule, i: int) -> Read:
        """The first reading by a rule that holds. Inside brackets the attempt around it decides.

        Raises:
            DeadEnd: none does.
        """
        if self.closers:
            return rule(i)
        outer = self.choices, self.made
        self.choices = []
        try:
            while True:
                self.made = 0
                try:
                    return rule(i)
                except DeadEnd:
                    while self.choices and not self.choices[-1]:
                        self.choices.pop()
                    if not self.choices or self.trials > MAX_TRIALS:
                        raise
                    self.choices[-1] = False
                    self.trials += 1
        finally:
            self.choices, self.made = outer

    def holds(self, rule: Rule, i: int) -> bool:
        try:
            self.attempt(rule, i)
        except DeadEnd:
            return False
        return True

    def firmly(self, rule: Rule, i: int) -> Read:
        """Read by a rule; failing is an error, not the end of the formula."""
        try:
            return self.attempt(rule, i)
        except DeadEnd as error:
            if self.closers:
                raise
            raise LatexError(str(error)) from error

    @abstractmethod
    def expression(self, i: int) -> Read:
        """Summands."""

    @abstractmethod
    def component(self, i: int, *, plain: bool = False, atom: bool = False) -> Read:
        """One piece; `plain`, no function; `atom`, neither a bracket nor bars."""

    @abstractmethod
    def operand_follows(self, i: int) -> bool:
        """Whether an operand begins at i that can be read whole, outside all brackets."""

    @abstractmethod
    def product(self, i: int, *, plain: bool = False) -> Read:
        """Factors with or without signs between them; `plain`, only the first is a function."""

r"""LaTeX read as SymPy 1.12's grammar reads it, for the published OlympiadBench judge.

What it does with unusual text decides verdicts, so its habits are kept, the odd ones too:

- `n(n-1)` is the function `n` applied to `n-1`; `2(n-1)` is a product.
- A product binds closer than a slash: `2/3x` is 2/(3x), `\sin 2x / 3` is sin(2x/3).
- Blanks vanish before digits meet: `3 4` is 34, `1, 234` is 1234.
- A text may end in anything: outside all brackets, reading stops before the first thing that
  cannot be read on, so `2(3` and `2, 3` are 2. Inside brackets the same thing is an error. It is
  an error outside as well once a relation sign, or the beginning of an operand, was taken.

The grammar is ambiguous about bars and integrals. Its generated parser looks as far ahead as it
must and takes the first reading that holds; here such places are choice points, tried in order.
"""

from __future__ import annotations

from functools import partial
from itertools import count

from sero.benchmarks.olympiadbench import official_tokens as lex
from sero.benchmarks.olympiadbench.official_atoms import (
    CALL_STARTS,
    NAMES,
    PLAIN_STARTS,
    STARTS,
)
from sero.benchmarks.olympiadbench.official_calls import Calls
from sero.benchmarks.olympiadbench.official_scan import DeadEnd, Node, Read


def read(text: str) -> Node:
    """The formula at the beginning of a text.

    Raises:
        LatexError: the published parser raises on it.
    """
    return _Reader(text).relation(0)[0]


class _Reader(Calls):
    """The operators, loosest first."""

    def relation(self, i: int) -> Read:
        left, i = self.firmly(self.expression, i)
        while self.kind(i) == lex.RELATION:
            right, j = self.firmly(self.expression, i + 1)
            left, i = Node(kind="relation", text=self.token(i).text, parts=(left, right)), j
        return left, i

    def expression(self, i: int) -> Read:
        left, i = self.product(i)
        for length in count(1):
            self.bounded(length)
            if self.kind(i) not in ("+", "-"):
                break
            if not (self.closers or self.operand_follows(i + 1)):
                break
            right, j = self.firmly(self.product, i + 1)
            left, i = Node(kind="sum", text=self.kind(i), parts=(left, right)), j
        return left, i

    def product(self, i: int, *, plain: bool = False) -> Read:
        def operand(i: int) -> Read:
            return self.signed(i, plain=plain)

        left, i = operand(i)
        for length in count(1):
            self.bounded(length)
            if self.kind(i) not in (lex.MULTIPLY, lex.DIVIDE):
                break
            if not (self.closers or self.operand_follows(i + 1)):
                break
            right, j = self.firmly(operand, i + 1)
            left, i = Node(kind=self.kind(i), parts=(left, right)), j
        return left, i

    def signed(self, i: int, *, plain: bool) -> Read:
        kind = self.kind(i)
        if kind in ("+", "-"):
            node, i = self.signed(i + 1, plain=plain)
            return (Node(kind="minus", parts=(node,)) if kind == "-" else node), i
        return self.factors(i, plain=plain)

    def factors(self, i: int, *, plain: bool) -> Read:
        """Factors without a sign between them; `plain`, only the first may be a function."""
        first, i = self.postfixed(i)
        found = [first]
        starts = PLAIN_STARTS if plain else STARTS

        def factor(i: int) -> Read:
            return self.postfixed(i, plain=plain)

        while self.kind(i) in starts and not self.closes(i):
            if plain and self.only_calls_at(i):
                break
            try:
                node, i = self.attempt(factor, i)
            except DeadEnd:
                if self.closers:
                    raise
                break
            found.append(node)
            self.bounded(len(found))
        return Node(kind="factors", parts=tuple(found)), i

    def closes(self, i: int) -> bool:
        """Whether a sign that could begin a factor rather ends what is open."""
        kind = self.kind(i)
        if kind == "|" and self.awaits("|"):
            return not self.choose()
        if kind == lex.DIFFERENTIAL and self.awaits(lex.DIFFERENTIAL):
            return not self.choose()
        return False

    def postfixed(self, i: int, *, plain: bool = False) -> Read:
        node, i = self.powers(i, plain=plain)
        while True:
            if self.kind(i) == "!":
                node, i = Node(kind="factorial", parts=(node,)), i + 1
            elif self.kind(i) == "|" and self.kind(i + 1) in ("^", "_") and self.kind(i + 2) == "{":
                if self.awaits("|") and not self.choose():
                    return node, i
                try:
                    node, i = self.attempt(partial(self.evaluated, node), i)
                except DeadEnd:
                    if self.closers:
                        raise
                    return node, i
            else:
                return node, i

    def evaluated(self, node: Node, i: int) -> Read:
        """`x^2|^{b}_{a}`, either or both, the upper one first."""
        upper = lower = None
        i += 1
        if self.kind(i) == "^":
            upper, i = self.place(i + 1)
            if self.kind(i) != "_" or not (self.closers or self.holds(self.place, i + 1)):
                return Node(kind="evaluated", parts=(node,), sup=upper), i
        lower, i = self.place(i + 1)
        return Node(kind="evaluated", parts=(node,), sub=lower, sup=upper), i

    def powers(self, i: int, *, plain: bool) -> Read:
        node, i = self.component(i, plain=plain)
        while self.kind(i) == "^" and self.raises(i):
            exponent, i = self.firmly(self.script, i + 1)
            if self.kind(i) == "_":  # read, and then left out
                _, i = self.firmly(self.script, i + 1)
            node = Node(kind="power", parts=(node, exponent))
        return node, i

    def raises(self, i: int) -> bool:
        if self.awaits("limit"):
            sign = i + 2 if self.kind(i + 1) == "{" else i + 1
            return self.kind(sign) not in ("+", "-") or (
                sign == i + 2 and self.kind(sign + 1) != "}"
            )
        if self.closers:
            return True
        kind = self.kind(i + 1)
        if kind in NAMES:
            return True
        return self.holds(self.script, i + 1)

    def component(self, i: int, *, plain: bool = False, atom: bool = False) -> Read:
        token = self.token(i)
        match token.kind:
            case "(" | "[" | "{" | "\\{":
                return self.group(i)
            case "|" | "\\left|":
                return self.barred(i, atom=atom)
            case "langle":
                return self.bra(i)
            case lex.LETTER | lex.COMMAND:
                return self.named(i) if plain else self.name_or_call(i)
            case lex.DIGIT:
                return self.number(i)
            case lex.DIFFERENTIAL:
                return Node(kind="differential", text=token.text), i + 1
            case "mathit":
                return self.mathit(i)
            case "frac":
                return self.fraction(i)
            case "binom":
                upper, i = self.braced(i + 1)
                lower, i = self.braced(i)
                return Node(kind="binom", parts=(upper, lower)), i
            case "lfloor" | "lceil":
                return self.enclosed(token.kind, "r" + token.kind[1:], i)
            case kind if kind in CALL_STARTS and not plain:
                return self.call(kind, i)
            case _:
                raise DeadEnd(f"nothing to read at {token.start}")

    def operand_follows(self, i: int) -> bool:
        """Whether the generated parser commits itself to the operand at i, outside brackets."""
        if i not in self.commits:
            at = i
            while self.kind(at) in ("+", "-"):
                at += 1
            kind = self.kind(at)
            self.commits[i] = kind in NAMES or (kind in STARTS and self.holds(self.component, at))
        return self.commits[i]

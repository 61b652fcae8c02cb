"""The smallest pieces of a formula: brackets, numbers, names and fractions."""

from __future__ import annotations

from sero.benchmarks.olympiadbench import official_tokens as lex
from sero.benchmarks.olympiadbench.official_scan import (
    DeadEnd,
    LatexError,
    Node,
    Read,
    Scanner,
)

CLOSERS = {"(": ")", "[": "]", "{": "}", "\\{": "\\}"}
NAMES = frozenset((lex.LETTER, lex.COMMAND, lex.DIGIT, lex.DIFFERENTIAL))
ATOM_STARTS = NAMES | {"|", "\\left|", "langle", "frac", "binom", "mathit"}
PLAIN_STARTS = ATOM_STARTS | {*CLOSERS, "lfloor", "lceil"}
CALL_STARTS = frozenset((lex.FUNCTION, "int", "sqrt", "overline", "sum", "prod", "lim"))
STARTS = PLAIN_STARTS | CALL_STARTS


class Atoms(Scanner):
    """Rules that read one piece."""

    def group(self, i: int) -> Read:
        closer = CLOSERS[self.kind(i)]
        with self.until(closer):
            node, i = self.expression(i + 1)
            return node, self.expect(closer, i)

    def braced(self, i: int) -> Read:
        self.expect("{", i)
        return self.group(i)

    def enclosed(self, kind: str, closer: str, i: int) -> Read:
        with self.until(closer):
            node, i = self.expression(i + 1)
            return Node(kind=kind, parts=(node,)), self.expect(closer, i)

    def barred(self, i: int, *, atom: bool) -> Read:
        """`|x|`, or the ket `|x>`."""
        absolute = self.kind(i) == "|" and not atom
        with self.until("|" if absolute else "rangle"):
            node, i = self.expression(i + 1)
            if absolute and self.kind(i) == "|":
                return Node(kind="abs", parts=(node,)), i + 1
            return Node(kind="ket", parts=(node,)), self.expect("rangle", i)

    def bra(self, i: int) -> Read:
        with self.until("|"):
            node, i = self.expression(i + 1)
            if self.kind(i) == "\\right|":
                return Node(kind="bra", parts=(node,)), i + 1
            return Node(kind="bra", parts=(node,)), self.expect("|", i)

    def number(self, i: int, *, shared: bool = False) -> Read:
        """`12,345.67`; `shared`, its last digits may be what follows: `\\sin^2 3`."""
        first = i
        i += 1
        while self.kind(i) == lex.DIGIT:
            if shared and not self.choose():
                return self.digits(first, i)
            i += 1
        group = first + 1  # where it ends if the point below is no decimal point
        while self.kind(i) == "," and i not in self.split_at:
            if not all(self.kind(i + k) == lex.DIGIT for k in (1, 2, 3)):
                break
            group = i
            i += 4
        if self.kind(i) != ".":
            return self.digits(first, i)
        if self.kind(i + 1) != lex.DIGIT:
            if self.closers or self.kind(first + 1) not in (lex.DIGIT, ","):
                raise DeadEnd(f"no digit at {self.token(i + 1).start}")
            return self.digits(first, group)
        point = i
        while self.kind(i + 1) == lex.DIGIT:
            i += 1
        if self.kind(i + 1) == "." and i > point + 1:
            i -= 1  # the digit before a second point begins another number
        return self.digits(first, i + 1)

    def digits(self, first: int, end: int) -> Read:
        text = "".join(self.token(i).text for i in range(first, end)).replace(",", "")
        return Node(kind="number", text=text), end

    def named(self, i: int) -> Read:
        """A letter or a command with its subscript and quotes, in either order."""
        token = self.token(i)
        i += 1
        sub: Node | None = None
        quotes = ""
        if self.kind(i) == "_":
            sub, i = self.script(i + 1)
        if self.kind(i) == "quotes":
            quotes = self.token(i).text
            i += 1
            if sub is None and self.kind(i) == "_":
                sub, i = self.script(i + 1)
        return Node(kind=token.kind, text=token.text, mark=quotes, sub=sub), i

    def name_or_call(self, i: int) -> Read:
        name, i = self.named(i)
        if self.kind(i) != "(":
            return name, i
        if not (self.closers or self.choose()):
            if i in self.only_calls:
                raise LatexError(f"no arguments at {self.token(i).start}")
            return name, i
        parts, end = self.arguments(i)
        return Node(kind="call", text=name.text, mark=name.mark, sub=name.sub, parts=parts), end

    def arguments(self, i: int) -> tuple[tuple[Node, ...], int]:
        """Arguments in parentheses. A comma that could belong to the last number separates."""
        found: list[Node] = []
        opened = i
        with self.until(")"):
            while True:
                node, j = self.argument(i + 1)
                found.append(node)
                if self.kind(j) != ",":
                    return tuple(found), self.expect(")", j)
                if self.separates(j):
                    self.only_calls.add(opened)
                i = j

    def argument(self, i: int) -> Read:
        node, j = self.expression(i)
        comma = self.last_comma(i, j) if self.kind(j) != "," else None
        if comma is None:
            return node, j
        self.split_at.add(comma)
        try:
            return self.expression(i)
        finally:
            self.split_at.discard(comma)

    def only_calls_at(self, i: int) -> bool:
        """Whether a name stands before parentheses that can hold nothing but arguments."""
        if self.kind(i) not in (lex.LETTER, lex.COMMAND):
            return False
        if i not in self.calls:
            closers, self.closers = self.closers, []
            opened = i
            try:
                opened = self.named(i)[1]
                if self.kind(opened) == "(":
                    self.attempt(lambda at: (Node(kind=""), self.arguments(at)[1]), opened)
            except DeadEnd:
                pass  # and still the comma may have been met
            finally:
                self.closers = closers
            self.calls[i] = opened in self.only_calls
        return self.calls[i]

    def separates(self, comma: int) -> bool:
        """Whether no number goes on after a comma, and arguments do."""
        after = comma + 1
        if self.kind(comma - 1) != lex.DIGIT:
            return True
        while self.kind(after) == lex.DIGIT and after < comma + 4:
            after += 1
        if after == comma + 4:
            return False
        kind = self.kind(after)
        if after > comma + 1 and kind in (")", ",", ".", "^", "!", lex.MULTIPLY, lex.DIVIDE):
            return True
        return kind in STARTS or kind in ("+", "-")

    def last_comma(self, i: int, j: int) -> int | None:
        """The last comma between two positions outside all brackets."""
        depth = 0
        found = None
        for k in range(i, j):
            kind = self.kind(k)
            depth += (kind in CLOSERS) - (kind in CLOSERS.values())
            if kind == "," and depth == 0:
                found = k
        return found

    def mathit(self, i: int) -> Read:
        i = self.expect("{", i + 1)
        start = i
        while self.kind(i) == lex.LETTER:
            i += 1
        end = self.expect("}", i)
        text = self.text[self.token(start).start : self.token(i - 1).stop] if i > start else ""
        return Node(kind="mathit", text=text), end

    def fraction(self, i: int) -> Read:
        upper, upper_at, i = self.fraction_part(i + 1)
        lower, lower_at, i = self.fraction_part(i)
        plain = Node(kind="frac", parts=(upper, lower))
        if not upper_at or not lower_at:
            return plain, i
        above, below = self.tokens[slice(*upper_at)], self.tokens[slice(*lower_at)]
        kinds = [t.kind for t in below]
        if kinds == [lex.DIFFERENTIAL]:
            wrt, sign = below[0].text, "d"
        elif kinds in ([lex.COMMAND, lex.LETTER], [lex.COMMAND, lex.COMMAND]) and (
            below[0].text == "partial"
        ):
            wrt, sign = below[1].text, "\\partial"
        else:
            return plain, i
        source = self.text[above[0].start : above[-1].stop]
        if [(t.kind, t.text) for t in above] in ([(lex.LETTER, sign)], [(lex.COMMAND, sign[1:])]):
            return Node(kind="d/dx", mark=wrt), i
        if source.startswith("d") if sign == "d" else above[0].text == "partial":
            again = source[len(sign) :]
            return Node(kind="derivative", parts=(plain,), text=again, mark=wrt), i
        return plain, i

    def fraction_part(self, i: int) -> tuple[Node, tuple[int, int] | None, int]:
        """Half of a fraction; where its tokens stand if it is braced, and the next position."""
        if self.kind(i) == lex.DIGIT:
            return Node(kind="number", text=self.token(i).text), None, i + 1
        node, j = self.braced(i)
        return node, (i + 1, j - 1), j

    def script(self, i: int, *, shared: bool = False) -> Read:
        """What stands after `^` or `_`: an atom, or anything in braces."""
        if self.kind(i) == "{":
            return self.group(i)
        if self.kind(i) == lex.DIGIT:
            return self.number(i, shared=shared)
        if self.kind(i) in ATOM_STARTS:
            return self.component(i, plain=True, atom=True)
        raise DeadEnd(f"no script at {self.token(i).start}")

    def place(self, i: int) -> Read:
        """`{3}` or `{x = 3}`."""
        i = self.expect("{", i)
        with self.until("}"):
            node, i = self.expression(i)
            if self.kind(i) == lex.RELATION and self.token(i).text == "=":
                right, i = self.expression(i + 1)
                node = Node(kind="relation", text="=", parts=(node, right))
            return node, self.expect("}", i)

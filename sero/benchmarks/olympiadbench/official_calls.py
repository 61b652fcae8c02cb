"""What is called by a name of its own: roots, functions, sums, limits and integrals."""

from __future__ import annotations

from sero.benchmarks.olympiadbench import official_tokens as lex
from sero.benchmarks.olympiadbench.official_atoms import Atoms
from sero.benchmarks.olympiadbench.official_scan import DeadEnd, Node, Read


class Calls(Atoms):
    """Rules that read a command and what it applies to."""

    def call(self, kind: str, i: int) -> Read:
        match kind:
            case "sqrt":
                return self.root(i + 1)
            case "overline":
                node, i = self.braced(i + 1)
                return Node(kind="overline", parts=(node,)), i
            case "sum" | "prod":
                return self.series(kind, i + 1)
            case "lim":
                return self.limit(i + 1)
            case "int":
                return self.integral(i + 1)
            case _:
                return self.function(i)

    def root(self, i: int) -> Read:
        if self.kind(i) != "[":
            base, i = self.braced(i)
            return Node(kind="sqrt", parts=(base,)), i
        order, i = self.group(i)
        base, i = self.braced(i)
        return Node(kind="root", parts=(base, order)), i

    def function(self, i: int) -> Read:
        r"""`\sin^2 x`: its argument in parentheses, or all factors up to the next function."""
        name = self.token(i).text
        sub: Node | None = None
        sup: Node | None = None
        i += 1
        for _ in range(2):
            if self.kind(i) == "_" and sub is None:
                sub, i = self.script(i + 1, shared=True)
            elif self.kind(i) == "^" and sup is None:
                sup, i = self.script(i + 1, shared=True)
        if self.kind(i) == "(" and self.choose():
            with self.until(")"):
                node, j = self.expression(i + 1)
                k = j
                while self.kind(k) == ",":  # all but the first are dropped
                    _, k = self.expression(k + 1)
                end = self.expect(")", k)
        elif self.closers or self.operand_follows(i):
            node, end = self.firmly(lambda at: self.product(at, plain=True), i)
        else:
            raise DeadEnd("a function of nothing")
        return Node(kind=lex.FUNCTION, text=name, parts=(node,), sub=sub, sup=sup), end

    def series(self, kind: str, i: int) -> Read:
        if self.kind(i) == "_":
            start, i = self.place(i + 1)
            end, i = self.script(self.expect("^", i), shared=True)
        else:
            end, i = self.script(self.expect("^", i), shared=True)
            start, i = self.place(self.expect("_", i))
        if start.kind != "relation":
            raise DeadEnd("a series without a start")
        body, i = self.product(i)
        return Node(kind="series", text=kind, parts=(*start.parts, end, body)), i

    def limit(self, i: int) -> Read:
        i = self.expect("{", self.expect("_", i))
        if self.kind(i) not in (lex.LETTER, lex.COMMAND):
            raise DeadEnd("a limit without a variable")
        name = self.token(i).text
        direction = "+-"
        with self.until("limit"):
            target, i = self.expression(self.expect("to", i + 1))
            if self.kind(i) == "^":
                braced = self.kind(i + 1) == "{"
                i += 2 if braced else 1
                direction = self.kind(i)
                if direction not in ("+", "-"):
                    raise DeadEnd("a limit from nowhere")
                i = self.expect("}", i + 1) if braced else i + 1
            i = self.expect("}", i)
        body, i = self.product(i)
        return Node(kind="lim", parts=(target, body), text=name, mark=direction), i

    def integral(self, i: int) -> Read:
        lower: Node | None = None
        upper: Node | None = None
        if self.kind(i) == "_":
            lower, i = self.script(i + 1, shared=True)
            upper, i = self.script(self.expect("^", i), shared=True)
        elif self.kind(i) == "^":
            upper, i = self.script(i + 1, shared=True)
            lower, i = self.script(self.expect("_", i), shared=True)
        if self.choose():
            with self.until(lex.DIFFERENTIAL):
                parts: tuple[Node, ...] = ()
                if self.kind(i) != lex.DIFFERENTIAL or self.choose():
                    node, i = self.expression(i)
                    parts = (node,)
                end = self.expect(lex.DIFFERENTIAL, i)
            mark = self.token(i).text
            return Node(kind="int", parts=parts, mark=mark, sub=lower, sup=upper), end
        if self.kind(i) == "frac":
            node, i = self.fraction(i)
        else:
            node, i = self.expression(i)
        return Node(kind="int", parts=(node,), sub=lower, sup=upper), i

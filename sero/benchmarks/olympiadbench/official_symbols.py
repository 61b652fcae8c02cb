"""What was read, as the SymPy expressions that the published OlympiadBench judge compares.

Only worker processes import this. Expressions are built unevaluated where SymPy's own LaTeX reader
builds them so, because the judge's `==` and `simplify` see the difference. Letters and commands
are symbols by name: `pi`, `e` and `i` are no constants, only `infty` is.
"""

from __future__ import annotations

from typing import Any

import sympy
from sympy.printing.str import StrPrinter

from sero.benchmarks.olympiadbench.official_latex import read
from sero.benchmarks.olympiadbench.official_scan import LatexError, Node

_RELATIONS = {
    "=": sympy.Eq,
    "!=": sympy.Ne,
    "<": sympy.StrictLessThan,
    "<=": sympy.LessThan,
    ">": sympy.StrictGreaterThan,
    ">=": sympy.GreaterThan,
}
_INVERTIBLE = ("sin", "cos", "tan", "csc", "sec", "cot", "sinh", "cosh", "tanh")


def parse(text: str) -> Any:
    """The expression at the beginning of a text.

    Raises:
        LatexError: it cannot be read.
        TypeError, ValueError, RecursionError: SymPy cannot build it, as in `x < y < z`.
    """
    return build(read(text))


def build(node: Node) -> Any:
    match node.kind:
        case "relation":
            left, right = map(build, node.parts)
            return _RELATIONS[node.text](left, right)
        case "sum":
            return _sum(build(node.parts[0]), build(node.parts[1]), node.text)
        case "multiply":
            return sympy.Mul(build(node.parts[0]), build(node.parts[1]), evaluate=False)
        case "divide":
            left, right = map(build, node.parts)
            return sympy.Mul(left, _inverse(right), evaluate=False)
        case "minus":
            return -build(node.parts[0])
        case "factors":
            return _product([build(part) for part in node.parts], 0)
        case "power":
            base = build(node.parts[0])
            if isinstance(base, list):
                raise LatexError("a derivative is raised to a power")
            return sympy.Pow(base, build(node.parts[1]), evaluate=False)
        case "factorial":
            value = build(node.parts[0])
            if isinstance(value, list):
                raise LatexError("the factorial of a derivative")
            return sympy.factorial(value, evaluate=False)
        case "number":
            return _number(node.text)
        case "letter":
            return sympy.Symbol(_name(node) + node.mark)
        case "command":
            return sympy.oo if node.text == "infty" else sympy.Symbol(_name(node))
        case "call":
            return sympy.Function(_name(node) + node.mark)(*map(build, node.parts))
        case "differential":
            return sympy.Symbol("d" + node.text)
        case "mathit":
            return sympy.Symbol(node.text)
        case "function":
            return _function(node)
        case _:
            return _construct(node)


def _construct(node: Node) -> Any:
    kind = node.kind
    if kind == "evaluated":
        return _evaluated(node)
    if kind == "d/dx":
        return [sympy.Symbol(node.mark)]
    if kind == "derivative":
        above = parse(node.text)
        if above:
            return sympy.Derivative(above, sympy.Symbol(node.mark))
        return build(node.parts[0])
    if kind == "int":
        return _integral(node)
    parts = [build(part) for part in node.parts]
    match kind:
        case "abs":
            return sympy.Abs(*parts, evaluate=False)
        case "frac":
            over = _inverse(parts[1])
            return over if _is(parts[0], 1) else sympy.Mul(parts[0], over, evaluate=False)
        case "binom":
            return sympy.binomial(*parts, evaluate=False)
        case "lfloor":
            return sympy.floor(*parts, evaluate=False)
        case "lceil":
            return sympy.ceiling(*parts, evaluate=False)
        case "bra" | "ket":
            return _state(kind, *parts)
        case "sqrt":
            return sympy.sqrt(*parts, evaluate=False)
        case "root":
            return sympy.root(*parts, evaluate=False)
        case "overline":
            return sympy.conjugate(*parts, evaluate=False)
        case "series":
            variable, start, end, body = parts
            series = sympy.Sum if node.text == "sum" else sympy.Product
            return series(body, (variable, start, end))
        case "lim":
            target, body = parts
            return sympy.Limit(body, sympy.Symbol(node.text), target, node.mark)
        case _:
            raise AssertionError(f"no expression for {kind!r}")


def _state(kind: str, label: Any) -> Any:
    # Slow to import, and hardly an answer: what looks like a state is a stray bracket.
    from sympy.physics.quantum.state import Bra, Ket

    return Bra(label) if kind == "bra" else Ket(label)


def _number(text: str) -> Any:
    if "." in text:
        return sympy.Float(text)
    value = int(text)
    if value and text[0] == "0":  # the published code hands the digits to Python, which objects
        raise LatexError("a number with a leading zero")
    return sympy.Integer(value)


def _name(node: Node) -> str:
    if node.sub is None:
        return node.text
    return f"{node.text}_{{{StrPrinter().doprint(build(node.sub))}}}"


def _is(value: Any, number: int) -> bool:
    """Whether a value is a number, `1.0` being 1 as it was until SymPy 1.13."""
    return bool(value == number or (isinstance(value, sympy.Float) and float(value) == number))


def _inverse(value: Any) -> Any:
    return sympy.Pow(value, -1, evaluate=False)


def _sum(left: Any, right: Any, sign: str) -> Any:
    if sign == "-":
        atom = getattr(right, "is_Atom", False)
        right = -1 * right if atom else sympy.Mul(-1, right, evaluate=False)
    return sympy.Add(left, right, evaluate=False)


def _product(factors: list[Any], i: int) -> Any:
    """The product from factor i on, nested to the right.

    A factor `x` between two factors without symbols is a multiplication sign: `2 x 3` is 6. An
    operator d/dx takes all that follows it.
    """
    factor = factors[i]
    last = i == len(factors) - 1
    if isinstance(factor, list):
        if last:
            raise LatexError("a derivative of nothing")
        return sympy.Derivative(_product(factors, i + 1), factor[0])
    if last:
        return factor
    if i > 0 and str(factor) == "x":
        around = (factors[i - 1], factors[i + 1])
        if all(isinstance(f, sympy.Expr) and not f.atoms(sympy.Symbol) for f in around):
            return _product(factors, i + 1)
    return sympy.Mul(factor, _product(factors, i + 1), evaluate=False)


def _function(node: Node) -> Any:
    name = node.text
    argument = build(node.parts[0])
    base = build(node.sub) if node.sub is not None else None
    power = build(node.sup) if node.sup is not None else None
    if name in ("log", "lg", "ln"):
        if base is None:
            base = 10 if name == "lg" else sympy.E
        value = sympy.log(argument, base, evaluate=False)
    else:
        if name in _INVERTIBLE and _is(power, -1):
            name, power = "a" + name, None
        elif name.startswith("ar"):  # arcsin is asin, arsinh is asinh
            name = "a" + name.removeprefix("arc").removeprefix("ar")
        value = getattr(sympy, name)(argument, evaluate=False)
    return sympy.Pow(value, power, evaluate=False) if power else value


def _evaluated(node: Node) -> Any:
    value = build(node.parts[0])
    upper = _substituted(value, node.sup) if node.sup is not None else None
    lower = _substituted(value, node.sub) if node.sub is not None else None
    if upper is not None and lower is not None:
        return sympy.Add(upper, -1 * lower, evaluate=False)
    return lower if upper is None else upper


def _substituted(value: Any, place: Node) -> Any:
    if place.kind == "relation":
        left, right = map(build, place.parts)
        return value.subs(left, right)
    at = build(place)
    symbols = at.atoms(sympy.Symbol)
    return value.subs(next(iter(symbols)), at) if symbols else value


def _integral(node: Node) -> Any:
    body: Any = build(node.parts[0]) if node.parts else 1
    variable: Any = None
    if node.mark:
        variable = sympy.Symbol(node.mark)
    else:
        for symbol in body.atoms(sympy.Symbol):
            name = str(symbol)
            if len(name) > 1 and name[0] == "d":
                variable, marker = sympy.Symbol(name[1:]), symbol
        if variable is None:
            variable = sympy.Symbol("x")
        else:
            body = body.subs(marker, 1)
    if node.sub is None or node.sup is None:
        return sympy.Integral(body, variable)
    return sympy.Integral(body, (variable, build(node.sub), build(node.sup)))

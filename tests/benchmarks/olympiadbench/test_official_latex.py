"""How LaTeX is read. Expected readings were taken from SymPy 1.12's own parser (antlr4 4.11.1)."""

import contextlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.benchmarks.olympiadbench.official_latex import read
from sero.benchmarks.olympiadbench.official_scan import LatexError, Node

SIGNS = {"multiply": "*", "divide": "/", "power": "^", "minus": "-", "factorial": "!"}


def shown(node: Node) -> str:
    """A reading as a Lisp-like line; a single factor is shown as itself."""
    name = node.text + (f"_{{{shown(node.sub)}}}" if node.sub else "")
    name += node.mark if node.kind in ("letter", "call", "command") else ""
    name += f"^{{{shown(node.sup)}}}" if node.sup else ""
    parts = [shown(part) for part in node.parts]
    match node.kind:
        case "number" | "letter" | "mathit":
            return name
        case "command":
            return "\\" + name
        case "differential":
            return "d" + name
        case "factors":
            return parts[0] if len(parts) == 1 else f"({' '.join(parts)})"
        case "call" | "function":
            return f"{name}({', '.join(parts)})"
        case kind:
            head = SIGNS.get(kind, name if kind in ("sum", "relation") else kind)
            words = [head, *parts, node.mark]
            return f"({' '.join(word for word in words if word)})"


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        # Names, and what stands before a parenthesis.
        ("n(n-1)", "n((- n 1))"),
        ("2(n-1)", "(2 (- n 1))"),
        ("\\pi(x)", "pi(x)"),
        ("f_1'(x, y)", "f_{1}'(x, y)"),
        ("x''_1", "x_{1}''"),
        ("x_12", "x_{12}"),
        ("x_{a+b}", "x_{(+ a b)}"),
        ("\\alpha'", "\\alpha'"),
        ("d(x)", "d(x)"),
        ("add", "(a dd)"),
        ("3 d x", "(3 dx)"),
        ("\\mathit{ab}", "ab"),
        ("\\text{ab} c", "(\\text (a b) c)"),
        # Numbers: blanks vanish, groups of three after a comma belong to them.
        ("3 4", "34"),
        ("1\\,000", "1000"),
        ("1, 234.5", "1234.5"),
        ("1,2345", "(1234 5)"),
        ("12,34", "12"),
        ("f(1,234)", "f(1, 234)"),
        ("f(1,234,5)", "f(1234, 5)"),
        ("f(1,234+x)", "f(1, (+ 234 x))"),
        ("\\sin(1,234)", "sin(1234)"),
        # Numbers before a point that is no decimal point.
        ("345.", "(3 4)"),
        ("12,345.", "12"),
        ("3.145.", "3.14"),
        ("1.25.3", "(1.2 5.3)"),
        ("x3.", "x"),
        # Operators.
        ("a/b/c", "(/ (/ a b) c)"),
        ("2/3x", "(/ 2 (3 x))"),
        ("a:b \\div c", "(/ (/ a b) c)"),
        ("2 \\times 3 \\cdot x * y", "(* (* (* 2 3) x) y)"),
        ("a-b-c", "(- (- a b) c)"),
        ("2--3", "(- 2 (- 3))"),
        ("-+2", "(- 2)"),
        ("-x^2", "(- (^ x 2))"),
        ("2^10", "(^ 2 10)"),
        ("x^23y", "((^ x 23) y)"),
        ("x^2^3", "(^ (^ x 2) 3)"),
        ("x^\\frac12", "(^ x (frac 1 2))"),
        ("x^2_3", "(^ x 2)"),
        ("2^2!!", "(! (! (^ 2 2)))"),
        ("x = y \\leqslant z", "(<= (= x y) z)"),
        ("x &= y", "(= x y)"),
        ("a \\neq b", "(!= a b)"),
        ("a \\ne b", "(a \\ne b)"),
        # Fractions, roots, brackets.
        ("\\frac12 3", "((frac 1 2) 3)"),
        ("\\tfrac{1}23", "((frac 1 2) 3)"),
        ("\\cfrac{1}{2}", "(\\cfrac 1 2)"),
        ("\\dbinom{2n}{n}", "(binom (2 n) n)"),
        ("\\sqrt[3]{2}x", "((root 2 3) x)"),
        ("[x] \\{y\\} {z}", "(x y z)"),
        ("\\lfloor x \\rfloor \\lceil y \\rceil", "((lfloor x) (lceil y))"),
        ("\\overline{AB}", "(overline (A B))"),
        ("\\frac{dy}{dx}", "(derivative (frac dy dx) x)"),
        ("\\frac{d}{d\\theta} y", "((d/dx theta) y)"),
        ("\\frac{\\partial f}{\\partial x}", "(derivative (frac (\\partial f) (\\partial x)) x)"),
        # Functions take factors up to the next function, or one parenthesis.
        ("\\sin 2x \\cos y", "(sin((2 x)) cos(y))"),
        ("\\sin(x)y", "(sin(x) y)"),
        ("\\sin{x}y", "sin((x y))"),
        ("\\sin x \\cdot y / 2", "sin((/ (* x y) 2))"),
        ("\\sin 2f(x)", "sin((2 f x))"),
        ("\\sin f(x)", "sin(f(x))"),
        ("\\sin x + 1", "(+ sin(x) 1)"),
        ("\\sin^2 3", "sin^{2}(3)"),
        ("\\log_2 8", "log_{2}(8)"),
        ("\\log_10 100", "log_{1010}(0)"),
        ("\\sin(1,2)", "sin(1)"),
        # Sums, limits, integrals.
        ("\\sum_{i=1}^3 4", "(series i 1 3 4)"),
        ("\\prod^{n}_{i=1} i + 1", "(+ (series i 1 n i) 1)"),
        ("\\lim_{x\\to 0^+} x", "(lim 0 x +)"),
        ("\\lim_{x\\to 0^2} x", "(lim (^ 0 2) x +-)"),
        ("\\int_0^12 dx", "(int x)"),
        ("\\int x dx + 5", "(+ (int x x) 5)"),
        ("\\int x dx dy", "(int (x dx) y)"),
        ("\\int \\frac{1}{x} y", "((int (frac 1 x)) y)"),
        # Bars: the first reading that holds.
        ("|x|+|y|", "(+ (abs x) (abs y))"),
        ("|x|y|z|", "(abs (x (abs y) z))"),
        ("|x|y|", "((abs x) y)"),
        ("||x|-|y||", "(abs (- (abs x) (abs y)))"),
        ("|x|^{2}+|y|^{2}", "(+ (^ (abs x) 2) (^ (abs y) 2))"),
        ("x|_{y=1}", "(evaluated x)"),
        ("\\langle x|y", "((bra x) y)"),
        ("|x\\rangle", "(ket x)"),
        # The end: before the first thing that cannot be read on.
        ("2)", "2"),
        ("2(3", "2"),
        ("n(n-1", "n"),
        ("2^{3", "2"),
        ("2+", "2"),
        ("2+(3", "2"),
        ("2\\sin", "2"),
        ("2x_", "2"),
        ("x!^2", "(! x)"),
        ("2|3", "2"),
        ("x \\to y", "x"),
        ("x=2(3", "(= x 2)"),
        ("2 ) \\%", "2"),
    ],
)
def test_readings(text, reading):
    assert shown(read(text)) == reading


@pytest.mark.parametrize(
    "text",
    [
        *("", "-", "()", "{}", "=3", "x=", "x=(3", "x<", "\\cdot 2"),
        *("(2", "[x)", "(1,2)", "\\frac{1}{2", "\\lfloor x", "\\{x"),
        *("\\sqrt2", "\\sqrt[3]8", "\\frac x2", "\\binom 2 1", "\\overline x", "\\lim x"),
        *("2.", "x+3.", "\\sin 3.", ".5", "x_", "2+x_", "x^2_", "\\sin_", "x_(1)"),
        *("50\\%", "a~b", "a;b", "a\\\\b", "\\(x\\)", "2 @", "2 (3 @", "1 , @", "5\u00d76", "\x00"),
        *("f(1,x", "2f(1,x", "\\max(a,b", "\\sum_{i}^{n} i", "\\int", "\\mathit{a1}"),
    ],
)
def test_texts_on_which_it_raises(text):
    with pytest.raises(LatexError):
        read(text)


@pytest.mark.parametrize(("opening", "closing"), [("(", ")"), ("{", "}"), ("\\sqrt{", "}")])
def test_nesting_ends_where_the_published_parser_runs_out_of_stack(opening, closing):
    assert read(opening * 60 + "x" + closing * 60)
    with pytest.raises(LatexError, match="too deeply"):
        read(opening * 61 + "x" + closing * 61)


@pytest.mark.parametrize(
    "text",
    [
        *("x" * 100_000, "+x" * 50_000, "x*" * 50_000, "1" * 100_000, "-" * 900 + "x"),
        *("f(" * 50_000, "{" * 100_000, "(" * 50, "|" * 100_000, "|x" * 50_000, "|x|" * 30),
        *("\\sin " * 100, "2+\\sum_{i=1}^{n} 2\\cdot " * 30, "'" * 100_000, "@" * 100_000),
    ],
)
def test_any_length_is_read_or_refused_soon(text):
    start = time.monotonic()
    with contextlib.suppress(LatexError, RecursionError):
        read(text)
    assert time.monotonic() - start < 5


PIECES = [
    *("1", "2.5", "x", "n", "d", "\\pi", "+", "-", "*", "/", "^", "_", "=", "<", ",", ".", "!"),
    *("(", ")", "{", "}", "[", "]", "|", "'", " ", "@", "\\frac", "\\sqrt", "\\sin", "\\log"),
    *("\\sum", "\\int", "\\lim", "\\to", "\\binom", "\\langle", "\\rangle", "\\mathit", "dx"),
]


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_every_text_has_a_reading_or_a_fault(text):
    try:
        node = read(text)
    except LatexError:
        return
    assert shown(node)


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=30))
def test_so_has_arbitrary_text(text):
    try:
        read(text)
    except LatexError:
        return

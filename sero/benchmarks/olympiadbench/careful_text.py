"""One spelling for the many that LaTeX, Unicode and plain text have for the same mathematics.

String work only, linear in the text. `plain` keeps the structure that a reader needs, `tidy`
also drops blanks and needless braces, so that equal tidy texts are equal answers. Nothing here
changes what is said: a percent mark stays, an inequality stays, a word stays.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from sero.benchmarks.normalise import plain_typography
from sero.benchmarks.olympiadbench.careful_edges import without_end_marks
from sero.benchmarks.olympiadbench.careful_idioms import joined, respelt, unwrapped
from sero.benchmarks.olympiadbench.careful_unicode import TO_LATEX

AND, OR = "∧", "∨"
"""What the words *and* and *or* become."""

EQUALS = frozenset({"=", "\\approx"})
INEQUALITIES = frozenset({"<", ">", "\\le", "\\ge", "\\ne"})
RELATIONS = EQUALS | INEQUALITIES

THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d.]|,\d)")
"""Digits that commas may group: `12,345`."""

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_SUPERSCRIPT_RUN = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+")
_SUBSCRIPT_RUN = re.compile("[₀₁₂₃₄₅₆₇₈₉]+")
_NOTHING = (
    "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr displaystyle "
    "textstyle limits nolimits middle boxed fbox rm bf it quad qquad enspace thinspace medspace "
    "thickspace hfill boldmath underline tiny scriptsize footnotesize small normalsize large Large "
    "LARGE huge Huge ensuremath checkmark blacksquare square qed"
)
_WRAPPERS = (
    "mathrm mathbf mathit mathsf mathtt mathnormal textbf textit textrm textsf textnormal mbox "
    "si unit boldsymbol bm bold operatorname emph textup pmb"
)
_SAME_COMMAND = {
    **dict.fromkeys(["dfrac", "tfrac", "cfrac", "nicefrac", "sfrac", "flatfrac"], "\\frac"),
    **dict.fromkeys(["dbinom", "tbinom"], "\\binom"),
    **dict.fromkeys(["leq", "leqslant", "leqq"], "\\le"),
    **dict.fromkeys(["geq", "geqslant", "geqq"], "\\ge"),
    **dict.fromkeys(["neq"], "\\ne"),
    **dict.fromkeys(["sim", "simeq", "thickapprox", "doteq", "cong"], "\\approx"),
    **dict.fromkeys(["lt"], "<"),
    **dict.fromkeys(["gt"], ">"),
    **dict.fromkeys(["cdot", "times", "ast"], "*"),
    **dict.fromkeys(["div", "slash"], "/"),
    **dict.fromkeys(["colon"], ":"),
    **dict.fromkeys(["land", "wedge"], AND),
    **dict.fromkeys(["lor", "vee"], OR),
    **dict.fromkeys(["lvert", "rvert", "vert", "mid"], "|"),
    **dict.fromkeys(["lbrace"], "\\{"),
    **dict.fromkeys(["rbrace"], "\\}"),
    **dict.fromkeys(["lbrack"], "["),
    **dict.fromkeys(["rbrack"], "]"),
    **dict.fromkeys(["langle"], "("),
    **dict.fromkeys(["rangle"], ")"),
    **dict.fromkeys(["lparen"], "("),
    **dict.fromkeys(["rparen"], ")"),
    **dict.fromkeys(["backslash", "smallsetminus"], "\\setminus"),
    **dict.fromkeys(["bigcup", "sqcup"], "\\cup"),
    **dict.fromkeys(["bigcap"], "\\cap"),
    **dict.fromkeys(["varnothing"], "\\emptyset"),
    **dict.fromkeys(["varepsilon"], "\\epsilon"),
    **dict.fromkeys(["varphi"], "\\phi"),
    **dict.fromkeys(["vartheta"], "\\theta"),
    **dict.fromkeys(["varrho"], "\\rho"),
    **dict.fromkeys(["ell"], "l"),
    **dict.fromkeys(["degree", "textdegree"], "°"),
    **dict.fromkeys(["uppi"], "\\pi"),
    **dict.fromkeys(["bmod", "mod"], "\\pmod"),
    **dict.fromkeys(["surd"], "\\sqrt"),
    **dict.fromkeys(["imath"], "i"),
    **dict.fromkeys(["prime"], "'"),
    **dict.fromkeys(["dots", "cdots", "dotsc", "dotsb"], "\\ldots"),
    **dict.fromkeys(["R", "Reals", "reals"], "\\mathbb{R}"),
    **dict.fromkeys(["Z"], "\\mathbb{Z}"),
    **dict.fromkeys(["N"], "\\mathbb{N}"),
    **dict.fromkeys(["Q"], "\\mathbb{Q}"),
    **dict.fromkeys(_NOTHING.split(), " "),
    **dict.fromkeys(_WRAPPERS.split(), "\\text"),
}
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?|\\(.)", re.DOTALL)
_ESCAPED = {
    **dict.fromkeys(",;:!> \n\t/-()[]", " "),
    "$": " ",
    "%": "%",
    "#": "#",
    "&": "&",
    "_": "_",
    "|": "|",
    "\\": ";",
}
_TEXT = re.compile(r"\\text\s*\{([^{}]*)\}")
_LETTER = re.compile(r"[A-Za-z\\]")
_CIRCLE = r"(?:\\circ(?![A-Za-z])|°)"
_DEGREES = re.compile(rf"\^ *(?:\{{ *{_CIRCLE} *\}}|{_CIRCLE})")
_PRIMES = re.compile(r"\^ *(?:\{ *)?('+)(?: *\})?")
_EMPTY_BASE = re.compile(r"\{ *\}(?=[°^_])")
_WORDS = (
    (re.compile(r"(?<![A-Za-z\\])(?:[Aa]nd|AND|&)(?![A-Za-z])"), AND),
    (re.compile(r"(?<![A-Za-z\\])(?:[Oo]r|OR)(?![A-Za-z])"), OR),
    (re.compile(r"(?<![A-Za-z\\])(?:percent|per cent)(?![A-Za-z])"), "%"),
    (re.compile(r"(?<![A-Za-z\\])(?:degrees?|deg)(?![A-Za-z])"), "°"),
    (re.compile(r"(?<![A-Za-z\\])(?:infinity|infty|inf)(?![A-Za-z])"), "\\\\infty "),
)
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:(?:\{,\}|\\[,;: !]|~| )\d{3})+(?![\d,])")
_GROUPING = re.compile(r"\{,\}|\\[,;: !]|~| ")
_BRACED_COMMA = re.compile(r"(?<=\d)\{,\}(?=\d{3})")
_COLOUR = re.compile(r"\\(?:text)?color ?\{[a-z]{1,20}\}")
_LAYOUT = re.compile(
    r"\\begin ?\{(aligned|align|split|gathered|gather|equation)(\*?)\}(.*?)\\end ?\{\1\2\}",
    re.DOTALL,
)
_TAB = re.compile(r"(?<!\\)&")
_EMPTY_SCRIPT = re.compile(r"[\^_] ?\{ *\}")
_POWER = re.compile(r"(?<=[\w)}\]])\*\*(?=[\w({\\-])")
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f]+")
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
_LAYERS = 8
_OPEN = frozenset({"(", "[", "{", "\\{", "\\lfloor", "\\lceil"})
_CLOSE = frozenset({")", "]", "}", "\\}", "\\rfloor", "\\rceil"})


def plain(text: str) -> str:
    """The text in one spelling; brackets, braces, words and marks keep their places."""
    text = respelt(text)
    text = _SUPERSCRIPT_RUN.sub(lambda m: "^{" + m[0].translate(_SUPERSCRIPTS) + "}", text)
    text = _SUBSCRIPT_RUN.sub(lambda m: "_{" + m[0].translate(_SUBSCRIPTS) + "}", text)
    text = plain_typography(text).translate(TO_LATEX)
    text = _BRACED_COMMA.sub("", _GROUPED.sub(lambda m: _GROUPING.sub("", m[0]), text))
    text = _LAYOUT.sub(lambda m: f" {_TAB.sub('', m[3])} ", text)
    text = _COMMAND.sub(_same_command, _COLOUR.sub(" ", text))
    text = _POWER.sub("^", text).replace("**", " ")
    text = text.replace("$", " ").replace("~", " ").replace("`", " ")
    text = _BLANKS.sub(" ", text)
    text = joined(_EMPTY_SCRIPT.sub("", text))
    text = _EMPTY_BASE.sub("", _DEGREES.sub("°", _PRIMES.sub(r"\1", text)))
    for pattern, word in _WORDS:
        text = pattern.sub(word, text)
    for _ in range(3):  # wrappers inside wrappers
        text, n = _TEXT.subn(_unwrap, text)
        if not n:
            break
    text = _BLANKS.sub(" ", unwrapped(text).replace("\x00", "\\text"))
    return without_end_marks(text, ".,;:").lstrip(" ")


def _same_command(match: re.Match[str]) -> str:
    name, escaped = match.groups()
    if name is None:
        return _ESCAPED.get(escaped, match[0])
    same = _SAME_COMMAND.get(name)
    if same is None:
        return match[0]
    return same + " " if same[-1].isalpha() and same != "\\text" else same


def _unwrap(match: re.Match[str]) -> str:
    """The content of a text wrapper without words; a wrapper with words, marked as done."""
    content = match[1]
    if not _LETTER.search(content) or any(sign in content for sign in "=<>"):
        return f" {content} "
    return "\x00{" + content.strip() + "}"


def tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """(token, its position, bracket depth in front of it) of a plain text.

    A token is a command, an escaped character or a character. `(` may be closed by `]`, as in
    half-open intervals; a closing bracket too many does not count.
    """
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in _CLOSE and depth:
            depth -= 1
        yield token, match.start(), depth
        if token in _OPEN:
            depth += 1


def split(text: str, separators: Collection[str]) -> tuple[list[str], list[str]]:
    """The parts of a plain text between separators outside all brackets, and the separators."""
    parts: list[str] = []
    found: list[str] = []
    start = 0
    for token, at, depth in tokens(text):
        if depth == 0 and token in separators:
            parts.append(text[start:at].strip())
            found.append(token)
            start = at + len(token)
    parts.append(text[start:].strip())
    return parts, found


def enclosed(text: str) -> tuple[str, str, str] | None:
    """(opening, inside, closing) when one pair of brackets encloses the whole plain text."""
    pairs = list(tokens(text))
    if len(pairs) < 2 or pairs[0][0] not in _OPEN or pairs[-1][0] not in _CLOSE:
        return None
    if pairs[-1][2] != 0 or any(depth == 0 for _, _, depth in pairs[1:-1]):
        return None
    return pairs[0][0], text[len(pairs[0][0]) : pairs[-1][1]].strip(), pairs[-1][0]


def unbraced(text: str) -> str:
    """The text without braces around the whole of it."""
    for _ in range(_LAYERS):
        pair = enclosed(text)
        if pair is None or (pair[0], pair[2]) != ("{", "}"):
            break
        text = pair[1]
    return text


_TIDY_TOKEN = re.compile(r"\\text ?\{[^{}]*\}|\\[A-Za-z]+|\\.|\d+(?:\.\d*)?|\.\d+|[^ ]", re.DOTALL)
_SHORT_FRACTION = re.compile(r"\\frac ?(\d) ?(\d)(?!\d)")
_ONE_IN_BRACES = re.compile(r"([\^_])\{ ?(\w|\\[A-Za-z]+) ?\}")


def tidy(text: str) -> str:
    """A plain text without blanks, needless braces, plus signs and zeros.

    Equal tidy texts say the same; the opposite does not hold.
    """
    text = _SHORT_FRACTION.sub(r"\\frac{\1}{\2}", unbraced(plain(text)))
    text = _ONE_IN_BRACES.sub(r"\1\2 ", text)
    out: list[str] = []
    for match in _TIDY_TOKEN.finditer(text):
        token = match[0]
        last = out[-1] if out else ""
        if token[0].isdigit() or token[0] == ".":
            token = _number(token)
        if token == "+" and (not last or last in "(,[={"):
            continue
        glued = last[-1:].isalnum() and token[0].isalnum()
        if glued and (last[0] == "\\" or (last[0].isdigit() and token[0].isdigit())):
            out.append(" ")
        out.append(token)
    return "0" if "".join(out) == "-0" else "".join(out)


def _number(text: str) -> str:
    if "." not in text:
        return text
    whole, _, places = text.partition(".")
    places = places.rstrip("0")
    return (whole or "0") + ("." + places if places else "")

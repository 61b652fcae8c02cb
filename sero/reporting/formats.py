"""A results report as text, Markdown, LaTeX or one HTML page; foreign text is escaped for each."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from types import MappingProxyType

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup
from rich.cells import cell_len

from sero.reporting.results import Report, Section
from sero.reporting.table import Table
from sero.reporting.text import printable

TEMPLATE = "templates/results.html.j2"
WIDTH = 100
"""Columns at which the notes of the text format are broken; tables and paths never are."""

MAX_CHARS = 2000
"""Longest text of a cell or a note, in characters."""


TEX_HEAD = r"% Needs \usepackage{booktabs}."


class Format(StrEnum):
    """What `sero report --format` accepts."""

    TEXT = "text"
    MD = "md"
    TEX = "tex"
    HTML = "html"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Style:
    """How a plain format writes a heading, a table and a sentence."""

    heading: Callable[[str], str]
    table: Callable[[Table], str]
    sentence: Callable[[str], str]


def render_report(report: Report, kind: Format) -> str:
    """The whole report in one format, ending in a line feed; equal reports give equal text."""
    match kind:
        case Format.TEXT:
            style = _Style(heading=_text_heading, table=text_table, sentence=_text_sentence)
        case Format.MD:
            style = _Style(heading=_md_heading, table=_md_table, sentence=md_escape)
        case Format.TEX:
            style = _Style(heading=_tex_heading, table=_tex_table, sentence=tex_escape)
        case Format.HTML:
            return _html(report)
    parts = [TEX_HEAD] if kind is Format.TEX else []
    parts += [style.table(table) for table in report.overviews]
    parts += [part for section in report.sections for part in _section(section, style)]
    parts += [style.sentence(note) for note in report.notes]
    if not report.sections:
        parts.append(style.sentence("No run is finished."))
    if report.unusable:
        parts.append(style.table(report.unusable))
    return "\n\n".join(parts) + "\n"


def _section(section: Section, style: _Style) -> list[str]:
    return [
        style.heading(section.title),
        *(style.table(table) for table in section.tables),
        *(style.sentence(f"Warning: {warning}.") for warning in section.warnings),
    ]


def _safe(text: object) -> str:
    return printable(str(text), limit=MAX_CHARS)


def _text_heading(text: str) -> str:
    line = _safe(text)
    return f"{line}\n{'=' * cell_len(line)}"


def _text_sentence(text: str) -> str:
    return textwrap.fill(_safe(text), WIDTH, break_long_words=False, break_on_hyphens=False)


def text_table(table: Table) -> str:
    """A table as aligned text at its full width, its notes broken below it."""
    cells = [tuple(map(_safe, row)) for row in (table.columns, *table.rows)]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        padded = [
            cell + gap if i < table.words or not table.numeric else gap + cell
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            for gap in (" " * (width - cell_len(cell)),)
        ]
        lines.append("  ".join(padded).rstrip())
    lines.insert(1, "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join([_safe(table.title), *lines, *map(_text_sentence, table.notes)])


_MD_SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&]|:(?=//))")
"""Marks that work inside a line; `#` or `-` need its beginning, where no foreign text stands."""


def md_escape(text: str) -> str:
    """Text inside a line that Markdown, with tables, HTML, mathematics, shows as it is."""
    return _MD_SPECIAL.sub(r"\\\1", _safe(text))


def _md_heading(text: str) -> str:
    return f"## {md_escape(text)}"


def _md_table(table: Table) -> str:
    right = "---:" if table.numeric else ":---"
    rule = [*[":---"] * table.words, *[right] * (len(table.columns) - table.words)]
    rows = [list(map(md_escape, row)) for row in (table.columns, *table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:])]
    parts = [f"### {md_escape(table.title)}", "\n".join(lines), *map(md_escape, table.notes)]
    return "\n\n".join(parts)


_TEX: Mapping[str, str] = MappingProxyType(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "`": r"\textasciigrave{}",
        # After a line's \\ a bracket would be a length and a star an option; -- is a ligature.
        "[": "{[}",
        "]": "{]}",
        "*": "{*}",
        "-": "-{}",
        "–": "--",
        "…": r"\dots{}",
        "·": r"$\cdot$",
        "½": r"$\frac{1}{2}$",
    }
)
_SIGNED = re.compile(r"(?<![\w.-])-(?=[0-9])", re.ASCII)


def tex_escape(text: str) -> str:
    """Text that LaTeX typesets as it is, in ASCII; a character beyond it becomes its code point."""
    return "".join(_TEX.get(char, char if char.isascii() else _code(char)) for char in _safe(text))


def _code(char: str) -> str:
    return f"{{[}}U+{ord(char):04X}{{]}}"


def _tex_cell(text: str) -> str:
    """A cell, with a true minus sign before numbers."""
    parts = _SIGNED.split(text)
    return "$-$".join(map(tex_escape, parts))


def _tex_heading(text: str) -> str:
    return f"\\paragraph{{{tex_escape(text)}}}"


def _tex_table(table: Table) -> str:
    others = "r" if table.numeric else "l"
    columns = "l" * table.words + others * (len(table.columns) - table.words)
    rows = [" & ".join(map(_tex_cell, row)) + r" \\" for row in (table.columns, *table.rows)]
    notes = [f"\\par\\smallskip {{\\footnotesize {tex_escape(note)}}}" for note in table.notes]
    return "\n".join(
        [
            r"\begin{table}[htbp]",
            r"\centering\small",
            f"\\caption{{{tex_escape(table.title)}}}",
            f"\\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            rows[0],
            r"\midrule",
            *rows[1:],
            r"\bottomrule",
            r"\end{tabular}",
            *notes,
            r"\end{table}",
        ]
    )


def _html(report: Report) -> str:
    # matplotlib takes a second to load and only this format draws.
    from sero.reporting.scatter import scatter_svg

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(safe_text=_safe)
    source = (resources.files("sero.reporting") / TEMPLATE).read_text("utf-8")
    charts = [
        Markup(scatter_svg(section.points, simulated=section.simulated))
        for section in report.sections
    ]
    page = environment.from_string(source).render(
        report=report, sections=list(zip(report.sections, charts, strict=True))
    )
    return page.rstrip("\n") + "\n"

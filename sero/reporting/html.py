"""The static page of a run: one self-contained HTML file that needs no server and no network."""

from __future__ import annotations

import functools
from importlib import resources
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from sero.reporting.charts import curves_svg
from sero.reporting.page import Page, gather
from sero.reporting.rows import read_row
from sero.reporting.text import compact, printable, score, signed
from sero.storage import write_atomic

TEMPLATE = "templates/run.html.j2"
REPORT = "report.html"
MAX_ROWS = 200
"""Most rows of one table; the page says how many more there are."""

MAX_COLUMNS = 12
"""Most candidates of one table."""

MAX_CHARS = 4000
"""Longest text of one cell; a longer one is cut with an ellipsis."""


def write_report(directory: Path) -> Path:
    """Write `report.html` of a run, finished or not, and return its path.

    Equal records give an equal file: no date, no path of this machine.

    Raises:
        UserError: not a run directory, or a damaged file in it.
        StorageError: the disk refused.
    """
    return write_page(gather(read_row(directory)))


def write_page(page: Page) -> Path:
    """Write a gathered page as `report.html` of its run, and return its path.

    Raises:
        StorageError: the disk refused.
    """
    path = page.run.directory / REPORT
    write_atomic(path, render(page))
    return path


def render(page: Page) -> str:
    """The page as HTML. Whatever a model or a file says is escaped; only the chart is markup."""
    chart = Markup(curves_svg(page.curves, simulated=page.run.simulated, marks=page.marks))
    return _template().render(
        page=page, run=page.run, chart=chart, max_rows=MAX_ROWS, max_columns=MAX_COLUMNS
    )


@functools.cache
def _template() -> Template:
    """Compiled once; a sweep writes a page for each of its jobs."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(safe_text=_safe_text, score=score, signed=signed, compact=compact)
    environment.filters.update(mean=_mean)
    source = (resources.files("sero.reporting") / TEMPLATE).read_text("utf-8")
    return environment.from_string(source)


def _mean(value: float | None) -> str:
    """A mean on the reviewers' scale."""
    return "–" if value is None else f"{value:.2f}"


def _safe_text(value: object) -> str:
    """Bounded text without characters that hide or reorder what a reader sees."""
    return printable(str(value), limit=MAX_CHARS, keep_lines=True)

"""Training curves as one SVG, drawn without a display, a global figure or a date in the file."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

POINTS = 600
"""Most points drawn per curve; longer ones are thinned evenly, ends kept."""

INK = "#1f4e79"
FAINT = "#b9cbe0"
COLUMNS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One panel: a line over episodes, and the raw values behind a smoothed one.

    Attributes:
        title: fixed text, never a model's: matplotlib reads `$` as mathematics.
        episodes, values: equally long.
        raw: unsmoothed values drawn faintly, or None.
        share: values lie in [0, 1], and the axis says so.
        whole: values are counts, so the axis has whole numbers.
    """

    title: str
    episodes: Sequence[int]
    values: Sequence[float]
    raw: Sequence[float] | None = None
    share: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What every panel shows beside its line: the warm-up's last episode, and the commits."""

    warmup: int = 0
    commits: Sequence[int] = ()


NO_MARKS = Marks()


def rolling_mean(values: Sequence[float], window: int) -> list[float]:
    """Mean of the last `window` values at each point; of all so far at the start.

    Raises:
        ValueError: a window below 1.
    """
    if window < 1:
        raise ValueError(f"rolling_mean got window {window}; at least 1")
    sums = np.concatenate([[0.0], np.cumsum(np.asarray(values, dtype=np.float64))])
    stops = np.arange(1, len(values) + 1)
    starts = np.maximum(0, stops - window)
    return [float(v) for v in (sums[stops] - sums[starts]) / (stops - starts)]


def metric_curve(
    title: str, points: Sequence[Mapping[str, object]], name: str, *, share: bool = False
) -> Curve | None:
    """One metric of `metrics.jsonl` as a curve; None if it was never written."""
    found = [
        (int(x), float(y))
        for x, y in ((point.get("episode"), point.get(name)) for point in points)
        if isinstance(x, int | float) and isinstance(y, int | float) and math.isfinite(y)
    ]
    if not found:
        return None
    return Curve(
        title=title, episodes=[x for x, _ in found], values=[y for _, y in found], share=share
    )


def curves_svg(curves: Sequence[Curve], *, simulated: bool, marks: Marks = NO_MARKS) -> str:
    """All curves as one `<svg>` element, equal for equal input; empty without any curve."""
    if not curves:
        return ""
    rows = math.ceil(len(curves) / COLUMNS)
    last = max(max(curve.episodes) for curve in curves)
    # A fixed salt keeps the element ids, and so the page, equal between two writes.
    style = {"svg.hashsalt": "sero", "svg.fonttype": "none", "font.size": 8.0}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(9.0, 1.9 * rows), layout="constrained")
        if simulated:
            figure.suptitle("simulated", fontsize=9, color="#8a5a00")
        for position, curve in enumerate(curves, 1):
            _draw(figure, (rows, COLUMNS, position), curve, marks, last)
        out = io.BytesIO()
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None})
    text = out.getvalue().decode("utf-8")
    return text[text.index("<svg") :]


def _draw(
    figure: Figure, place: tuple[int, int, int], curve: Curve, marks: Marks, last: int
) -> None:
    axes = figure.add_subplot(*place)
    if marks.warmup:
        axes.axvspan(0, marks.warmup, color="#f4efe4", linewidth=0)
    for episode in marks.commits:
        axes.axvline(episode, ymax=0.04, color="#1b6e3c", linewidth=0.8)
    kept = _thinned(len(curve.values))
    x = [curve.episodes[i] for i in kept]
    # A single point has no line; a dot shows it.
    marker = "o" if len(kept) == 1 else ""
    if curve.raw is not None:
        axes.plot(x, [curve.raw[i] for i in kept], color=FAINT, linewidth=0.6)
    axes.plot(x, [curve.values[i] for i in kept], color=INK, linewidth=1.2, marker=marker)
    axes.set_title(curve.title, loc="left", fontsize=8)
    axes.set_xlabel("episode", fontsize=7)
    axes.set_xlim(0, last + 1)
    if curve.share:
        axes.set_ylim(-0.03, 1.03)
    if curve.whole:
        axes.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.grid(visible=True, color="#e8e8e8", linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)


def _thinned(n: int) -> list[int]:
    if n <= POINTS:
        return list(range(n))
    return sorted({int(i) for i in np.linspace(0, n - 1, POINTS)})

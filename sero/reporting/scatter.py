"""Score against logical calls as one SVG, drawn without a display or a global figure."""

from __future__ import annotations

import io
from collections.abc import Sequence

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from sero.reporting.charts import INK
from sero.reporting.results import Point

WIDE = 20.0
"""Ratio of the dearest to the cheapest row from which the axis of calls is logarithmic."""


def scatter_svg(points: Sequence[Point], *, simulated: bool) -> str:
    """One `<svg>` element, equal for equal input; empty if no point has a score.

    Points carry the numbers of the cost table: no name from a file comes near the drawing, where
    `$` would be mathematics.
    """
    drawn = [point for point in points if point.score.mean is not None]
    if not drawn:
        return ""
    style = {"svg.hashsalt": "sero", "svg.fonttype": "none", "font.size": 8.0}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(7.0, 3.6), layout="constrained")
        axes = figure.add_subplot()
        for point in drawn:
            _draw(axes, point)
        calls = [point.calls for point in drawn]
        if min(calls) > 0 and max(calls) / min(calls) >= WIDE:
            axes.set_xscale("log")
        title = "mean held-out score with its 95 % interval"
        axes.set_title(f"{title} · SIMULATED" if simulated else title, loc="left", fontsize=9)
        axes.set_xlabel("logical calls per run, training and evaluation")
        axes.set_ylabel("score")
        axes.grid(visible=True, color="#e8e8e8", linewidth=0.5)
        axes.spines[["top", "right"]].set_visible(False)
        out = io.BytesIO()
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None})
    text = out.getvalue().decode("utf-8")
    return text[text.index("<svg") :]


def _draw(axes: matplotlib.axes.Axes, point: Point) -> None:
    found = point.score
    assert found.mean is not None
    if found.low is not None and found.high is not None:
        axes.plot([point.calls] * 2, [found.low, found.high], color=INK, linewidth=0.8, alpha=0.6)
    axes.plot([point.calls], [found.mean], color=INK, marker="o", markersize=4)
    axes.annotate(
        str(point.number),
        (point.calls, found.mean),
        xytext=(5, 3),
        textcoords="offset points",
        fontsize=8,
    )

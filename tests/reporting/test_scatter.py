from xml.etree import ElementTree

import pytest

from sero.reporting.results import Point
from sero.reporting.scatter import scatter_svg
from sero.reporting.statistics import Estimate


def point(number, calls, mean, low=None, high=None):
    return Point(number=number, calls=calls, score=Estimate(mean=mean, low=low, high=high, n=1))


POINTS = [point(1, 100.0, 0.5, 0.4, 0.6), point(2, 5000.0, 0.75)]


def test_points_carry_their_numbers_and_the_figure_says_simulated():
    svg = scatter_svg(POINTS, simulated=True)
    texts = {"".join(e.itertext()) for e in ElementTree.fromstring(svg).iter() if "text" in e.tag}
    assert {"1", "2"} <= texts
    assert any("SIMULATED" in text for text in texts)
    assert svg == scatter_svg(POINTS, simulated=True)


def test_a_real_result_is_not_called_simulated():
    assert "SIMULATED" not in scatter_svg(POINTS, simulated=False)


@pytest.mark.parametrize("points", [[], [point(1, 10.0, None)]])
def test_nothing_scored_draws_nothing(points):
    assert scatter_svg(points, simulated=False) == ""


@pytest.mark.parametrize("calls", [(0.0, 0.0), (0.0, 1e6), (10.0, 10.0)])
def test_zero_and_equal_calls_are_drawn(calls):
    drawn = [point(i, c, 1.0, 1.0, 1.0) for i, c in enumerate(calls)]
    assert scatter_svg(drawn, simulated=False).startswith("<svg")

import pytest

from sero.reporting.charts import Curve, curves_svg, metric_curve, rolling_mean


def test_rolling_mean_against_a_slow_loop():
    values = [1.0, 0.0, 0.5, 0.25, 1.0]
    slow = [sum(values[max(0, i - 2) : i + 1]) / min(3, i + 1) for i in range(5)]
    assert rolling_mean(values, 3) == pytest.approx(slow)
    assert rolling_mean([], 3) == []
    with pytest.raises(ValueError, match="window 0"):
        rolling_mean(values, 0)


def test_metric_curve_skips_what_is_not_a_number():
    points = [
        {"episode": 1, "pool/size": 4},
        {"episode": 2},
        {"episode": 3, "pool/size": None},
        {"episode": 4, "pool/size": float("nan")},
        {"episode": 5, "pool/size": 5.0},
    ]
    found = metric_curve("pool size", points, "pool/size")
    assert found == Curve(title="pool size", episodes=[1, 5], values=[4.0, 5.0])
    assert metric_curve("reward", points, "train/reward") is None


def test_svg_is_one_element_equal_for_equal_input():
    curves = [
        Curve(title="reward", episodes=[1, 2, 3], values=[0.0, 0.5, 0.25], raw=[0.0, 1.0, 0.0]),
        Curve(title="pool size", episodes=[1], values=[4.0]),
    ]
    found = curves_svg(curves, simulated=True)
    assert found.startswith("<svg")
    assert found.rstrip().endswith("</svg>")
    assert "reward" in found
    assert "simulated" in found
    assert "<dc:date>" not in found
    assert found == curves_svg(curves, simulated=True)
    assert "simulated" not in curves_svg(curves, simulated=False)


def test_long_curves_are_thinned():
    n = 20_000
    curve = Curve(title="x", episodes=range(n), values=[float(i % 7) for i in range(n)])
    assert len(curves_svg([curve], simulated=False)) < 60_000
    assert curves_svg([], simulated=False) == ""

from collections import Counter

from sero.benchmarks.tablebench.subtypes import FORMS, SUBTYPES, Metric, published_counts


def test_the_published_counts():
    assert published_counts() == {
        "FactChecking": 96,
        "NumericalReasoning": 397,
        "DataAnalysis": 343,
    }
    by_metric: Counter[Metric] = Counter()
    for subtype in SUBTYPES.values():
        by_metric[subtype.metric] += subtype.n
    assert by_metric == {Metric.EM: 543, Metric.EM_10: 150, Metric.ROUGE_L: 143}
    assert len(SUBTYPES) == 17
    assert len(FORMS) == 8


def test_metrics_stand_where_the_benchmark_has_them():
    names = {metric: [n for n, s in SUBTYPES.items() if s.metric is metric] for metric in Metric}
    assert names[Metric.EM_10] == [
        "CorrelationAnalysis",
        "TrendForecasting",
        "StatisticalAnalysis",
    ]
    assert names[Metric.ROUGE_L] == ["AnomalyDetection", "CausalAnalysis", "DescriptiveAnalysis"]
    assert "ImpactAnalysis" in names[Metric.EM]

"""The seventeen subtypes with a text for an answer: their family, metric, answer form and count.

Names are spelt as in the data, `Multi-hop NumericalReasoing` included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

FACT, NUMERICAL, ANALYSIS = "FactChecking", "NumericalReasoning", "DataAnalysis"
VISUALIZATION = "Visualization"


class Metric(StrEnum):
    """How a subtype is scored, by the published name."""

    EM = "EM"
    EM_10 = "EM_with_error_10"
    ROUGE_L = "ROUGE-L"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtype:
    """One `qsubtype`.

    Attributes:
        qtype: its family, the group it is reported under.
        metric: how an answer is scored.
        form: name of its answer form in `answer_format.yaml`.
        n: how many items the published data have.
    """

    qtype: str
    metric: Metric
    form: str
    n: int


def _short(qtype: str, n: int) -> Subtype:
    return Subtype(qtype=qtype, metric=Metric.EM, form="short", n=n)


def _analysis(metric: Metric, form: str, n: int) -> Subtype:
    return Subtype(qtype=ANALYSIS, metric=metric, form=form, n=n)


SUBTYPES: Mapping[str, Subtype] = {
    "MatchBased": _short(FACT, 46),
    "Multi-hop FactChecking": _short(FACT, 50),
    "Aggregation": _short(NUMERICAL, 50),
    "ArithmeticCalculation": _short(NUMERICAL, 50),
    "Comparison": _short(NUMERICAL, 50),
    "Counting": _short(NUMERICAL, 50),
    "Domain-Specific": _short(NUMERICAL, 49),
    "Multi-hop NumericalReasoing": _short(NUMERICAL, 51),
    "Ranking": _short(NUMERICAL, 50),
    "Time-basedCalculation": _short(NUMERICAL, 47),
    "ImpactAnalysis": _analysis(Metric.EM, "impact", 50),
    "CorrelationAnalysis": _analysis(Metric.EM_10, "correlation", 50),
    "TrendForecasting": _analysis(Metric.EM_10, "trend", 50),
    "StatisticalAnalysis": _analysis(Metric.EM_10, "statistics", 50),
    "AnomalyDetection": _analysis(Metric.ROUGE_L, "anomaly", 47),
    "CausalAnalysis": _analysis(Metric.ROUGE_L, "causal", 45),
    "DescriptiveAnalysis": _analysis(Metric.ROUGE_L, "descriptive", 51),
}
FORMS = tuple(dict.fromkeys(subtype.form for subtype in SUBTYPES.values()))


def published_counts() -> dict[str, int]:
    """Items of each family in the published data, the visual ones apart."""
    counts: Counter[str] = Counter()
    for subtype in SUBTYPES.values():
        counts[subtype.qtype] += subtype.n
    return dict(counts)

"""The texts of generated analysis items: their questions, and the sentences of some golds.

Generator and verifier share these texts and nothing else: one fills the slots, the other reads
them back and does the arithmetic again.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from sero.benchmarks.generate.table_questions import FACT_AND_NUMERICAL

ANALYSIS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "ImpactAnalysis": {
        "factors": (
            "Which of '{a}', '{b}' and '{c}' clearly influence '{col}'? Name them in this order. "
            "If none does, reply 'No clear impact'.",
            "Of the factors '{a}', '{b}' and '{c}', which have a clear effect on '{col}'? Keep "
            "this order; where there is none, reply 'No clear impact'.",
        ),
        "direction": (
            "Does a higher '{a}' have a positive impact, a negative impact or no clear impact on "
            "'{col}'?",
            "Judge the impact of '{a}' on '{col}' over the {nouns}: positive impact, negative "
            "impact or no clear impact?",
        ),
    },
    "CorrelationAnalysis": {
        "correlation": (
            "How are '{a}' and '{col}' of the {nouns}{where} correlated? Add the correlation "
            "coefficient.",
            "Over the {nouns}{where}, what correlation is there between '{a}' and '{col}'? Back "
            "it by the correlation coefficient.",
        ),
        "correlation_without": (
            "Leaving out '{name}', how are '{a}' and '{col}' of the {nouns} correlated? Add the "
            "correlation coefficient.",
            "What correlation is there between '{a}' and '{col}' over all {nouns} except "
            "'{name}'? Back it by the correlation coefficient.",
        ),
    },
    "TrendForecasting": {
        "forecast": (
            "If '{col}' keeps changing as in the years listed, what will it be in {y1}?",
            "Continue the trend of '{col}'. Which value is to be expected for {y1}?",
        ),
        "forecast_two": (
            "If '{col}' keeps to its trend, what will it be in {y1} and in {y2}?",
            "Which values of '{col}' are to be expected for {y1} and for {y2}?",
        ),
        "forecast_rise": (
            "If the trend of '{col}' holds, by how much will it differ in {y1} from the latest "
            "year listed? A fall counts as negative.",
            "Going by its trend so far, what change of '{col}' is to be expected from the "
            "latest year listed to {y1}? Give a fall a minus sign.",
        ),
        "tendency": (
            "Where is '{col}' heading: increasing trend, decreasing trend or no clear trend?",
            "Is there an increasing trend, a decreasing trend or no clear trend in '{col}' over "
            "the years?",
        ),
    },
    "StatisticalAnalysis": {
        "deviation": (
            "What is the {deviation} standard deviation of '{col}' over the {nouns}{where}?",
            "How large is the {deviation} standard deviation of the '{col}' figures of the "
            "{nouns}{where}?",
        ),
        "mean_and_deviation": (
            "What are the mean and the {deviation} standard deviation of '{col}' over the "
            "{nouns}{where}?",
            "Give the mean and the {deviation} standard deviation of '{col}' for the "
            "{nouns}{where}.",
        ),
        "median_and_range": (
            "What are the median and the range, highest less lowest, of '{col}' over the "
            "{nouns}{where}?",
            "Give the median of '{col}' for the {nouns}{where}, and the distance from its lowest "
            "to its highest value.",
        ),
        "wider_column": (
            "Which of the columns '{col}' and '{other}' has the larger {deviation} standard "
            "deviation, and how large is it?",
            "Compare the {deviation} standard deviation of '{col}' and '{other}': which column has "
            "the larger one, and what is its value?",
        ),
    },
    "AnomalyDetection": {
        "odd_values": (
            "Which figures in the table look out of place?",
            "Go through the columns of the table: are there values far off from the others?",
        ),
        "odd_in_column": (
            "Are there values of '{col}' that do not fit in with the other {nouns}?",
            "Does any {noun} show a '{col}' far away from what the other {nouns} have?",
        ),
    },
    "CausalAnalysis": {
        "cause": (
            "Is a change of '{a}' a cause of changes in '{col}'?",
            "Does '{a}' drive '{col}' among the {nouns}?",
        ),
        "stronger_cause": (
            "Which of '{a}' and '{b}' has the stronger causal influence on '{col}'?",
            "Does '{col}' depend more on '{a}' or on '{b}'?",
        ),
    },
    "DescriptiveAnalysis": {
        "describe_rows": (
            "Describe what the table tells of the {nouns} and name the extremes of '{col}'.",
            "What is the table about, and which {nouns} stand out by '{col}'?",
        ),
        "describe_groups": (
            "Describe the table and how the {nouns} are spread over '{cat}'.",
            "What does the table list, and how do the {nouns} divide by '{cat}'?",
        ),
    },
}

QUESTIONS: Mapping[str, Mapping[str, tuple[str, ...]]] = {**FACT_AND_NUMERICAL, **ANALYSIS}
"""Subtype, as the data spell it, to kinds of question, to wordings."""

DEVIATIONS = {
    "sample": "sample (divisor n - 1)",
    "population": "population (divisor n)",
}
PER_CENT = ", times 100, in per cent"

NO_IMPACT, POSITIVE_IMPACT, NEGATIVE_IMPACT = (
    "No clear impact",
    "Positive impact",
    "Negative impact",
)
NO_TREND, RISING, FALLING = "No clear trend", "Increasing trend", "Decreasing trend"
NO_CORRELATION = "No correlation"
WEAK, STRONG = 0.3, 0.7
"""Where a coefficient's size begins to be a weak and a strong correlation."""

NO_ANOMALY = "No anomalies are detected in the table."
ONE_ANOMALY = "There is one anomaly: {items}."
ANOMALIES = "There are {count} anomalies: {items}."
ANOMALY = "the '{col}' of {value} for '{name}' is unusually {side}"
COUNT_WORDS = ("no", "one", "two", "three", "four")

CAUSE_UP = (
    "Yes, '{a}' is likely to raise '{col}', as their strong positive correlation ({r}) shows."
)
CAUSE_DOWN = (
    "Yes, '{a}' is likely to lower '{col}', as their strong negative correlation ({r}) shows."
)
NO_CAUSE = "No, the correlation of '{a}' with '{col}' is too weak ({r}) to speak of an influence."
STRONGER_CAUSE = (
    "'{strong}' has the stronger influence on '{col}', as their correlation ({r}) is far closer "
    "than that of '{faint}' ({s})."
)
ROWS_SENTENCE = (
    "The table lists {n} {nouns} with {headers}, where '{high}' has the highest '{col}' with "
    "{top} and '{low}' the lowest with {bottom}."
)
GROUPS_SENTENCE = "The table lists {n} {nouns} with {headers}, divided by '{cat}' into {groups}."


def ask(rng: random.Random, subtype: str, kind: str, **slots: object) -> str:
    """A question of a kind, in one of its wordings."""
    return rng.choice(QUESTIONS[subtype][kind]).format_map(slots)

import json
from pathlib import Path

import pytest

from sero.benchmarks import prompt_files
from sero.benchmarks.tablebench.prompts import TASK, table_text, task_prompt
from sero.benchmarks.tablebench.subtypes import FORMS, SUBTYPES
from sero.inference.layout import system_message

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "tablebench_prompts.txt"
FOLDER = "package:tablebench"

KIOSKS = {
    "columns": ["kiosk", "year", "cups sold", "share"],
    "data": [
        ["Nelt", "2021", "1,204", "12.5%"],
        ["Ovar \"am Tor\"", "2022", "- 3", None],
        ["total", "-", "1,201", "100%"],
    ],
}  # fmt: skip
QUESTIONS = {
    "short": ("Counting", "How many kiosks sold more than a thousand cups?"),
    "impact": ("ImpactAnalysis", "Did the year have an impact on the share?"),
    "correlation": ("CorrelationAnalysis", "How do 'year' and 'cups sold' correlate?"),
    "trend": ("TrendForecasting", "How many cups are to be expected in 2023?"),
    "statistics": ("StatisticalAnalysis", "What is the standard deviation of 'cups sold'?"),
    "anomaly": ("AnomalyDetection", "Is there an unusual figure?"),
    "causal": ("CausalAnalysis", "Does the year cause the share to rise?"),
    "descriptive": ("DescriptiveAnalysis", "Can you describe the table?"),
}


def prompt_of(subtype, question):
    table = table_text(KIOSKS["columns"], KIOSKS["data"])
    return task_prompt(FOLDER, subtype, table=table, question=question)


def test_the_table_is_json_with_a_row_a_line():
    text = table_text(KIOSKS["columns"], KIOSKS["data"])
    assert json.loads(text) == KIOSKS
    assert len(text.splitlines()) == 2 + 3 + 1
    assert '["total", "-", "1,201", "100%"]' in text.splitlines()[4]
    assert '"- 3", null' in text


def test_line_breaks_and_other_scripts_in_cells():
    text = table_text(["Length\n[km]", "größe"], [["5", "\u2028é"]])
    assert '"Length\\n[km]", "größe"' in text
    assert json.loads(text)["data"] == [["5", "\u2028é"]]


@pytest.mark.parametrize("subtype", SUBTYPES)
def test_every_subtype_has_its_form(subtype):
    prompt = prompt_of(subtype, "How many?")
    form = prompt_files.text(FOLDER, prompt_files.ANSWER_FORMAT, SUBTYPES[subtype].form)
    assert prompt.endswith(form)
    assert "Question: How many?\n" in prompt
    assert prompt.count("\nFinal Answer: ") >= 1


def test_nothing_in_an_item_is_read_as_a_template():
    table = table_text(["{question}", "{table}"], [["{answer_form}", "\\1"]])
    prompt = task_prompt(FOLDER, "Counting", table=table, question="What is {table}?")
    assert '"{question}", "{table}"' in prompt
    assert "Question: What is {table}?" in prompt
    assert '"{answer_form}"' in prompt


def test_the_frame_has_its_three_places():
    frame = prompt_files.text(FOLDER, prompt_files.ANSWER_FORMAT, TASK)
    for place in ("{table}", "{question}", "{answer_form}"):
        assert frame.count(place) == 1


@pytest.mark.parametrize(
    ("form", "phrases"),
    [
        ("impact", ["Positive impact", "Negative impact", "No clear impact"]),
        ("trend", ["Increasing trend", "Decreasing trend", "No clear trend"]),
        ("anomaly", ["No anomalies are detected in the table."]),
        (
            "correlation",
            ["No correlation"]
            + [
                f"{s} {d} correlation" for s in ("Weak", "Strong") for d in ("positive", "negative")
            ],
        ),
    ],
)
def test_the_fixed_phrases_are_named(form, phrases):
    text = prompt_files.text(FOLDER, prompt_files.ANSWER_FORMAT, form)
    for phrase in phrases:
        assert phrase in text


def rendered(benchmark) -> str:
    parts = [(f"task: {form}", prompt_of(*QUESTIONS[form])) for form in FORMS]
    parts.append(
        ("single agent", prompt_files.text(benchmark.config.prompts, "single_agent", "system"))
    )
    parts += [(card.name, system_message(card).content) for card in benchmark.seed_pool()]
    return "".join(f"===== {title}\n{content}\n" for title, content in parts)


def test_prompts_are_pinned(tablebench):
    assert rendered(tablebench()) == GOLDEN.read_text(encoding="utf-8")

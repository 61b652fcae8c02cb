"""Architecture: what makes the record of a decision complete."""

import time

import pytest

from sero.benchmarks.examples.architecture import read_record
from sero.errors import DataError

RECORD = {
    "Recommendation": "B",
    "Verdict": "Move search out, and wait with the rest.",
    "Arguments for": "\n- Search can be released daily.\n- Checkout stays as it is.",
    "Arguments against": "\n- Nobody has run two services yet.",
    "Confidence": "0.7",
}


def record(**changes) -> str:
    parts = {**RECORD, **{key.replace("_", " "): value for key, value in changes.items()}}
    return "\n".join(f"{name}: {text}" for name, text in parts.items() if text is not None)


@pytest.fixture
def task(tasks):
    return tasks("architecture")["shop-split"]


@pytest.mark.parametrize(
    ("response", "option", "confidence"),
    [
        (record(), "B", 0.7),
        ("We talked.\n\n" + record(), "B", 0.7),
        (record(Recommendation="B) Move search out"), "B", 0.7),
        (record(Recommendation="**Option C.**"), "C", 0.7),
        (record(Recommendation="(A)"), "A", 0.7),
        (record(Confidence="1"), "B", 1.0),
        (record(Confidence="0"), "B", 0.0),
        (record(Confidence=".25."), "B", 0.25),
        (record(Recommendation="A") + "\nOn reflection:\n" + record(), "B", 0.7),
        ("## " + record().replace("\n", "\n## "), "B", 0.7),
    ],
)
def test_complete_records(example, task, response, option, confidence):
    benchmark = example("architecture")
    parsed = benchmark.parse(task.prompt, response)
    assert parsed.answer == option
    verdict = benchmark.score(parsed, task)
    assert (verdict.value, verdict.metrics) == (1.0, {"stated_confidence": confidence})


@pytest.mark.parametrize(
    ("response", "missing"),
    [
        ("", "recommendation"),
        ("B", "recommendation"),
        *((record(**{key.replace(" ", "_"): None}), key.lower()) for key in RECORD),
        *((record(**{key.replace(" ", "_"): " "}), key.lower()) for key in RECORD),
        (record(Recommendation="D"), "recommendation"),  # three options
        (record(Recommendation="A or B"), "recommendation"),
        (record(Recommendation="A message broker"), "recommendation"),
        (record(Recommendation="BC"), "recommendation"),
        (record(Confidence="70 %"), "confidence"),
        (record(Confidence="1.5"), "confidence"),
        (record(Confidence="-0.5"), "confidence"),
        (record(Confidence="high"), "confidence"),
        (record(Confidence="nan"), "confidence"),
        (record(Verdict="one sentence that decides"), "verdict"),  # the prompt's own words
        (record() + "\nVerdict: Or not.", "verdict: stands there twice"),
        (record() + "\nRecommendation: C", "verdict"),  # a later record, and not complete
        ("<think>" + record(), "never closes"),
    ],
)
def test_incomplete_records(example, task, response, missing):
    benchmark = example("architecture")
    parsed = benchmark.parse(task.prompt, response)
    assert parsed.answer is None
    assert missing in parsed.reason
    verdict = benchmark.score(parsed, task)
    assert (verdict.value, verdict.metrics) == (0.0, {})


def test_no_option_is_better_than_another(example, tasks):
    """The score says that the record is complete; it knows no gold and no prompt holds one."""
    benchmark = example("architecture")
    assert benchmark.scorer == "complete_record"
    for task in tasks("architecture").values():
        assert task.reference == {}
        for option in "ABC":
            parsed = benchmark.parse(task.prompt, record(Recommendation=option))
            assert benchmark.score(parsed, task).value == 1.0
        assert benchmark.parse(task.prompt, task.prompt).answer is None


def test_reading_takes_linear_time(task):
    began = time.perf_counter()
    for text in ("Verdict:\n" * 50_000, "Recommendation: B\n" * 50_000, "#" * 10**6):
        read_record(task.prompt, text)
        read_record(task.prompt, record() + "\n" + text)
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize("options", [None, [], ["one"], ["x"] * 27, ["one", 2]])
def test_an_item_needs_options(example, options):
    with pytest.raises(DataError, match="options"):
        example("architecture").task_from_data({"id": "a", "options": options})

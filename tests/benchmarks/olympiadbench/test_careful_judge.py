r"""The careful judge as a whole: conformance vectors, golds of items, reasons, hostile texts."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sero.benchmarks import bounded
from sero.benchmarks.base import TIMED_OUT, Score
from sero.benchmarks.normalise import strip_think
from sero.benchmarks.olympiadbench.answer_text import canonical, extract
from sero.benchmarks.olympiadbench.careful_judge import careful_score

# Where a response breaks the answer format the published verdict is 0. By its note: the verdict
# here, and why.
LENIENT = {
    "several boxes without marker; official joins them all": (
        1.0,
        "without a marker the last box is the answer, unless only commas join it to others",
    ),
    "unit in text inside the box": (1.0, "a word for what is counted changes no number"),
    "LaTeX thin spaces as separators": (1.0, "the usual way to group digits in LaTeX"),
    "and before the last value": (1.0, "a list is a list with `and` as well"),
    "degrees for radians": (1.0, "135° is 3π/4 by definition of the sign"),
    "inequality notation": (1.0, "the inequality describes the same set"),
    "unit inside the box, in mathrm; official keeps the unit letters": (1.0, "the item's own unit"),
    "unit inside the box, in text": (1.0, "the item's own unit"),
}
STRICT = {
    "prose only, no dollars or boxed": (0.0, "prose is not searched for numbers"),
    "percent sign after the right number; percent is dropped": (0.0, "42 % is 0.42"),
    "unclosed box; official raises inside preprocessing and answers false": (
        0.0,
        "the text may have been cut in the middle of the number",
    ),
    "number word": (0.0, "the format asks for LaTeX"),
    "named components": (0.0, "the gold says nothing about names, so the order is a guess"),
}


def lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def score(response: str, item: dict[str, Any]) -> Score:
    stripped = strip_think(response)
    candidate = None if stripped is None else extract(stripped)[0]
    return careful_score(
        candidate,
        item["final_answer"],
        item["answer_type"],
        item["error"],
        item["unit"],
        item["is_multiple_answer"],
    )


def test_vectors(shared_olympiadbench: Path) -> None:
    wrong = []
    seen = set()
    for vector in lines(shared_olympiadbench / "scorer_vectors.jsonl"):
        note = vector["note"]
        wanted = vector.get("expected_score", vector["official_score"])
        if vector.get("format_violation"):
            wanted, _ = (LENIENT | STRICT)[note]
            seen.add(note)
        got = score(vector["response"], vector["item"])
        if got.value != wanted:
            wrong.append((note, vector["response"], wanted, got.reason))
    assert wrong == []
    assert seen == set(LENIENT | STRICT)


@pytest.mark.parametrize("name", ["sample.jsonl", "synthetic_physics.jsonl"])
def test_every_gold_in_the_box_is_right(shared_olympiadbench: Path, name: str) -> None:
    wrong = []
    for item in lines(shared_olympiadbench / name):
        gold = item["final_answer"][0]
        response = f"We find it.\nSo the final answer is \\boxed{{{gold}}}."
        # Both as written, which is the same text, and by what it says.
        kept = canonical(extract(response)[0] or "") + " "
        for candidate in (extract(response)[0], kept.replace(",", " ,")):
            got = careful_score(
                candidate,
                gold,
                item["answer_type"],
                item["error"],
                item["unit"],
                item["is_multiple_answer"],
            )
            if got.value != 1.0:
                wrong.append((item["id"], candidate, got.reason))
    assert wrong == []


def test_reasons_are_for_people() -> None:
    assert careful_score("42", "42", "Numerical", None, None, False).reason == "the gold answer"
    near = careful_score("3/4", "0.5", "Numerical", None, None, False)
    assert near == Score(value=0.0, reason="got 3/4; gold is 0.5")
    other = careful_score(r"\frac{84}{2}", "42", "Numerical", None, None, False)
    assert other == Score(value=1.0, reason=r"\frac{84}{2} equals the gold 42")
    none = careful_score(None, "42", "Numerical", None, None, False)
    assert none == Score(value=0.0, reason="no answer")
    long = careful_score("7" * 5000, "42", "Numerical", None, None, False)
    assert long == Score(value=0.0, reason="5000 characters are no answer")


def test_gold_may_be_a_list_of_texts() -> None:
    assert careful_score("7, 3", ["3", "7"], "Numerical", None, None, True).value == 1.0
    assert careful_score("3", ["3"], "Numerical", None, None, False).value == 1.0
    assert careful_score("3", ["3", "7"], "Numerical", None, None, True).value == 0.0


def test_timed_out_is_wrong_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object, seconds: float, imports: object) -> bounded.Outcome:
        return bounded.Outcome(value=None, failure=f"timed out after {seconds:g} s", timed_out=True)

    monkeypatch.setattr(bounded, "call", late)
    got = careful_score("x+1", "1+x", "Expression", None, None, False)
    assert got.value == 0.0
    assert got.metrics == {TIMED_OUT: 1.0}
    assert got.reason.startswith("timed out after 5 s")


def test_failure_of_the_worker_is_wrong_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, seconds: float, imports: object) -> bounded.Outcome:
        return bounded.Outcome(value=None, failure="out of memory")

    monkeypatch.setattr(bounded, "call", broken)
    got = careful_score("x+1", "1+x", "Expression", None, None, False)
    assert got == Score(value=0.0, reason="out of memory; got x+1; gold is 1+x")


HOSTILE = {
    "tower": "9^{9^{9^{9}}}",
    "long tower": "^".join(["9"] * 1500),
    "factorials": "9" + "!" * 60,
    "factorial of a factorial": "(((99!)!)!)!",
    "power of a power": r"2^{2^{2^{2^{2^{2}}}}}-2^{2^{2^{2^{2^{2}}}}}",
    "large exponent": "1e999999999",
    "many digits": "7" * 3900,
    "100 kB": "1+" * 50_000,
    "open braces": "{" * 3000,
    "nested braces": "{" * 1900 + "1" + "}" * 1900,
    "nested brackets": "(" * 1900 + "1" + ")" * 1900,
    "nested sets": r"\{" * 900 + "1" + r"\}" * 900,
    "nested roots": r"\sqrt{" * 500 + "2" + "}" * 500,
    "nested fractions": r"\frac{1}{1+" * 300 + "2" + "}" * 300,
    "code": "__import__('os').system('touch /tmp/sero_was_here')",
    "more code": "().__class__.__bases__[0].__subclasses__()",
    "null byte": "4\x002",
    "control characters": "".join(map(chr, range(32))) + "42",
    "surrogate": "\ud800",
    "series": r"\sum_{a=1}^{2000}\sum_{b=1}^{2000}\sum_{c=1}^{2000} a!b!c!",
    "signs": r"\pm 1" * 400,
    "many answers": ",".join(str(i) for i in range(900)),
    "many signed answers": ",".join([r"\pm\pm\pm\pm 1"] * 90),
    "unions": r"\cup".join(f"({i},{i + 1})" for i in range(200)),
    "binomial": r"\binom{10^{9}}{5\cdot 10^{8}}",
    "digits of e": "e^{e^{e^{e^{e^{e}}}}}",
    "labels": "A_{1}" * 700 + "=x=",
    "commands": "\\" * 3000,
    "texts": r"\text{" * 600,
    "dollars": "$" * 3000,
    "commas": "," * 3900,
    "equals": "=" * 3900,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize(
    ("gold", "kind"),
    [
        ("42", "Numerical"),
        (r"$n^{2}+n$", "Expression"),
        ("$(1,2)$", "Tuple"),
        (r"$(0,1)\cup(2,3)$", "Interval"),
        ("$x+y=1$", "Equation"),
    ],
    ids=["number", "expression", "tuple", "interval", "equation"],
)
def test_hostile_text_is_wrong_in_time(text: str, gold: str, kind: str) -> None:
    start = time.monotonic()
    candidate, _ = extract(f"So the final answer is \\boxed{{{text}}}.")
    for given in (candidate, text):
        got = careful_score(given, gold, kind, None, None, False)
        assert got.value == 0.0 or text.endswith("42")
    assert time.monotonic() - start < 12.0  # two verdicts of at most six seconds
    assert not Path("/tmp/sero_was_here").exists()


@pytest.mark.slow
def test_a_thousand_verdicts_within_a_minute(shared_olympiadbench: Path) -> None:
    vectors = list(lines(shared_olympiadbench / "scorer_vectors.jsonl"))
    start = time.monotonic()
    for i in range(1000):
        vector = vectors[i % len(vectors)]
        score(vector["response"], vector["item"])
    assert time.monotonic() - start < 60.0

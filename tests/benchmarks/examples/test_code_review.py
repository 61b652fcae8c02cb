"""Code review: planted faults, the list of findings, F1."""

import ast
import re
import time

import pytest

from sero.benchmarks.examples.code_review import read_findings
from sero.errors import DataError


def test_patches_are_python_and_faults_stand_where_the_items_say(example, tasks):
    kinds = example("code_review").kinds
    found = set()
    for task in tasks("code_review").values():
        lines = re.findall(r"^ *(\d+) \|(?: (.*))?$", task.prompt, re.MULTILINE)
        assert [int(number) for number, _ in lines] == list(range(1, len(lines) + 1))
        ast.parse("\n".join(text for _, text in lines))
        for number, kind in task.reference["faults"]:
            assert lines[number - 1][1].strip()
            found.add(kind)
    assert found == set(kinds), "every kind is planted somewhere"


def patch(task) -> dict:
    """The names that a patch defines; the packaged patches are our own."""
    lines = re.findall(r"^ *\d+ \|(?: (.*))?$", task.prompt, re.MULTILINE)
    names: dict = {}
    exec("\n".join(lines), names)
    return names


def test_planted_faults_are_faults_and_clean_patches_keep_their_promises(tasks):
    found = tasks("code_review")
    letters = list("abcde")
    assert patch(found["pages"])["page_of"](letters, 1, 2) == ["c", "d"]  # promised: a, b
    with pytest.raises(ZeroDivisionError):
        patch(found["ratings"])["mean_rating"]([])  # promised: 0
    assert patch(found["discount"])["price"](100, 1, True) == 90  # promised: 100
    assert patch(found["sessions"])["ADMIN_TOKEN"]
    slug = patch(found["slugs"])["slug"]
    assert [slug("A  b, c!"), slug("abc def", 4), slug("!")] == ["a-b-c", "abc", ""]
    recent = patch(found["recent"])["Recent"](2)
    for key in "abab":
        recent.store(key, key.encode())
    recent.store("c", b"c")
    assert [recent.find(key) for key in "abc"] == [None, b"b", b"c"]
    with pytest.raises(ValueError, match="at least 1"):
        patch(found["recent"])["Recent"](0)


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("Findings:\n- 8: injection", "8 injection"),
        ("Findings: - 8: injection", "8 injection"),
        ("I see it.\n**Findings:**\n* `8`: Injection\n", "8 injection"),
        ("## Findings:\n- line 8: injection (the typed text)", "8 injection"),
        ("Findings:\n12: off by one - starts late\n- 8, injection", "8 injection; 12 off-by-one"),
        ("Findings:\n- 8: injection\n- 8: injection\n\nThat is all.", "8 injection"),
        ("Findings:\n- 3: secret\nOn reflection:\nFindings:\n- 4: secret", "4 secret"),
        ("Findings: none", "none"),
        ("Findings:\n- None.", "none"),
        ("Findings:\n- 8: no-such-kind", "8 no-such-kind"),  # a false alarm like any other
        ("<think>Findings: none</think>Findings:\n- 2: secret", "2 secret"),
        ("<think>Findings: none", None),
        ("- 8: injection", None),
        ("My findings: none", None),
        ("Findings:", None),
        ("Findings: the code is fine", None),
        ("Findings:\n- 8: injection\n- and one more", None),
        ("Findings: none\n- 8: injection", None),
        ("Findings:\n- 0: injection", None),
        ("Findings:\n" + "\n".join(f"- {i}: secret" for i in range(1, 42)), None),
        ("", None),
    ],
)
def test_what_is_read(example, response, answer):
    parsed = example("code_review").parse("any prompt", response)
    assert parsed.answer == answer
    assert bool(parsed.reason) == (answer is None)


@pytest.mark.parametrize(
    ("task", "response", "score", "missed", "false_alarms"),
    [
        ("sessions", "- 4: secret\n- 9: unsafe-load", 1.0, 0, 0),
        ("sessions", "- 9: unsafe-load\n- 4: secret", 1.0, 0, 0),
        ("sessions", "- 4: secret", 2 / 3, 1, 0),  # 2 * 1 / (1 + 2)
        ("sessions", "- 4: secret\n- 9: unsafe-load\n- 14: dead-code", 4 / 5, 0, 1),
        ("sessions", "- 4: secret\n- 8: unsafe-load", 1 / 2, 1, 1),  # beside its line
        ("sessions", "- 4: unsafe-load\n- 9: secret", 0.0, 2, 2),  # under the other's kind
        ("sessions", "none", 0.0, 2, 0),
        ("slugs", "none", 1.0, 0, 0),
        ("slugs", "- 9: off-by-one", 0.0, 0, 1),
    ],
)
def test_the_score_is_f1_over_lines_and_kinds(
    example, tasks, task, response, score, missed, false_alarms
):
    benchmark, task = example("code_review"), tasks("code_review")[task]
    verdict = benchmark.score(benchmark.parse(task.prompt, f"Findings:\n{response}"), task)
    assert verdict.value == pytest.approx(score)
    assert verdict.metrics == {"missed": missed, "false_alarms": false_alarms}


def test_the_prompt_itself_is_no_review(example, tasks):
    benchmark = example("code_review")
    for task in tasks("code_review").values():
        parsed = benchmark.parse(task.prompt, task.prompt)
        assert parsed.answer is None
        assert benchmark.score(parsed, task).value == 0.0
    assert benchmark.scorer == "planted_f1"


def test_reading_takes_linear_time():
    began = time.perf_counter()
    for text in ("Findings:\n" * 50_000, "Findings:\n-" + " " * 10**6, "- 1: a-" * 10**5):
        read_findings(text)
        read_findings("Findings:\n" + text)
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"patch": " "}, "patch: got ' '"),
        ({"faults": None}, "faults: got None"),
        ({"faults": [{"at": "x", "kind": "secret"}]}, r"faults\[0\]\.at: on 2 lines"),
        ({"faults": [{"at": "z", "kind": "secret"}]}, r"faults\[0\]\.at: on 0 lines"),
        ({"faults": [{"at": "= 1", "kind": "secrt"}]}, r"got 'secrt'; did you mean 'secret'"),
        ({"faults": [{"at": "= 1", "kind": "secret"}] * 2}, "stands there twice"),
    ],
)
def test_faults_of_an_item(example, changes, fault):
    item = {"id": "a", "patch": "x = 1\nx = 2\n", "faults": []}
    with pytest.raises(DataError, match=fault):
        example("code_review").task_from_data({**item, **changes})

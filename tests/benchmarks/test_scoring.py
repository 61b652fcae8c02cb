import json
import threading
import time

import pytest

from sero.benchmarks.base import Score
from sero.benchmarks.scoring import AHEAD, Line, judge, numbered, verdicts

SUM = {"kind": "sums", "answer": "6"}


def line(response="Answer: 6", item=SUM, **more):
    return json.dumps({"item": item, "response": response, **more}).encode() + b"\n"


def judged(bench, data):
    return judge(bench, Line(number=3, index=2, data=data))


def test_blank_lines_are_counted_and_passed_over():
    lines = [b"\xef\xbb\xbfa\n", b"\n", b" \t\r\n", b"b\n", b"c"]
    assert [(line.number, line.index, line.data) for line in numbered(lines)] == [
        (1, 0, b"a\n"),
        (4, 1, b"b\n"),
        (5, 2, b"c"),
    ]
    assert list(numbered([])) == list(numbered([b"\xef\xbb\xbf"])) == []


def test_a_response_is_scored_and_the_rest_of_its_line_ignored(quiz):
    verdict = judged(quiz(), line(official_score=0.0, note="x", index=9))
    assert verdict.record() == {"index": 2, "score": 1.0, "parsed": "6", "reason": "gold is 6"}
    verdict = judged(quiz(), line("six"))
    reason = "no line 'Answer:'"
    assert verdict.record() == {"index": 2, "score": 0.0, "parsed": None, "reason": reason}


@pytest.mark.parametrize("response", ["", "\ud800", "x" * 100_000, "\x00", "{}", "null"])
def test_any_text_has_a_score(quiz, response):
    assert judged(quiz(), line(response)).score == 0.0


@pytest.mark.parametrize(
    ("data", "faults"),
    [
        (b"{", ["not JSON: Expecting property name"]),
        (b"[" * 100_000, ["not JSON: "]),
        (b"[1]", ["got list; one object a line"]),
        (b'{"item": {}, "item": {}}', ["not JSON: the key 'item' occurs twice"]),
        (b"\xff{}", ["not UTF-8 text (byte 0)"]),
        (b"{}", ["item: missing; the published fields", "response: missing; the text of"]),
        (line(None), ["response: missing; the text of a response is wanted"]),
        (line(3.5), ["response: got float; the text of a response is wanted"]),
        (line(["a"]), ["response: got list; the text of a response is wanted"]),
        (line(item=None), ["item: missing; the published fields of an item are wanted"]),
        (line(item="x"), ["item: got str; the published fields of an item are wanted"]),
        (line(item={}), ["kind: missing", "answer: missing"]),
    ],
)
def test_a_line_that_cannot_be_scored_says_all_that_is_wrong(quiz, data, faults):
    verdict = judged(quiz(), data)
    assert verdict.score is None
    assert len(verdict.faults) == len(faults)
    for found, wanted in zip(verdict.faults, faults, strict=True):
        assert found.startswith(f"line 3: {wanted}")


def test_a_scorer_that_was_stopped_says_so(quiz):
    stopped = judged(quiz(slow=True), line("forever Answer: 6"))
    assert stopped.record() == {
        "index": 2,
        "score": 0.0,
        "parsed": "6",
        "reason": "stopped",
        "timed_out": True,
    }


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_order_is_that_of_the_lines_whoever_is_first(quiz, workers):
    waits = [0.05, 0.0, 0.02, 0.0, 0.04, 0.0, 0.0, 0.01] * 3
    data = [line(f"{wait} s, Answer: {i}") for i, wait in enumerate(waits)]
    data[5] = b"broken"
    found = list(verdicts(quiz(slow=True), data, workers=workers))
    assert [verdict.index for verdict in found] == list(range(24))
    assert [verdict.score for verdict in found] == [
        None if i == 5 else float(i == 6) for i in range(24)
    ]


def test_several_responses_are_scored_at_once(quiz, monkeypatch):
    bench = quiz(slow=True)
    meeting = threading.Barrier(2)

    def score(parsed, task):
        meeting.wait(timeout=5.0)  # breaks unless another response is scored meanwhile
        return Score(value=1.0, reason="")

    monkeypatch.setattr(bench, "score", score)
    assert len(list(verdicts(bench, [line()] * 8, workers=2))) == 8


@pytest.mark.parametrize(("slow", "workers"), [(False, 1), (True, 2)])
def test_a_verdict_is_given_out_before_more_input_is_there(quiz, slow, workers):
    asked = threading.Event()

    def lines():
        yield line("0 s, Answer: 6")
        assert asked.wait(5.0), "the first verdict waits for the second line"
        yield line("0 s, Answer: 7")

    scored = verdicts(quiz(slow=slow), lines(), workers=workers)
    assert next(scored).score == 1.0
    asked.set()
    assert [verdict.score for verdict in scored] == [0.0]


def test_no_more_is_read_ahead_than_is_needed(quiz):
    read = []

    def lines():
        for i in range(1000):
            read.append(i)
            yield line("0 s, Answer: 6")

    scored = verdicts(quiz(slow=True), lines(), workers=2)
    next(scored)
    time.sleep(0.05)
    assert len(read) <= 2 * AHEAD + 2
    scored.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_input_that_breaks_off_is_an_error_after_what_came(quiz, workers):
    def lines():
        yield line("0 s, Answer: 6")
        raise OSError(5, "Input/output error")

    scored = verdicts(quiz(slow=True), lines(), workers=workers)
    assert next(scored).score == 1.0
    with pytest.raises(OSError, match="Input/output error"):
        next(scored)

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SUM = {"kind": "sums", "answer": "6"}


def line(response, item=SUM, **more):
    return {"item": item, "response": response, **more}


@pytest.fixture
def responses(tmp_path, write_lines):
    """Two right, one wrong, one unreadable."""
    texts = ("Answer: 6", "Answer: 7", "six", "Answer: 6")
    return write_lines(tmp_path / "in.jsonl", [line(text, note="x") for text in texts])


@pytest.fixture
def score_quiz(sero, quiz_conf):
    def run(*arguments):
        return sero("score", "--benchmark", "quiz", "--conf", quiz_conf, *arguments)

    return run


def records(text):
    return [json.loads(line) for line in text.splitlines()]


def test_one_line_for_each_response(score_quiz, responses):
    found = score_quiz(responses)
    assert found.code == 0
    assert records(found.out) == [
        {"index": 0, "score": 1.0, "parsed": "6", "reason": "gold is 6"},
        {"index": 1, "score": 0.0, "parsed": "7", "reason": "gold is 6"},
        {"index": 2, "score": 0.0, "parsed": None, "reason": "no line 'Answer:'"},
        {"index": 3, "score": 1.0, "parsed": "6", "reason": "gold is 6"},
    ]
    assert found.err == "quiz, scorer careful: 4 scored, mean 0.5000, 0 timed out\n"


def test_the_scorer_is_chosen(score_quiz, tmp_path, write_lines):
    path = write_lines(tmp_path / "in.jsonl", [line("Answer: oka", {"kind": "w", "answer": "Oka"})])
    for options, score in (
        ((), 1.0),
        (("--scorer", "careful"), 1.0),
        (("--scorer", "official"), 0),
    ):
        found = score_quiz(*options, path)
        assert records(found.out)[0]["score"] == score
        assert f"scorer {options[-1] if options else 'careful'}:" in found.err


def test_lines_that_cannot_be_scored_cost_no_other_its_score(score_quiz, responses):
    good = responses.read_text().splitlines()
    broken = [good[0], "", "{", json.dumps(line(None)), json.dumps(line("a", {})), "", good[3]]
    responses.write_text("\n".join(broken))
    found = score_quiz(responses)
    assert found.code == 2
    assert [(r["index"], r["score"]) for r in records(found.out)] == [(0, 1.0), (4, 1.0)]
    assert found.err.splitlines() == [
        "quiz, scorer careful: 2 scored, mean 1.0000, 0 timed out",
        f"error: {responses}: 4 problem(s) in the data",
        "  line 3: not JSON: Expecting property name enclosed in double quotes: line 1 column 2 "
        "(char 1)",
        "  line 4: response: missing; the text of a response is wanted",
        "  line 5: kind: missing",
        "  line 5: answer: missing",
    ]


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_no_lines_are_a_mistake(score_quiz, responses, text):
    responses.write_text(text)
    found = score_quiz(responses)
    assert found.code == 2
    assert "0 scored, 0 timed out" in found.err
    assert "no lines in it" in found.err


def test_a_file_gets_the_same_lines(score_quiz, responses, tmp_path):
    out = tmp_path / "scores.jsonl"
    out.write_text("from before\n")
    found = score_quiz("--out", out, responses)
    assert out.read_text() == found.out
    assert len(records(found.out)) == 4


def test_a_file_that_is_read_is_not_written_to(score_quiz, responses, tmp_path):
    before = responses.read_text()
    (tmp_path / "link.jsonl").symlink_to(responses)
    found = score_quiz("--out", tmp_path / "link.jsonl", responses)
    assert found.code == 2
    assert "the file that is read" in found.err
    assert responses.read_text() == before


def test_a_full_disk_keeps_its_own_exit_code(score_quiz, responses):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    found = score_quiz("--out", "/dev/full", responses)
    assert found.code == 74
    assert "the disk is full" in found.err


def test_what_a_model_wrote_cannot_steer_a_terminal(score_quiz, tmp_path, write_lines, escape):
    path = write_lines(tmp_path / "in.jsonl", [line(f"Answer: {escape}é\x9b")])
    found = score_quiz(path)
    assert found.out.isascii()
    assert not set(found.out) & {"\x1b", "\x07"}
    assert records(found.out)[0]["parsed"] == f"{escape}é\x9b"


def test_stopped_scorers_are_marked_and_counted(sero, quiz_conf, tmp_path, write_lines):
    texts = ("0 s, Answer: 6", "forever", "0.05 s, Answer: 6", "0 s, Answer: 6")
    path = write_lines(tmp_path / "in.jsonl", [line(text) for text in texts])
    found = sero("score", "--benchmark", "slow_quiz", "--conf", quiz_conf, path)
    assert [record.get("timed_out") for record in records(found.out)] == [None, True, None, None]
    assert found.err == "slow_quiz, scorer careful: 4 scored, mean 0.7500, 1 timed out\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--benchmark", "naturaplan"), "did you mean 'naturalplan'?"),
        (("--benchmark", "a,b"), "no choice 'a,b'"),
        (("--benchmark", "it's"), "no choice"),
        (("--benchmark", "naturalplan", "--scorer", "carefull"), "naturalplan offers careful, "),
        (("--benchmark", "naturalplan", "--scorer", "carefull"), "did you mean 'careful'?"),
        (("--benchmark", "skillworld"), "skillworld is simulated"),
        (("--benchmark", "naturalplan", "--conf", "nowhere"), "--conf nowhere: no such folder"),
        (("--benchmark", "naturalplan", "--workers", "0"), "--workers"),
        ((), "--benchmark"),
    ],
)
def test_a_users_mistake_is_told(sero, responses, options, message):
    found = sero("score", *options, responses)
    assert found.code == 2
    assert found.out == ""
    assert message in found.err
    assert "Traceback" not in found.err


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_a_file_that_cannot_be_read_is_told(score_quiz, tmp_path, kind):
    path = tmp_path / "nowhere.jsonl" if kind == "missing" else tmp_path
    found = score_quiz(path)
    assert found.code == 2
    assert str(path) in found.err


@pytest.fixture
def piped(quiz_conf):
    """`sero score --benchmark slow_quiz -` as a process, its three streams open."""
    quiz = Path(__file__).resolve().parents[1] / "quiz"
    command = [sys.executable, "-c", "from sero.cli import main; main()", "score"]
    command += ["--benchmark", "slow_quiz", "--conf", str(quiz_conf), "-"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(quiz)},
    ) as process:
        yield process
        process.kill()


def asked(process, *texts):
    """Send responses; returns the first record that comes, before the input ends."""
    for text in texts:
        process.stdin.write(json.dumps(line(text)) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def test_a_pipe_is_answered_line_by_line(piped):
    assert asked(piped, "0 s, Answer: 6")["score"] == 1.0
    assert asked(piped, "0 s, Answer: 7") == {
        "index": 1,
        "score": 0.0,
        "parsed": "7",
        "reason": "gold is 6",
    }
    _, err = piped.communicate(timeout=60)
    assert piped.returncode == 0
    assert err == "slow_quiz, scorer careful: 2 scored, mean 0.5000, 0 timed out\n"


def test_an_interrupt_ends_it_though_input_is_waited_for(piped):
    assert asked(piped, "0 s, Answer: 6", "0.5 s, Answer: 6")["index"] == 0
    piped.send_signal(signal.SIGINT)
    assert piped.wait(timeout=30) == 130
    assert "Traceback" not in piped.stderr.read()


VECTORS = [
    ("naturalplan", 97),
    ("tablebench", 125),
    pytest.param("olympiadbench", 134, marks=pytest.mark.slow),
]


def vectors(benchmark):
    default = Path(__file__).resolve().parents[3] / "shared"
    path = Path(os.environ.get("SERO_SHARED", default)) / "data" / benchmark
    if not path.is_dir():
        pytest.skip(f"no sample data at {path}; set SERO_SHARED to the folder that holds data/")
    return path / "scorer_vectors.jsonl"


@pytest.mark.parametrize("scorer", ["careful", "official"])
@pytest.mark.parametrize(("benchmark", "n"), VECTORS)
def test_published_vectors_have_the_score_they_should(sero, benchmark, n, scorer):
    path = vectors(benchmark)
    found = sero("score", "--benchmark", benchmark, "--scorer", scorer, path)
    assert found.code == 0
    scored = records(found.out)
    wanted = records(path.read_text())
    assert len(scored) == len(wanted) == n
    wrong = []
    for record, vector in zip(scored, wanted, strict=True):
        target = vector["official_score"]
        if scorer == "careful":
            if vector.get("format_violation"):
                continue
            target = vector.get("expected_score", target)
        if target is not None and abs(record["score"] - target) > 1e-6:
            wrong.append((record, vector["note"]))
    assert wrong == []


@pytest.mark.slow
def test_a_thousand_olympiad_responses_take_less_than_a_minute(sero, tmp_path):
    lines = vectors("olympiadbench").read_text().splitlines()
    path = tmp_path / "thousand.jsonl"
    path.write_text("\n".join(lines[i % len(lines)] for i in range(1000)))
    started = time.monotonic()
    found = sero("score", "--benchmark", "olympiadbench", path)
    assert len(records(found.out)) == 1000
    assert time.monotonic() - started < 60.0

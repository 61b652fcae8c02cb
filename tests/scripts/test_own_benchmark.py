"""README's page "Your own benchmark", done as it says: in a checkout's copy, and outside one."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import gold_server
import pytest
import yaml
from chat_server import serving

from sero.cli import main

ROOT = Path(__file__).resolve().parents[2]
TITLE = "### Your own benchmark"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATH = re.compile(r"# (\S+)\n")


@dataclass(frozen=True)
class Page:
    """What the page shows.

    Attributes:
        files: path in the checkout to its text.
        item: the one item it shows.
        commands: the command lines, in order.
        record: the line that `sero score` reads.
    """

    files: dict[str, str]
    item: dict
    commands: list[list[str]]
    record: dict


@pytest.fixture(scope="module")
def page() -> Page:
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition(TITLE)[2]
    text = re.split(r"^##", text, maxsplit=1, flags=re.MULTILINE)[0]
    blocks = BLOCK.findall(text)
    files = {PATH.match(body)[1]: body for kind, body in blocks if kind in ("python", "yaml")}
    (item,) = [json.loads(body) for kind, body in blocks if kind == "json"]
    (commands,) = [body.replace("\\\n", " ") for kind, body in blocks if not kind]
    (record,) = [json.loads(found) for found in re.findall(r'`(\{"item".*?\})`', text)]
    return Page(files, item, [shlex.split(line) for line in commands.splitlines()], record)


def questions() -> list[dict]:
    """Twelve of each subject; the right letter is not always the same."""
    return [
        {
            "id": f"{subject}-{i}",
            "subject": subject,
            "question": f"What is {i} {sign} 1?",
            "choices": [str(i - 2), str(i - 1), str(i), str(i + 1)],
            "answer": letter,
        }
        for subject, sign, letter in (("sums", "+", "D"), ("differences", "-", "B"))
        for i in range(5, 17)
    ]


def write_lines(path: Path, lines: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_the_page_is_a_class_a_configuration_and_four_cards(page):
    assert sorted(page.files) == [
        "conf/benchmark/quiz.yaml",
        "sero/benchmarks/quiz.py",
        "sero/prompts/quiz/seed_pool.yaml",
    ]
    code = page.files["sero/benchmarks/quiz.py"].splitlines()
    assert sum(bool(line.strip()) for line in code) < 30
    assert len(yaml.safe_load(page.files["sero/prompts/quiz/seed_pool.yaml"])["roles"]) == 4
    assert [command[0] for command in page.commands] == ["sero", "python", "python", "sero"]


@pytest.mark.slow
def test_the_page_works_in_a_checkout(page, tmp_path):
    checkout = tmp_path / "checkout"
    for part in ("sero", "conf", "scripts"):
        ignore = shutil.ignore_patterns("*.pyc.*")  # another process writes it
        shutil.copytree(ROOT / part, checkout / part, ignore=ignore)
    for path, text in page.files.items():
        (checkout / path).parent.mkdir(parents=True, exist_ok=True)
        (checkout / path).write_text(text, encoding="utf-8")
    write_lines(checkout / "data" / "quiz.jsonl", [page.item, *questions()])
    write_lines(checkout / "responses.jsonl", [page.record, {**page.record, "response": "yes"}])
    lint, dry, real, score = page.commands

    def run(command: list[str], *more: str) -> subprocess.CompletedProcess[str]:
        programs = {
            "python": [sys.executable],
            "sero": [sys.executable, "-c", "from sero.cli import main; main()"],
        }
        done = subprocess.run(
            [*programs[command[0]], *command[1:], *more],
            cwd=checkout,
            capture_output=True,
            text=True,
            timeout=240,
            env={**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"},
        )
        assert done.returncode == 0, done.stderr
        return done

    assert "4 cards" in run(lint).stdout
    scores = [json.loads(line)["score"] for line in run(score).stdout.splitlines()]
    assert scores == [1.0, 0.0]

    run(dry, "train.warmup_epochs=1", "train.main_epochs=1", "progress=none")
    (result,) = (checkout / "runs" / "single").glob("*/sero/quiz/seed_42/result.json")
    found = json.loads(result.read_text())
    # all but the four for training; "A" is right nowhere
    assert (found["n"], found["failures"], found["mean_score"]) == (21, 0, 0.0)
    shutil.rmtree(checkout / "runs")

    answers = {}
    for question in [page.item, *questions()]:
        letters = "ABCD"[: len(question["choices"])]
        listed = [f"{a}) {b}" for a, b in zip(letters, question["choices"], strict=True)]
        prompt = "\n".join([question["question"], *listed])
        right = f"Answer: {question['answer']}"
        answers[prompt] = gold_server.Answers(right=right, wrong="Answer: A")
    server = gold_server.GoldServer(answers, "choice-writer", base=1.0)
    with serving(server):
        words = ["encoder=hashing" if word == "encoder=minilm" else word for word in real]
        words = [
            f"backbone.base_url={server.url}" if word.startswith("backbone.base_url=") else word
            for word in words
        ]
        run(words, "benchmark.n_train=4", "train.main_epochs=1", "logger=none", "progress=none")
    (result,) = (checkout / "runs" / "single").glob("*/sero/quiz/seed_42/result.json")
    found = json.loads(result.read_text())
    assert (found["benchmark"], found["scorer"], found["n"]) == ("quiz", "exact", 21)
    assert set(found["groups"]) <= {"sums", "differences", "biology"}
    assert found["mean_score"] > 0.5
    assert len(server.bodies) == found["requests"]


@pytest.fixture
def outside(page, tmp_path, monkeypatch) -> Iterator[Path]:
    """A folder of the user's own, in the layout of the page's last paragraph."""
    code, conf, cards = (
        page.files[path]
        for path in (
            "sero/benchmarks/quiz.py",
            "conf/benchmark/quiz.yaml",
            "sero/prompts/quiz/seed_pool.yaml",
        )
    )
    (tmp_path / "benchmark").mkdir()
    (tmp_path / "own_quiz.py").write_text(code)
    (tmp_path / "seed_pool.yaml").write_text(cards)
    conf = conf.replace("sero.benchmarks.quiz.Quiz", "own_quiz.Quiz")
    (tmp_path / "benchmark" / "quiz.yaml").write_text(f"{conf}prompts: {tmp_path}\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("own_quiz", None)


@pytest.mark.parametrize(
    ("response", "score", "parsed"),
    [
        ("Answer: B", 1.0, "B"),
        ("It is A.\nAnswer: **B** (carbon dioxide)", 1.0, "B"),
        ("Answer: A\nNo: Answer: (B)", 1.0, "B"),
        ("<think>Answer: B</think>Answer: C", 0.0, "C"),
        ("Answer: Because", 0.0, None),
        ("B", 0.0, None),
    ],
)
def test_it_works_outside_a_checkout(page, outside, capsys, response, score, parsed):
    write_lines(outside / "in.jsonl", [{"item": page.item, "response": response}])
    with pytest.raises(SystemExit) as ended:
        main(["score", "--benchmark", "quiz", "--conf", str(outside), str(outside / "in.jsonl")])
    out, _ = capsys.readouterr()
    assert ended.value.code == 0
    line = json.loads(out)
    assert (line["score"], line["parsed"]) == (score, parsed)


def test_a_faulty_item_is_told_by_its_line(page, outside, capsys):
    write_lines(outside / "in.jsonl", [{"item": {**page.item, "answer": "Z"}, "response": "B"}])
    with pytest.raises(SystemExit) as ended:
        main(["score", "--benchmark", "quiz", "--conf", str(outside), str(outside / "in.jsonl")])
    _, err = capsys.readouterr()
    assert ended.value.code == 2
    assert "line 1: answer: got 'Z', not one of ['A', 'B', 'C']" in err

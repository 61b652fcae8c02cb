"""`scripts/prepare_data.py` as a user calls it."""

import dataclasses
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import prepare_data
import pyarrow
import pytest
from huggingface_hub import constants
from pyarrow import parquet

from sero.benchmarks import hub
from sero.benchmarks.generate.planning import generate_naturalplan

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "prepare_data.py"


@pytest.fixture
def prepare(tmp_path, monkeypatch, capsys):
    """Run the script in this process and an empty folder: its exit code and both outputs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hf"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)

    def run(*arguments):
        code = prepare_data.main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def copy(tmp_path, quiz_rows, write_lines):
    return write_lines(tmp_path / "copy.jsonl", quiz_rows)


def started(*arguments, cwd, **variables):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SCRIPT.parents[1]), **variables},
    )


def items(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_local_copy_is_prepared_where_a_run_reads_it(prepare, quiz_conf, copy, tmp_path):
    code, out, err = prepare("--config-dir", quiz_conf, "benchmark=quiz", f"source={copy}")
    assert (code, err) == (0, "")
    target = tmp_path / "data" / "quiz.jsonl"
    manifest = json.loads(target.with_name("quiz.manifest.json").read_text())
    assert len(items(target)) == manifest["items"] == 6
    lines = out.splitlines()
    assert lines[0] == f"quiz: 6 items from {copy}"
    assert "  2 item(s) left out: they need a picture" in lines
    assert "  w1: the gold is misspelt" in lines
    assert f"  sha256 {manifest['sha256']}" in lines
    assert lines[-1].startswith(
        "next: python scripts/train.py experiment=single benchmark=quiz encoder=minilm backbone="
    )


def test_the_next_command_takes_the_overrides_along(prepare, quiz_conf, copy, tmp_path):
    folder = tmp_path / "my data"
    code, out, _ = prepare(
        *("--config-dir", quiz_conf, "benchmark=quiz", f"source={copy}"),
        *(f"paths.data={folder}", "benchmark.allow_counts=true", "overwrite=true"),
    )
    assert code == 0
    assert (folder / "quiz.jsonl").exists()
    command = out.splitlines()[-1]
    assert f"benchmark=quiz 'paths.data={folder}' benchmark.allow_counts=true encoder=" in command


def test_again_and_with_other_content(prepare, quiz_conf, copy, quiz_rows, write_lines):
    line = ("--config-dir", quiz_conf, "benchmark=quiz", f"source={copy}")
    assert prepare(*line)[0] == 0
    code, out, _ = prepare(*line)
    assert code == 0
    assert "unchanged: data/quiz.jsonl" in out
    write_lines(copy, [{**row, "level": "hard"} for row in quiz_rows])
    code, out, err = prepare(*line)
    assert (code, out) == (2, "")
    assert "data/quiz.jsonl: there is a file of other content" in err
    assert prepare(*line, "overwrite=true")[0] == 0
    assert items(Path("data/quiz.jsonl"))[0]["level"] == "hard"


def test_other_counts_than_published_are_refused(prepare, quiz_conf, copy, quiz_rows, write_lines):
    write_lines(copy, quiz_rows[:3])
    line = ("--config-dir", quiz_conf, "benchmark=quiz", f"source={copy}")
    code, out, err = prepare(*line)
    assert (code, out) == (2, "")
    assert "sums: 3 items found, 4 expected" in err
    assert not Path("data").exists()
    assert prepare(*line, "benchmark.allow_counts=true")[0] == 0


@pytest.mark.parametrize("name", ["skillworld", "toy"])
def test_a_benchmark_that_makes_its_items_says_so(prepare, name):
    code, out, err = prepare(f"benchmark={name}")
    assert (code, err) == (0, "")
    assert "there is nothing to prepare" in out
    assert not Path("data").exists()


def test_faults_of_the_command_line_are_told_together(tmp_path):
    ended = started("benchmark=tablebnech", "sorce=x", "overwrite=1.5", cwd=tmp_path)
    assert ended.returncode == 2
    assert ended.stdout == ""
    lines = ended.stderr.splitlines()
    assert lines[0] == "conf/ and the command line: 3 problem(s) in the configuration"
    assert "did you mean 'tablebench'?" in lines[1]
    assert "sorce: unknown key; did you mean 'source'?" in lines[2]
    assert list(tmp_path.iterdir()) == []


def test_help_has_an_example(tmp_path):
    ended = started("--help", cwd=tmp_path)
    assert ended.returncode == 0
    assert "python scripts/prepare_data.py benchmark=naturalplan" in ended.stdout


def test_without_network_the_way_round_is_told_at_once(tmp_path, closed_port):
    started_at = time.monotonic()
    ended = started(
        "benchmark=tablebench",
        cwd=tmp_path,
        HF_ENDPOINT=f"http://127.0.0.1:{closed_port}",
        HF_HUB_OFFLINE="0",
        HF_HOME=str(tmp_path / "hf"),
        no_proxy="127.0.0.1",
    )
    assert ended.returncode == 2
    assert "Multilingual-Multimodal-NLP/TableBench" in ended.stderr
    assert "cannot be reached: Connection refused" in ended.stderr
    assert "python scripts/prepare_data.py benchmark=tablebench source=PATH" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert time.monotonic() - started_at < 20.0  # of which the imports take most


def test_offline_nothing_is_tried(prepare, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    code, _, err = prepare("benchmark=tablebench")
    assert code == 2
    assert "HF_HUB_OFFLINE is set" in err
    assert "source=PATH" in err


def test_naturalplan_is_fetched_from_its_repository(prepare, site, monkeypatch):
    source = dataclasses.replace(hub.NATURALPLAN, base=site.url)
    monkeypatch.setattr(hub, "NATURALPLAN", source)
    made = generate_naturalplan(12, seed=0, difficulty=1)
    for file in source.files:
        group = Path(file).stem
        found = {
            item["example_id"]: {**item, "pred_5shot_pro": "a model output"}
            for item in made
            if item["task"] == group
        }
        site.pages[f"/{source.repository}/{source.revision}/{file}"] = json.dumps(found).encode()
    code, out, err = prepare("benchmark=naturalplan", "benchmark.allow_counts=true")
    assert code == 0, err
    assert out.startswith(
        f"naturalplan: 12 items from google-deepmind/natural-plan at {source.revision}\n"
    )
    assert "a model output" not in Path("data/naturalplan.jsonl").read_text()
    code, _, err = prepare("benchmark=naturalplan")
    assert code == 2
    assert "trip_planning: 4 items found, 1600 expected" in err


def table_item(i):
    return {
        "id": f"t{i}",
        "qtype": "NumericalReasoning",
        "qsubtype": "Counting",
        "table": {"columns": ["Boat", "Crew"], "data": [["Ada", "3"], ["Bea", str(i)]]},
        "question": f"How many boats have a crew of {i}?",
        "answer": "1",
    }


def test_tablebench_is_fetched_from_its_dataset(prepare, site, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", site.url)
    commit = hub.TABLEBENCH.revision
    page = f"/datasets/{hub.TABLEBENCH.repository}/resolve/{commit}/TableBench.jsonl"
    site.pages[page] = "".join(json.dumps(table_item(i)) + "\n" for i in range(4)).encode()
    code, _, err = prepare("benchmark=tablebench", "benchmark.allow_counts=true")
    assert code == 0, err
    assert [item["id"] for item in items(Path("data/tablebench.jsonl"))] == ["t0", "t1", "t2", "t3"]
    assert json.loads(Path("data/tablebench.manifest.json").read_text())["revision"] == commit


def olympiad_item(i, subject):
    return {
        "id": i,
        "question": f"How many of {i} coins are gold?",
        "solution": ["All of them."],
        "final_answer": [str(i)],
        "context": None,
        "image_1": None,
        "modality": "Text-only",
        "difficulty": "Competition",
        "is_multiple_answer": False,
        "unit": None,
        "answer_type": "Numerical",
        "error": None,
        "question_type": "Open-ended",
        "subfield": "Algebra" if subject == "Math" else "Mechanics",
        "subject": subject,
        "language": "English",
    }


def test_olympiadbench_is_fetched_from_its_dataset(prepare, site, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", site.url)
    source = hub.OLYMPIADBENCH
    site.headers["X-Repo-Commit"] = "c" * 40
    for file, subject, revision in zip(
        source.files, ("Math", "Physics"), ("main", "c" * 40), strict=True
    ):
        buffer = io.BytesIO()
        rows = [olympiad_item(i, subject) for i in range(3)]
        parquet.write_table(pyarrow.Table.from_pylist(rows), buffer)
        site.pages[f"/datasets/{source.repository}/resolve/{revision}/{file}"] = buffer.getvalue()
    code, _, err = prepare(
        "benchmark=olympiadbench", "revision=main", "benchmark.allow_counts=true"
    )
    assert code == 0, err
    manifest = json.loads(Path("data/olympiadbench.manifest.json").read_text())
    assert manifest["groups"] == {"maths": 3, "physics": 3}
    assert manifest["revision"] == "c" * 40  # not `main`
    assert "All of them" not in Path("data/olympiadbench.jsonl").read_text()

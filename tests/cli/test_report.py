import json
import re
from pathlib import Path

import pytest
import yaml


@pytest.fixture
def finished(tmp_path):
    """A factory of finished runs below one folder: `finished(method, seed, score)`."""

    def make(method: str, seed: int, value: float, *, state="completed") -> Path:
        place = tmp_path / "table" / "main" / "base" / method / "toy"
        directory = place / f"seed_{seed}"
        directory.mkdir(parents=True)
        config = {"experiment": "main", "method": {"name": method}, "seed": seed}
        (directory / "config.yaml").write_text(yaml.safe_dump(config))
        manifest = {"benchmark": {"name": "toy", "data_sha256": f"world {seed}"}}
        (directory / "manifest.json").write_text(json.dumps(manifest | {"simulated": True}))
        status = {"state": state, "reason": None if state == "completed" else "no server"}
        (directory / "status.json").write_text(json.dumps(status))
        result = {"method": method, "benchmark": "toy", "seed": seed, "n": 1}
        result |= {"mean_score": value, "scorer": "exact", "backbone": "b", "simulated": True}
        (directory / "result.json").write_text(json.dumps(result | {"calls": 10}))
        line = {"id": "a", "group": "g", "score": value}
        (directory / "predictions.jsonl").write_text(json.dumps(line) + "\n")
        return directory

    return make


@pytest.fixture
def table(finished, tmp_path):
    """Two rows over two seeds; their folder."""
    for seed, ours, theirs in ((1, 0.75, 0.5), (2, 1.0, 0.5)):
        finished("sero", seed, ours)
        finished("static", seed, theirs)
    return tmp_path / "table"


def squeezed(text):
    return re.sub(r" +", " ", text)


def test_runs_below_a_folder_make_a_table(sero, table):
    found = sero("report", table)
    assert found.code == 0
    assert "main · toy · backbone b · scorer exact · SIMULATED" in found.out
    # mean .875, s = .17678, half width 12.706 · .125
    assert "sero 2 1 0.875 -0.713 to 2.463 0.177 0" in squeezed(found.out)
    assert "static 2 -0.375 -1.963 to +1.213 0/2 0.205 0.205" in squeezed(found.out)


def test_a_run_given_twice_counts_once(sero, table):
    twice = sero("report", table, table / "main" / "base" / "sero" / "toy" / "seed_1")
    assert twice.out == sero("report", table).out


def test_the_baseline_is_chosen(sero, table):
    out = squeezed(sero("report", table, "--baseline", "static").out)
    assert "sero 2 +0.375 -1.213 to +1.963 2/2 0.205 0.205" in out


def test_an_unknown_baseline_or_format_is_a_mistake(sero, table):
    found = sero("report", table, "--baseline", "nobody")
    assert (found.code, found.out) == (2, "")
    assert "no such row; the runs have base, sero, static" in found.err
    found = sero("report", table, "--format", "pdf")
    assert found.code == 2
    assert "one of text, md, tex, html" in found.err


@pytest.mark.parametrize(
    ("name", "arguments", "start"),
    [
        ("t.md", (), "## main · toy"),
        ("t.tex", (), "% Needs"),
        ("t.html", (), "<!doctype html>"),
        ("t.txt", (), "main · toy"),
        ("t.txt", ("--format", "md"), "## main · toy"),
    ],
)
def test_the_format_follows_the_file_unless_named(sero, table, tmp_path, name, arguments, start):
    found = sero("report", table, "--output", tmp_path / name, *arguments)
    assert found.code == 0
    assert found.out == f"{tmp_path / name}\n"
    text = (tmp_path / name).read_text()
    assert text.startswith(start)
    assert "SIMULATED" in text


def test_a_failed_run_is_listed_and_sets_the_exit_code(sero, table, finished):
    directory = finished("sero", 3, 0.5, state="failed")
    found = sero("report", table)
    assert found.code == 1
    assert "Failed or unfinished runs, in none of the tables: 1" in found.out
    assert f"{directory} failed no server" in squeezed(found.out)
    assert "sero 2 1 0.875" in squeezed(found.out)


def test_the_run_of_the_fixture_is_unfinished(sero, run_directory, escape):
    found = sero("report", run_directory)
    assert found.code == 1
    assert "not finished" in found.out
    assert escape not in found.out


def test_at_least_one_run_is_needed(sero, tmp_path):
    assert sero("report").code == 2
    found = sero("report", tmp_path / "nowhere")
    assert found.code == 2
    assert "no such directory" in found.err

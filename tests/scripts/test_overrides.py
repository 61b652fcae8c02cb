"""The scripts as a user starts them: faults of the command line, all of them, before any work."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def started(script: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPTS / script), *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SCRIPTS.parent)},
    )


@pytest.mark.parametrize("script", ["train.py", "evaluate.py"])
def test_four_faults_are_listed_and_nothing_is_started(script, tmp_path):
    ended = started(
        script, "gate.taks=8", "policy.hidden=abc", "credit.mu=2", "encoder=jinna", cwd=tmp_path
    )
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr == (
        "conf/ and the command line: 4 problem(s) in the configuration\n"
        "  encoder: no choice 'jinna'; there are hashing, jina, minilm, skillworld; "
        "did you mean 'jina'?\n"
        "  gate.taks: unknown key; did you mean 'gate.tasks'?\n"
        "  policy.hidden: got 'abc'. Input should be a valid integer\n"
        "  credit.mu: got 2. Input should be less than or equal to 1\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_help_names_the_groups(tmp_path):
    ended = started("train.py", "--help", cwd=tmp_path)
    assert ended.returncode == 0
    assert "backbone: " in ended.stdout

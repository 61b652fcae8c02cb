"""A run directory of three episodes and a command that runs a verb in process."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import warm_job
import yaml

from sero.cli import main

ESCAPE = "\x1b]0;owned\x07\u202e[bold]"


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def sero(capsys) -> Callable[..., Ran]:
    """Run `sero <arguments>` and return its exit code, output and error output."""

    def run(*arguments: object) -> Ran:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ran(code=int(ended.value.code or 0), out=out, err=err)

    return run


@pytest.fixture
def read_once() -> Iterator[None]:
    """Files of the configuration are read once for all verbs; none is given a `--conf`."""
    with warm_job.composing():
        yield


def card(name, role_type, family, **more):
    base = {"name": name, "role_type": role_type, "capability_family": family}
    return base | {"communication_protocol": "text", "system_prompt": ["Do it."]} | more


@pytest.fixture
def cards() -> list[dict]:
    """A pool that keeps its contracts."""
    return [
        card("solver", "specialist", "solving"),
        card("checker", "validator", "checking"),
        card("scribe", "aggregator", "answering", protected=True),
    ]


@pytest.fixture
def escape() -> str:
    """Text that would steer a terminal, reorder a line, or read as markup."""
    return ESCAPE


@pytest.fixture
def write_pool() -> Callable[[Path, list[dict]], Path]:
    def write(path: Path, roles: list[dict]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump({"roles": roles}, sort_keys=False, allow_unicode=True))
        return path

    return write


@pytest.fixture
def run_directory(tmp_path, cards, write_pool) -> Path:
    directory = tmp_path / "runs" / "quickstart" / "base" / "sero" / "skillworld" / "seed_42"
    added = card("newcomer" + ESCAPE.replace("\x1b", "").replace("\x07", ""), "router", "setup")
    write_pool(directory / "pool" / "seed.yaml", cards)
    write_pool(directory / "pool" / "episode_0002.yaml", [*cards, added])
    write_pool(directory / "pool" / "final.yaml", [*cards, added])
    common = {"phase": "warmup", "task": "t", "group": "g", "score_before": 0.5, "pool_size": 4}
    episodes = [
        {"action": "noop", "verdict": "unchanged", "reward": 0.0},
        {
            "action": "add",
            "verdict": "committed",
            "role": "newcomer" + ESCAPE,
            "target": "solver",
            "committed": True,
            "score_after": 0.75,
            "reward": 0.25,
            "gate_delta": 0.25,
            "loo": {"solver": 0.1},
        },
        {
            "action": "remove",
            "verdict": "rejected",
            "target": "checker",
            "reasons": ["validators_too_few", "no_gain"],
            "details": ["0 validator(s)" + ESCAPE, "not better"],
            "reward": 0.0,
            "contracts": {
                "capability": True,
                "communication": True,
                "validation": False,
                "aggregation": True,
                "output": True,
            },
        },
    ]
    lines = [json.dumps({"episode": i, **common, **e}) for i, e in enumerate(episodes, 1)]
    (directory / "episodes.jsonl").write_text("\n".join(lines) + "\n")
    (directory / "status.json").write_text('{"state": "completed"}')
    prediction = {"id": "a", "group": "g", "score": 0.5}
    (directory / "predictions.jsonl").write_text(json.dumps(prediction) + "\n")
    return directory

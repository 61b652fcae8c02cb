"""Small run directories with the records a run leaves, built in `tmp_path`."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from sero.reporting.figures import RowKey, RunFigures, Setting

SEED_ROLES = [
    {
        "name": "parser",
        "role_type": "router",
        "capability_family": "parsing",
        "communication_protocol": "a list",
        "system_prompt": ["Read the task.", "List what is asked."],
    },
    {
        "name": "solver",
        "role_type": "specialist",
        "capability_family": "solving",
        "communication_protocol": "text",
        "system_prompt": ["Solve it."],
        "credit": {"ema": 0.01, "loo": 0.02, "fast": 0.5, "n_updates": 1, "n_bonus": 1},
    },
    {
        "name": "checker",
        "role_type": "validator",
        "capability_family": "checking",
        "communication_protocol": "VERDICT",
        "system_prompt": ["Check it."],
    },
    {
        "name": "scribe",
        "role_type": "aggregator",
        "protected": True,
        "capability_family": "answering",
        "communication_protocol": "Answer: <x>",
        "system_prompt": ["Answer."],
    },
]

EVIL = "</script><script>alert(1)</script>\u202e\x1b[31m"

ADDED = {
    "name": "table_solver" + EVIL.replace("\x1b", ""),
    "role_type": "specialist",
    "capability_family": "tables",
    "communication_protocol": "text",
    "system_prompt": ["Read tables.", EVIL],
    "parent": "solver",
    "created_at": 2,
}


def episode(number, **changes):
    record = {
        "episode": number,
        "epoch": 1,
        "phase": "warmup" if number < 3 else "main",
        "task": f"t{number}",
        "group": "g",
        "action": "noop",
        "target": None,
        "role": None,
        "verdict": "unchanged",
        "reasons": [],
        "details": [],
        "score_before": 0.5,
        "score_after": None,
        "reward": 0.0,
        "gate_delta": None,
        "committed": False,
        "contracts": None,
        "pool_size": 4,
        "pool_hash": "ab",
        "calls": 7,
        "prompt_tokens": 70,
        "completion_tokens": 7,
        "loo": None,
    }
    return {**record, **changes}


EPISODES = [
    episode(1),
    episode(
        2,
        action="add",
        target="solver",
        role="table_solver",
        verdict="committed",
        committed=True,
        score_after=0.75,
        reward=0.25,
        gate_delta=0.25,
        pool_size=5,
        contracts={
            "capability": True,
            "communication": True,
            "validation": True,
            "aggregation": True,
            "output": True,
        },
    ),
    episode(
        3,
        action="remove",
        target="solver",
        verdict="rejected",
        reasons=["family_lost", "no_gain"],
        details=["no role covers solving", "not better"],
        pool_size=5,
        loo={"solver": 0.02},
    ),
]


def message(role, kind="message", **changes):
    record = {
        "role": role,
        "kind": kind,
        "round": 1,
        "text": EVIL,
        "finish_reason": "stop",
        "prompt_tokens": 10,
        "completion_tokens": 2,
        "cached": False,
        "latency_s": 0.5,
        "retries": 0,
        "trimmed": 0,
        "replaced": False,
    }
    return {**record, **changes}


TRACES = [
    {
        "episode": 1,
        "phase": "pre",
        "item": "t1",
        "score": 0.5,
        "rollout": {
            "team": ["solver", "scribe"],
            "messages": [
                message("solver", "draft"),
                message("solver", cached=True, latency_s=0.0),
                message("scribe", "aggregate", finish_reason="length", retries=2, trimmed=1),
                message("solver", replaced=True, prompt_tokens=999),
            ],
        },
    },
    {
        "episode": 2,
        "phase": "edit",
        "item": "t2",
        "messages": [message("editor", "edit", prompt_tokens=100, completion_tokens=50)],
        "outcome": "card",
    },
]


def write_lines(path: Path, records) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


@pytest.fixture
def make_run(tmp_path) -> Callable[..., Path]:
    """A factory: `make_run(method=..., scores={id: (group, score or None)}, ...)` -> directory."""

    def make(
        *,
        method="sero",
        seed=42,
        variant="base",
        scores=None,
        episodes=EPISODES,
        simulated=True,
        result=True,
        state="completed",
        data="d0",
    ) -> Path:
        place = tmp_path / "runs" / "quickstart" / variant / method / "skillworld"
        directory = place / f"seed_{seed}"
        (directory / "pool").mkdir(parents=True)
        scores = (
            {"a": ("g1", 1.0), "b": ("g1", 0.0), "c": ("g2", 0.5)} if scores is None else scores
        )
        config = {"experiment": "quickstart", "seed": seed, "method": {"name": method}}
        config |= {"benchmark": {"name": "skillworld"}, "backbone": {"name": "skillworld"}}
        (directory / "config.yaml").write_text(yaml.safe_dump(config))
        manifest = {
            "simulated": simulated,
            "backbone": {"id": "skillworld-1"},
            "benchmark": {"name": "skillworld", "data_sha256": data},
        }
        (directory / "manifest.json").write_text(json.dumps(manifest))
        status = {"state": state, "reason": None, "phase": "eval", "episode": len(episodes)}
        (directory / "status.json").write_text(json.dumps(status))
        write_lines(directory / "episodes.jsonl", episodes)
        metrics = [
            {"episode": e["episode"], "controller/op_entropy": 1.0, "pool/family_share": 0.25}
            for e in episodes
        ]
        write_lines(directory / "metrics.jsonl", metrics)
        write_lines(directory / "traces.jsonl", TRACES)
        predictions = [
            {
                "id": item,
                "group": group,
                "response": "text",
                "answer": "x",
                "score": value,
                "reason": "wrong" if value == 0.0 else "",
                "failure": "server " + EVIL if value is None else None,
                "metrics": {},
                "calls": 5,
                "prompt_tokens": 50,
                "completion_tokens": 5,
            }
            for item, (group, value) in scores.items()
        ]
        write_lines(directory / "predictions.jsonl", predictions)
        seed_pool = {"roles": SEED_ROLES}
        final_pool = {"roles": [*SEED_ROLES, ADDED]}
        dump = {"sort_keys": False, "allow_unicode": True}
        (directory / "pool" / "seed.yaml").write_text(yaml.safe_dump(seed_pool, **dump))
        (directory / "pool" / "episode_0002.yaml").write_text(yaml.safe_dump(final_pool, **dump))
        if result:
            (directory / "pool" / "final.yaml").write_text(yaml.safe_dump(final_pool, **dump))
            scored = [value for _, value in scores.values() if value is not None]
            figures = {
                "schema_version": 1,
                "method": method,
                "variant": variant,
                "benchmark": "skillworld",
                "scorer": "partial",
                "backbone": "skillworld-1",
                "simulated": simulated,
                "seed": seed,
                "split": "heldout",
                "n": len(scored),
                "mean_score": sum(scored) / len(scored) if scored else None,
                "groups": {},
                "failures": len(scores) - len(scored),
                "calls": 1234,
                "prompt_tokens": 1_200_000,
                "completion_tokens": 30_000,
                "requests": 1000,
                "retries": 3,
                "cache_hits": 234,
                "pool_hash": "ab",
                "wall_s": 1.5,
            }
            (directory / "result.json").write_text(json.dumps(figures))
        return directory

    return make


@pytest.fixture
def evil() -> str:
    """Text as a hostile model might write it: markup, a terminal escape, a direction override."""
    return EVIL


@pytest.fixture
def add_episodes() -> Callable[[int], list[dict]]:
    """A factory of n committed Add episodes with long hostile role names."""

    def many(n: int) -> list[dict]:
        return [
            episode(i, action="add", role=f"role_{i}" + EVIL, verdict="committed", committed=True)
            for i in range(1, n + 1)
        ]

    return many


@pytest.fixture
def run() -> Callable[..., RunFigures]:
    """A factory of finished runs: `run(name, seed, {id: (group, score)}, ...)`.

    The run of a simulated world of its own, unless `data` or `setting` say otherwise.
    """
    places = itertools.count()

    def make(name="reference", seed=1, items=None, *, data=None, setting=None, **changes):
        fields = {"directory": f"run-{next(places)}", "failures": 0, "calls": 100, "tokens": 1000}
        fields |= dict.fromkeys(("training", "evaluation", "commits", "candidates", "roles"))
        fields |= dict.fromkeys(("harmful", "lost_aggregator", "usd", "usd_sent"))
        row = {"experiment": "simulator", "method": name, "name": name, "extra": ""} | {
            "by": "",
            "host": name,
            "rules": "",
            "roster": "",
            "reuse": False,
            "answers": "",
        }
        row |= {key: changes.pop(key) for key in row.keys() & changes.keys()}
        kept = {"backbone": "skillworld", "scorer": "partial", "world": "dim 32"}
        kept |= {"benchmark": "skillworld", "simulated": True, "data": ""}
        return RunFigures(
            setting=Setting(**(kept | (setting or {}))),
            row=RowKey(variant=f"row-{name}+{row['extra']}-abcdef", **row),
            seed=str(seed),
            data=f"world {seed}" if data is None else data,
            scored={"i0": ("g", 0.5)} if items is None else items,
            **(fields | changes),
        )

    return make

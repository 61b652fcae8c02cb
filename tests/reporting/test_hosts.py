"""Hosts of the configurations that are shipped."""

from pathlib import Path

import pytest

from sero.config import composer, resolved_data
from sero.reporting.entries import Status
from sero.reporting.hosts import answers_of, host_of, rules_of
from sero.reporting.records import RunRecord

CONF = Path(__file__).parents[2] / "conf"


@pytest.fixture(scope="module")
def digests_of():
    """A factory: overrides of experiment=main to the digests of that run."""

    def digests(*overrides):
        config = resolved_data(composing.compose(["experiment=main", *overrides]).config)
        run = RunRecord(
            directory=Path("run"),
            status=Status(state="completed"),
            result=None,
            config=config,
            manifest={},
        )
        return host_of(run), rules_of(run)

    with composer(CONF, "train") as composing:
        yield digests


@pytest.mark.parametrize("host", ["mad", "dmad"])
def test_a_host_is_one_under_every_name(digests_of, host):
    dynamic = digests_of(f"method=meta_debate_{host}")
    assert digests_of(f"method=random_{host}", "seed=7") == dynamic
    assert digests_of(f"method={host}", "assign.by=random") == dynamic
    assert digests_of(f"method={host}", "assign.by=plain") == dynamic
    assert digests_of(f"method={host}", "assign.mode=argmax")[0] == dynamic[0]
    assert digests_of(f"method={host}", "assign.mode=argmax")[1] != dynamic[1]
    assert digests_of(f"method={host}", "method.rounds=4")[0] != dynamic[0]


def test_hosts_differ(digests_of):
    assert digests_of("method=mad")[0] != digests_of("method=dmad")[0]


def test_seeds_of_the_simulated_world_are_one_host(digests_of):
    world = ("encoder=skillworld", "benchmark=skillworld", "backbone=skillworld", "method=static")
    assert digests_of(*world, "seed=1") == digests_of(*world, "seed=2")
    assert digests_of(*world) != digests_of(*world, "benchmark.dim=32")


def answers(by, *, method="mad", **assign):
    """Digest of what the answers of a run follow from; an argmax over two candidates by default."""
    section = {"by": by, "roster": "ann_and_bob.yaml", "mode": "argmax", "review": "joint"}
    return answers_of(
        RunRecord(
            directory=Path("run"),
            status=Status(state="completed"),
            result=None,
            config={"method": {"name": method}, "seed": 1, "assign": {**section, **assign}},
            manifest={},
        )
    )


@pytest.mark.parametrize(
    ("by", "other", "equal"),
    [
        ("ann", {"mode": "greedy"}, True),  # a candidate in every role asks for no rule
        ("ann", {"review": "single", "min_score": 3.0}, True),
        ("ann", {"roster": "another.yaml"}, False),
        ("ann", {"method": "dmad"}, False),
        ("random", {"mode": "greedy"}, False),  # nobody plays twice
        ("random", {"review": "single"}, True),
        ("oracle", {"mode": "greedy"}, False),
        ("meta_debate", {"mode": "greedy"}, False),
        ("meta_debate", {"review": "single"}, False),
    ],
)
def test_a_row_depends_on_what_its_decider_reads(by, other, equal):
    assert (answers(by) == answers(by, **other)) == equal


def test_rules_without_reuse_are_one_to_a_random_assignment():
    assert answers("random", mode="margin") == answers("random", mode="greedy")
    assert answers("random", mode="margin") != answers("oracle", mode="margin")
    assert answers("meta_debate", mode="margin") != answers("meta_debate", mode="greedy")

"""Hosts of the configurations that are shipped."""

from pathlib import Path

import pytest

from sero.config import composer, resolved_data
from sero.reporting.entries import Status
from sero.reporting.hosts import host_of, rules_of
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

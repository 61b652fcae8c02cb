"""Hosts of the configurations that are shipped."""

from pathlib import Path

import pytest

from sero.config import composer, resolved_data
from sero.reporting.entries import Status
from sero.reporting.hosts import answers_of, host_of, rules_of
from sero.reporting.records import RunRecord

CONF = Path(__file__).parents[2] / "conf"


def record(config):
    """A finished run of a configuration."""
    state = Status(state="completed")
    return RunRecord(directory=Path("run"), status=state, result=None, config=config, manifest={})


@pytest.fixture(scope="module")
def composed():
    """A factory: overrides to the run of that configuration."""
    with composer(CONF, "train") as composing:
        yield lambda *overrides: record(resolved_data(composing.compose([*overrides]).config))


@pytest.fixture(scope="module")
def digests_of(composed):
    """A factory: overrides of experiment=main to the digests of that run."""

    def digests(*overrides):
        run = composed("experiment=main", *overrides)
        return host_of(run), rules_of(run)

    return digests


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


def answers(by, *, method="mad", seed=1, sections=None, **assign):
    """Digest of what the answers of a run follow from; an argmax over two candidates by default."""
    section = {"by": by, "roster": "ann_and_bob.yaml", "mode": "argmax", "review": "joint"}
    config = {"method": {"name": method}, "seed": seed, "assign": {**section, **assign}}
    return answers_of(record({**config, **(sections or {})}))


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


@pytest.mark.parametrize(
    ("sections", "others", "equal"),
    [
        ({"train": {"checkpoint_every": 5}}, {"train": {"checkpoint_every": 9}}, True),
        ({"train": {"batch": 5}}, {"train": {"batch": 9}}, False),
        ({"paths": {"runs": "a"}, "budget": {"calls": 1}}, {}, True),
        ({"backbone": {"concurrency": 8}}, {"backbone": {"concurrency": 16}}, True),
        ({"backbone": {"context_tokens": 2048}}, {"backbone": {"context_tokens": 8192}}, False),
        ({"backbones": {"x": {"concurrency": 8}}}, {"backbones": {"x": {}}}, True),
        ({"backbones": {"x": {"top_p": 0.5}}}, {"backbones": {"x": {"top_p": 0.9}}}, False),
        ({"from_pool": "one"}, {"from_pool": "another"}, False),
    ],
)
def test_what_says_how_a_run_is_done_moves_no_answers(sections, others, equal):
    assert (answers("ann", sections=sections) == answers("ann", sections=others)) == equal


@pytest.mark.parametrize("place", ["benchmark", "backbone", "backbones"])
def test_a_world_is_left_out_only_where_it_is_the_seeds(place):
    def of(seed, world):
        section = {"dim": 8, "world": world}
        sections = {place: {"x": section} if place == "backbones" else section}
        return answers("ann", seed=seed, sections=sections)

    assert of(1, 1) == of(2, 2)
    assert of(1, 5) == of(2, 5)
    assert len({of(1, 1), of(1, 5), of(1, 6)}) == 3


def test_a_sweep_over_rules_has_each_candidate_once(composed):
    def of(*overrides):
        return answers_of(composed("experiment=assign/world", "assign.by=clerk-1", *overrides))

    base = of("seed=1")
    assert of("seed=7", "assign.mode=greedy", "train.checkpoint_every=3") == base
    assert of("seed=1", "benchmark.world=5") != base
    assert of("seed=1", "backbone.noise_sd=2.0") != base

import json
from pathlib import Path

import pytest
import yaml

from sero.reporting.diagnostics import harmful_roles
from sero.reporting.html import write_report
from sero.reporting.page import gather
from sero.reporting.records import read_run
from sero.reporting.rows import read_row
from sero.skillworld.cards import seed_pool
from sero.skillworld.world import WorldSpec, world_for

EARLY_STOP = {
    "enabled": True,
    "window": 24,
    "threshold": 0.85,
    "min_episodes": 24,
    "one_pass": False,
}


def record(number, action="noop", **changes):
    raw = {
        "episode": number,
        "epoch": 1 + (number - 1) // 4,
        "phase": "warmup" if number <= 4 else "main",
        "task": f"t{number}",
        "action": action,
        "verdict": "committed" if changes.get("committed") else "rejected",
        "reward": 0.0,
        "pool_size": 4,
    }
    return {**raw, **changes}


EIGHT = [
    record(1, "add", role="helper", committed=True, reward=0.5, pool_size=5),
    record(2, "add", reasons=["near_duplicate"]),
    record(3, pool_size=5),
    record(4, pool_size=5),
    record(5, "remove", reasons=["no_gain"], reward=-0.5),
    record(6, "add", reasons=["no_gain"], reward=0.25),
    record(7, "remove", committed=True, target="solver", reward=1.0),
    record(8, "remove", reasons=["no_gain", "near_duplicate"]),
]
METRICS = [
    {"episode": 2, "controller/op_entropy": 1.0},
    {"episode": 4, "controller/op_entropy": 0.5, "controller/loss": 0.1, "controller/baseline": 0.2,
     "controller/frac_zero_std": 1.0},
    {"episode": 7, "controller/op_entropy": 0.25, "pool/family_share": 0.5,
     "credit/ema_loo_rank": 0.5},
    {"episode": 8, "controller/op_entropy": 0.75, "controller/loss": None,
     "credit/ema_loo_rank": -0.5},
]  # fmt: skip


@pytest.fixture
def make_trained(make_run):
    """A run of eight episodes whose figures can be worked by hand."""

    def make(*, episodes=EIGHT, metrics=METRICS, config=None, **changes) -> Path:
        directory = make_run(episodes=episodes, **changes)
        lines = "".join(json.dumps(point) + "\n" for point in metrics)
        (directory / "metrics.jsonl").write_text(lines)
        path = directory / "config.yaml"
        more = {"pool": {"p_max": 5}, "policy": {"operations": ["add", "remove", "noop"]}}
        more |= {"early_stop": EARLY_STOP, "train": {"warmup_epochs": 1, "main_epochs": 2}}
        body = yaml.safe_load(path.read_text()) | more | (config or {})
        path.write_text(yaml.safe_dump(body))
        return directory

    return make


def diagnostics(directory):
    return gather(read_row(directory)).diagnostics


def test_acceptance_by_phase_and_operation(make_trained):
    found = diagnostics(make_trained())
    rows = [(a.phase, a.action, a.proposed, a.committed) for a in found.acceptance]
    assert rows == [
        ("warmup", "add", 2, 1),
        ("warmup", "noop", 2, 0),
        ("main", "add", 1, 0),
        ("main", "remove", 3, 1),
    ]
    assert found.reasons == (("no_gain", 3), ("near_duplicate", 2))
    assert found.main_changed == (False, False, True, False)
    assert found.actions == {"remove": 2}


def test_quarters_by_hand(make_trained):
    first, second, third, fourth = diagnostics(make_trained()).parts
    assert [(p.first, p.last) for p in (first, second, third, fourth)] == [
        (1, 2), (3, 4), (5, 6), (7, 8),
    ]  # fmt: skip
    assert (first.reward, first.reward_sd) == (0.25, 0.25)  # .5 and 0
    assert (third.reward, third.reward_sd) == (-0.125, 0.375)  # -.5 and .25
    assert [p.acceptance for p in (first, second, third, fourth)] == [0.5, 0.0, 0.0, 0.5]
    assert [p.entropy for p in (first, second, third, fourth)] == [1.0, 0.5, None, 0.5]
    assert (second.baseline, second.zero_std, second.pool_size) == (0.2, 1.0, 5)
    assert (fourth.family_share, fourth.zero_std) == (0.5, None)
    assert [p.at_p_max for p in (first, second, third, fourth)] == [0.5, 1.0, 0.0, 0.0]
    assert diagnostics(make_trained(seed=1)).whole.at_p_max == 0.375


def test_what_the_configuration_says(make_trained):
    found = diagnostics(make_trained())
    assert (found.n_operations, found.p_max, found.n_train, found.planned) == (3, 5, 4, 12)
    assert found.early_stop is not None
    assert found.early_stop.window == 24
    assert (found.learns, found.gradient_steps) == (True, 1)  # a null is no step
    assert found.foresight == (0.5, -0.5)


@pytest.mark.parametrize(
    ("method", "metrics", "learns"),
    [("sero", [], True), ("gated_random", METRICS[:1], False), ("gated_random", METRICS, True)],
)
def test_who_learns(make_trained, method, metrics, learns):
    assert diagnostics(make_trained(method=method, metrics=metrics)).learns is learns


def test_a_run_that_says_little_is_read_as_far_as_it_goes(make_trained):
    bare = {"pool": None, "policy": [], "early_stop": {"enabled": "?"}, "train": {}}
    found = diagnostics(make_trained(metrics=[], config=bare))
    assert found.n_operations == 0
    assert (found.p_max, found.planned, found.early_stop) == (None, None, None)
    assert found.whole is not None
    assert (found.whole.entropy, found.whole.at_p_max) == (None, None)


def test_a_run_without_training_has_empty_diagnostics_and_no_warning(make_run):
    page = gather(read_row(make_run(method="static", episodes=[])))
    assert (page.diagnostics.episodes, page.diagnostics.parts) == (0, ())
    assert page.diagnostics.whole is None
    assert page.warnings == ()
    assert "Diagnostics" not in write_report(page.run.directory).read_text()


def test_credit_rank_of_the_latest_pool(make_trained):
    """Only roles that were measured count; the seed roles hold one."""
    directory = make_trained()
    assert diagnostics(directory).credit_rank is None
    path = directory / "pool" / "final.yaml"
    pool = yaml.safe_load(path.read_text())
    for role, ema, loo in zip(pool["roles"], (0.1, 0.2, 0.3), (0.0, 0.9, 0.5), strict=False):
        role["credit"] = {"ema": ema, "loo": loo, "fast": None, "n_updates": 1, "n_bonus": 1}
    path.write_text(yaml.safe_dump(pool))
    assert diagnostics(directory).credit_rank == pytest.approx(0.5)  # 1 - 6·2/24


def test_harmful_roles_are_counted_in_their_own_world(make_trained):
    world = {"name": "skillworld", "world": 7, "scenario": "default", "dim": 32}
    pool = seed_pool(world_for(WorldSpec(key=7, scenario="default", dim=32)), noise=0.0)
    run = read_run(make_trained(config={"benchmark": world}))
    assert harmful_roles(run, pool) == 2  # the harmful f2 and the distractor
    assert diagnostics(run.directory).harmful == (0, 0)  # its own roles are of no world
    other = read_run(make_trained(seed=1, config={"benchmark": {**world, "world": 8}}))
    assert harmful_roles(other, pool) == 0  # another world cannot read the sheets
    real = read_run(make_trained(seed=2, config={"benchmark": world}, simulated=False))
    assert harmful_roles(real, pool) is None
    for broken in ({"world": "7"}, {"dim": 3}, {"scenario": "no"}):
        wrong = make_trained(seed=3 + len(str(broken)), config={"benchmark": {**world, **broken}})
        assert harmful_roles(read_run(wrong), pool) is None


def test_seeds_are_counted_beside_the_run(make_trained):
    first = make_trained(seed=1)
    assert diagnostics(first).seeds == 1
    make_trained(seed=2)
    make_trained(seed=3, method="static")
    assert diagnostics(first).seeds == 2


def test_the_page_shows_diagnostics_and_warnings(make_trained, evil):
    last = [record(n, reasons=[evil]) for n in range(9, 60)]
    first = record(1, "add", role=evil, committed=True)
    directory = make_trained(episodes=[first, *EIGHT[1:], *last])
    text = write_report(directory).read_text()
    assert "<h2>Warnings</h2>" in text
    assert "<h2>Diagnostics</h2>" in text
    assert "in no team for 40 episodes or more" in text
    assert "1 gradient steps." in text
    assert "mean +0.000 over 2 refresh(es), latest -0.500" in text
    assert "<script" not in text
    assert write_report(directory).read_text() == text

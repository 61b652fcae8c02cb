"""`sero plan` as a user sees it."""

import json

import pytest

STATIC = (
    *("experiment=single", "method=static,cot", "benchmark=toy", "encoder=hashing"),
    *("backbone=scripted", "benchmark.n_train=2", "benchmark.n_heldout=10", "seed=1,2"),
)


@pytest.fixture(autouse=True)
def elsewhere(read_once, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_table_names_runs_calls_and_what_is_assumed(sero, tmp_path):
    found = sero("plan", *STATIC)
    assert found.code == 0
    lines = found.out.splitlines()
    assert lines[1].split() == ["run", "runs", "eval", "all"]
    rows = {line.split()[0]: line.split()[1:] for line in lines[3:6]}
    # the toy's team has four roles and a validator to check: 4 + 4 + 1 + (0..2)
    assert rows["cot/toy"] == ["2", "10", "10"]
    assert rows["static/toy"][0] == "2"
    assert "–" in rows["static/toy"][1]
    assert lines[5].startswith("all runs")
    assert "characters of a prompt per token" in found.out
    assert list(tmp_path.iterdir()) == []  # looking leaves nothing behind


def test_json_is_whole_and_adds_up(sero):
    found = sero("plan", *STATIC, "--json", "--completion-tokens", "50")
    assert found.code == 0
    plan = json.loads(found.out)
    assert [(job["method"], job["seed"]) for job in plan["jobs"]] == [
        ("static", 1),
        ("static", 2),
        ("cot", 1),
        ("cot", 2),
    ]
    cot = plan["jobs"][2]
    assert cot["calls"] == {
        **{phase: [0, 0] for phase in ("pre", "post", "gate", "loo", "edit")},
        "eval": [10, 10],
    }
    assert (cot["exact"], cot["total_calls"], cot["requests"]) == (True, [10, 10], [10, 10])
    assert cot["completion_tokens"] == [500, 500]
    assert (cot["usd"], cot["finished"], cot["note"]) == (None, False, None)
    for side in (0, 1):
        assert plan["total"]["total_calls"][side] == sum(
            job["total_calls"][side] for job in plan["jobs"]
        )
    assert (plan["over_budget"], plan["warnings"]) == ([], [])


def test_over_the_budget_is_exit_2_with_the_plan_before_it(sero):
    found = sero("plan", *STATIC, "budget.calls=12", "--json")
    assert found.code == 2
    plan = json.loads(found.out)
    assert len(plan["over_budget"]) == 1
    assert plan["over_budget"][0].startswith("budget.calls=12: needs at least ")
    assert "Traceback" not in found.err
    assert "budget.calls=12" in found.err


def test_what_may_go_over_the_budget_is_a_warning(sero):
    low, high = json.loads(sero("plan", *STATIC, "--json").out)["jobs"][0]["total_calls"]
    assert low < high
    found = sero("plan", *STATIC, f"budget.calls={low}")
    assert found.code == 0
    assert f"warning: budget.calls={low}: may need {high} (static/toy/" in found.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("gate.taks=2",), "gate.taks: unknown key"),
        (("--latency", "3", "1"), "--latency 3 1"),
        (("--conf", "nowhere"), "--conf nowhere: no such folder"),
        (("--completion-tokens", "0"), "completion-tokens"),
    ],
)
def test_a_mistake_is_exit_2_and_one_message(sero, words, said):
    found = sero("plan", *words)
    assert found.code == 2
    assert said in found.err
    assert "Traceback" not in found.err


def test_prices_show_where_they_are_known(sero):
    words = [word for word in STATIC if not word.startswith("backbone=")]
    found = sero("plan", *words, "backbone=gpt_4o_mini", "budget.usd=100")
    assert found.code == 0
    assert "US$" in found.out.splitlines()[8]

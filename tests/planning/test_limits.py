"""A plan against its budget: refused when the least is over it, doubted when only the most is."""

import pytest

from sero.errors import ConfigError
from sero.planning.assumed import Assumed
from sero.planning.limits import Findings
from sero.planning.sweep import plan_sweep

STATIC = ("experiment=single", "method=static", "benchmark.n_heldout=7", "benchmark.n_train=3")
"""84 to 91 calls."""
HOSTED = (
    *("experiment=single", "method=cot", "benchmark=toy", "encoder=hashing"),
    *("backbone=gpt_4o_mini", "benchmark.n_train=2", "benchmark.n_heldout=10"),
    *("backbone.price.prompt_usd_per_mtok=0", "backbone.price.completion_usd_per_mtok=1000"),
)
"""Ten calls of 100 tokens at a tenth of a dollar: one dollar."""
ASSUMED = Assumed(completion_tokens=100)


@pytest.fixture
def findings(conf, composing, tmp_path, monkeypatch):
    """What the budget says of a command line; files are read once (`composing`)."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: plan_sweep(conf, words, ASSUMED).findings


@pytest.mark.parametrize(
    ("limit", "impossible", "doubtful"),
    [
        ("budget.calls=83", 1, 0),
        ("budget.calls=84", 0, 1),
        ("budget.calls=90", 0, 1),
        ("budget.calls=91", 0, 0),
        ("budget.tokens=1", 1, 0),
        ("budget.tokens=1000000000", 0, 0),
        ("budget.hours=0.000000001", 0, 1),  # what was assumed is no reason to refuse
        ("budget.runs=1", 0, 0),
        ("budget.usd=5", 0, 1),  # a simulation has no price, so nothing stops there
    ],
)
def test_limits_of_one_run(findings, limit, impossible, doubtful):
    found = findings(*STATIC, limit)
    assert (len(found.impossible), len(found.doubtful)) == (impossible, doubtful)
    name = limit.partition("=")[0]
    assert all(name in line for line in (*found.impossible, *found.doubtful))


def test_an_assignment_with_given_criteria_raises_no_doubt(findings):
    words = ("experiment=assign/code_review", "assign.by=meta_debate")
    fine = findings(*words, "budget.calls=84")  # 28 for each of three patches, no more and no less
    assert (fine.impossible, fine.doubtful) == ((), ())


def test_a_line_says_what_is_needed_and_by_whom(findings):
    (line,) = findings(*STATIC, "budget.calls=83").impossible
    assert line.startswith("budget.calls=83: needs at least 84 (static/skillworld/")
    (line,) = findings(*STATIC, "budget.calls=90", "seed=1,2,3").doubtful
    assert line.startswith("budget.calls=90: may need 91 (static/skillworld/")
    assert line.endswith("seed_1 and 2 more)")


def test_dollars(findings):
    assert (
        findings(*HOSTED, "budget.usd=0.9")
        .impossible[0]
        .startswith("budget.usd=0.9: needs at least 1 where nothing is cached")
    )
    fine = findings(*HOSTED, "budget.usd=1.5")
    assert (fine.impossible, fine.doubtful) == ((), ())


def test_runs_of_a_sweep(findings, tmp_path, conf):
    words = (*STATIC, "seed=1,2,3")
    # no limit that stops anything: the same command starts the rest
    two = "budget.runs=2: 3 runs are to be done, which takes the same command 2 times"
    assert findings(*words, "budget.runs=2") == Findings(impossible=(), doubtful=(two,))
    assert findings(*words, "budget.runs=3").doubtful == ()
    # what is finished is not started again
    first = plan_sweep(conf, words, ASSUMED).jobs[0].job.directory
    first.mkdir(parents=True)
    (first / "status.json").write_text(
        '{"state": "completed", "reason": null, "phase": null, "episode": null}'
    )
    assert findings(*words, "budget.runs=2").doubtful == ()


def test_faults_of_the_command_line_are_those_of_the_scripts(findings):
    with pytest.raises(ConfigError, match=r"budget\.call: unknown key"):
        findings(*STATIC, "budget.call=3")

"""Plans of runs whose roles candidates play hold what those runs ask for."""

import os

import pytest

from sero.inference.span import Span, exactly
from sero.planning.assumed import Assumed

HOSTS = ("mad", "dmad", "workflow", "static_dag", "static", "sero", "random_evolution", "gptswarm")
OTHERWISE = HOSTS if os.environ.get("SERO_FULL_SIZE") else ("dmad", "static", "sero")
"""Where others than a debate decide too: an exact host, one that repairs, a trained one."""
EXACT = ("dmad", "workflow", "static_dag")
ROSTER = """
candidates:
  - {name: plain}
  - {name: careful, backbone: strong, temperature: 0.2, prompt: "You are careful. You check all."}
  - {name: quick, prompt: You are quick.}
"""
TOY = (
    *("backbone=scripted", "encoder=hashing", "benchmark=toy", "exec.max_tokens=512"),
    *("benchmark.n_train=3", "benchmark.n_heldout=3", "train.warmup_epochs=1"),
    *("train.main_epochs=1", "credit.loo_every=3", "early_stop.enabled=false"),
    "+backbones.strong.file=scripted",
)


@pytest.fixture
def roster(tmp_path):
    def write(text=ROSTER):
        path = tmp_path / "roster.yaml"
        path.write_text(text)
        return f"assign.roster={path}"

    return write


@pytest.mark.parametrize(
    ("host", "by"),
    [
        *((host, "meta_debate") for host in HOSTS),
        *((host, by) for host in OTHERWISE for by in ("random", "careful")),
    ],
)
def test_every_host_and_decider(carried_out, roster, host, by):
    """A star of the pairs; `SERO_FULL_SIZE=1` runs all 24."""
    done = carried_out(*TOY, f"method={host}", f"assign.by={by}", roster())
    assert done.outside() == []
    assert done.plan.total.exact == (host in EXACT and by != "meta_debate")


@pytest.mark.parametrize(
    "words",
    [
        ("assign.mode=argmax", "assign.max_revisions=0"),
        ("assign.mode=hungarian", "assign.max_revisions=2", "assign.min_score=4.5"),
        ("assign.review=single", "assign.exclude_self=true"),
        ("assign.excerpt_chars=20", "assign.criteria_attempts=1"),
        ("assign.proposal_tokens=600", "assign.criteria_tokens=600", "exec.rounds=2"),
        ("credit.estimator=clamp", "credit.fast_weights.peer=0.2"),
        ("credit.estimator=shapley_mc", "credit.orders=2", "repair.enabled=false"),
    ],
    ids=" ".join,
)
def test_under_other_rules(carried_out, roster, words):
    by = ("method=sero", "assign.by=meta_debate", roster())
    assert carried_out(*TOY, *by, *words).outside() == []


POINTS = "".join(f"      - {{name: Point {n}, description: To see {n}.}}\n" for n in range(3))
DMAD_ROLES = ("chain-of-thought", "step-back", "program-of-thought", "synthesiser")


def given(*roles):
    """Roles with criteria of their own, as a roster has them."""
    rows = (f"  - name: {name}\n    description: d\n    criteria:\n{POINTS}" for name in roles)
    return "roles:\n" + "".join(rows)


def test_given_criteria_are_not_asked_for(plan_of, roster):
    words = (*TOY, "method=dmad", "assign.by=meta_debate", "assign.max_revisions=0")
    free = plan_of(*words, roster())
    fixed = plan_of(*words, roster(ROSTER + given("synthesiser")))
    assert fixed.total.low == free.total.low - 3  # one role on three items
    assert fixed.total.high == free.total.high - 3 * 3  # three attempts each


def test_where_nothing_can_be_repeated_the_plan_is_exact(carried_out, roster):
    words = (*TOY, "method=dmad", "assign.by=meta_debate", "assign.max_revisions=0")
    done = carried_out(*words, roster(ROSTER + given(*DMAD_ROLES)))
    assert done.outside() == []
    # three items: three proposals and three reviews of each of four roles before seven calls
    assert done.plan.total == exactly(3 * (4 * (3 + 3) + 7))
    assert done.result["calls"] == done.plan.total.low


def test_a_single_candidate_asks_nothing_more_than_its_host(carried_out, plan_of, roster):
    alone = "candidates: [{name: plain}]"
    host = plan_of(*TOY, "method=dmad")
    done = carried_out(*TOY, "method=dmad", "assign.by=meta_debate", roster(alone))
    assert done.plan.calls == host.calls
    assert done.outside() == []
    assert done.result["calls"] == host.total.low


def test_a_plan_by_hand(plan_of, roster):
    plan = plan_of(*TOY, "method=workflow", "assign.by=meta_debate", roster())
    host = plan_of(*TOY, "method=workflow")
    n = host.total.low // 3  # calls of an item, each of another role
    # per role: criteria, three proposals, three reviews; at most two more attempts at criteria, and
    # the role anew: three attempts, three proposals, three reviews
    assert plan.total == Span(3 * (n + 7 * n), 3 * (n + 7 * n + 2 * n + 9 * n))
    assert plan.sent.low >= 3 * (n + 1)


# ---- several backbones --------------------------------------------------------------------------

HOSTED = (
    *("benchmark=toy", "encoder=hashing", "method=cot", "benchmark.n_heldout=10"),
    *("backbone=gpt_4o_mini", "+backbones.strong.file=gpt_4o_mini"),
    *("backbone.price.prompt_usd_per_mtok=1", "backbone.price.completion_usd_per_mtok=8"),
    "+backbones.strong.price.prompt_usd_per_mtok=2",
)


def test_the_price_lies_between_the_cheapest_and_the_dearest_backbone(plan_of):
    dear = "+backbones.strong.price.completion_usd_per_mtok=4"
    plan = plan_of(*HOSTED, dear, assumed=Assumed(completion_tokens=100))
    prompt = plan.tokens.prompt
    # prompts at 1 to 2, the 1,000 completion tokens at 4 to 8 dollars a million
    assert plan.usd == pytest.approx(
        (prompt.low * 1e-6 + 1000 * 4e-6, prompt.high * 2e-6 + 1000 * 8e-6)
    )


def test_without_the_price_of_one_there_is_none(plan_of):
    assert plan_of(*HOSTED, "+backbones.strong.price.completion_usd_per_mtok=null").usd is None
    free = plan_of(*HOSTED, "+backbones.free.file=scripted").usd
    assert free[0] == 0.0 < free[1]  # nothing is billed for what is no server


def test_time_counts_the_places_of_every_server(plan_of):
    words = (*HOSTED, "backbone.concurrency=4", "+backbones.strong.concurrency=6")
    plan = plan_of(*words, assumed=Assumed(latency_s=(2.0, 8.0)))
    assert plan.time_s[0] == pytest.approx(10 * 2 / (4 + 6))
    mixed = plan_of(*HOSTED[:-1], "+backbones.free.file=scripted")
    assert mixed.time_s[0] < 1 < mixed.time_s[1]


def test_the_longest_context_bounds_a_prompt(plan_of):
    words = ("benchmark=toy", "encoder=hashing", "method=static", "exec.max_tokens=1000")
    small = (*words, "backbone=gpt_4o_mini", "backbone.context_tokens=1500")
    further = "+backbones.strong={file: gpt_4o_mini, context_tokens: 1600}"
    plan = plan_of(*small, further)
    assert plan.tokens.prompt.high == plan.total.high * 1600
    free = plan_of(*small, "+backbones.free.file=scripted")
    assert free.tokens.prompt.high > plan.tokens.prompt.high

"""The plan of one run: tokens, price and time by hand, and data that are not there."""

import pytest

from sero.backbones.base import Phase
from sero.errors import DataError
from sero.inference.span import Span
from sero.planning.assumed import Assumed

COT = (
    *("method=cot", "benchmark=toy", "encoder=hashing", "benchmark.n_train=2"),
    *("benchmark.n_heldout=10", "exec.max_tokens=200"),
)
HOSTED = (*COT, "backbone=gpt_4o_mini")


def test_tokens_of_a_single_agent_by_hand(plan_of, composing):
    plan = plan_of(*COT, "backbone=scripted")
    from sero.config import parse_config

    composed = composing.compose(["experiment=single", *COT, "backbone=scripted"])
    config = parse_config(composed.config, composed.choices)
    benchmark = config.benchmark.build()
    tasks = sum(len(task.prompt) for task in benchmark.load().heldout)
    agent = config.method.target.start(config.method.config, benchmark).pool.cards[0]
    assert plan.calls == {Phase.EVAL: Span(10, 10)}
    assert plan.tokens.completion == Span(10, 2000)
    # five characters a token at most, so no fewer tokens than this
    assert plan.tokens.prompt.low == (tasks + 10 * len(agent.prompt_text)) // 5
    assert plan.tokens.prompt.high > (tasks + 10 * len(agent.prompt_text)) / 2.5


def test_an_assumed_completion_narrows_both_ends(plan_of):
    plan = plan_of(*COT, "backbone=scripted", assumed=Assumed(completion_tokens=50))
    assert plan.tokens.completion == Span(500, 500)
    longer = plan_of(*COT, "backbone=scripted", assumed=Assumed(completion_tokens=5000))
    assert longer.tokens.completion == Span(2000, 2000)  # exec.max_tokens cuts it


def test_the_price_of_tokens(plan_of):
    plan = plan_of(
        *HOSTED,
        "backbone.price.prompt_usd_per_mtok=1.0",
        "backbone.price.completion_usd_per_mtok=3.0",
        assumed=Assumed(completion_tokens=100),
    )
    prompt = plan.tokens.prompt
    assert plan.usd == pytest.approx(
        (prompt.low * 1e-6 + 1000 * 3e-6, prompt.high * 1e-6 + 1000 * 3e-6)
    )
    assert plan.usd_sent_least == plan.usd[0]  # every call of CoT is a request of its own


@pytest.mark.parametrize(
    "words",
    [(*COT, "backbone=scripted"), (*HOSTED, "backbone.price.completion_usd_per_mtok=null")],
)
def test_an_unknown_price_is_no_price(plan_of, words):
    plan = plan_of(*words)
    assert (plan.usd, plan.usd_sent_least) == (None, None)


@pytest.mark.parametrize(
    ("words", "assumed", "seconds"),
    [
        # ten calls, sixteen at once in the client and in the evaluation
        (HOSTED, Assumed(latency_s=(2.0, 8.0)), (10 * 2 / 16, 10 * 8 / 16)),
        # two items at once, eight places in the client
        (
            (*HOSTED, "evaluate.concurrency=2", "backbone.concurrency=8"),
            Assumed(latency_s=(2.0, 8.0)),
            (10 * 2 / 8, 10 * 8 / 2),
        ),
        (HOSTED, Assumed(completion_tokens=100, tokens_per_second=50.0), (20.0, 20.0)),
        ((*COT, "backbone=scripted"), Assumed(), (10 * 0.0001, 10 * 0.02)),
    ],
)
def test_time_from_latency_or_throughput(plan_of, words, assumed, seconds):
    assert plan_of(*words, assumed=assumed).time_s == pytest.approx(seconds)


def test_the_context_bounds_a_prompt(plan_of):
    words = ("benchmark=toy", "encoder=hashing", "method=static", "exec.max_tokens=1000")
    free = plan_of(*words, "backbone=gpt_4o_mini")
    bound = plan_of(*words, "backbone=gpt_4o_mini", "backbone.context_tokens=1500")
    assert bound.tokens.prompt.high == bound.total.high * 1500 < free.tokens.prompt.high


def test_fewer_requests_than_calls_are_certain(plan_of):
    plan = plan_of("method=static", "benchmark.n_heldout=7", "benchmark.n_train=3")
    # n = 5 in the simulated world, which checks every draft: 5 + 5 + 1 + (1..2) calls; five drafts
    # and an answer are different requests whatever is said
    assert plan.total == Span(7 * 12, 7 * 13)
    assert plan.sent == Span(7 * 6, 7 * 13)


@pytest.mark.parametrize(
    ("benchmark", "counts"),
    [("naturalplan", (30, 900)), ("olympiadbench", (20, 877)), ("tablebench", (40, 796))],
)
def test_published_counts_stand_in_for_data_that_are_not_prepared(plan_of, benchmark, counts):
    words = (f"benchmark={benchmark}", "encoder=hashing", "backbone=scripted")
    plan = plan_of(*words, "method=cot")
    assert plan.total == Span(counts[1], counts[1])
    assert (plan.tokens, plan.usd) == (None, None)
    assert f"python scripts/prepare_data.py benchmark={benchmark}" in plan.note
    sero = plan_of(*words, "method=random_evolution", "random.loo=false")
    assert sero.calls[Phase.EDIT].high <= 2 * counts[0]  # an episode per training item
    rest = plan_of(*words, "method=cot", "benchmark.n_heldout=null")
    assert rest.total.low > counts[1] or benchmark != "naturalplan"


def test_damaged_data_are_not_stood_in_for(plan_of, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "tablebench.jsonl").write_text("{}\n")
    with pytest.raises(DataError):
        plan_of("benchmark=tablebench", "encoder=hashing", "backbone=scripted", "method=cot")


def test_a_plan_loads_no_model_and_asks_nobody(plan_of, monkeypatch):
    def refuse(*_: object, **__: object):
        raise AssertionError("a plan must not build this")

    monkeypatch.setattr("sero.encoders.SentenceTransformerEncoder.__init__", refuse)
    monkeypatch.setattr("sero.backbones.openai_server.OpenAIServer.__init__", refuse)
    plan = plan_of("benchmark=toy", "encoder=jina", "backbone=qwen3_8b", "method=sero")
    assert plan.total.low > 0

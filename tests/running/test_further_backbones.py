"""Several backbones in one run: who is asked, what each costs, and what is refused beforehand."""

import dataclasses
from collections import Counter

import pytest
import yaml

from sero.backbones.price import PriceConfig
from sero.errors import CardError, ConfigError, ServerUnavailable, UserError
from sero.inference.trace import Cost, cost_of
from sero.roles.load import card_to_data
from sero.running.budget import Prices, prices_of, unpriced
from sero.running.build import further_backbones, load_inputs
from sero.running.result import Usage
from sero.running.saved import dump_yaml
from sero.storage import read_json

COSTS = ("calls", "prompt_tokens", "completion_tokens")
MAD = ("method=mad", "assign.by=random")


@pytest.fixture(autouse=True)
def without_report(no_report):
    """None of these tests reads it."""


@pytest.fixture
def bench(debating, tmp_path):
    return debating(tmp_path)


def figures(record):
    return tuple(record[name] for name in COSTS)


# ---- accounts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        MAD,
        ("method=static_dag", "assign.by=careful"),
        ("method=sero", "assign.by=random", "benchmark.n_train=3", "gate.kind=none"),
    ],
)
def test_the_costs_of_the_backbones_add_up_to_the_runs(bench, rows, words):
    bench.run(*words)
    directory = bench.directory(*words)
    result = read_json(directory / "result.json")
    parts = result["cost_by_backbone"]
    assert list(parts) == ["own", "strong"]
    sums = tuple(sum(part[name] for part in parts.values()) for name in COSTS)
    assert sums == figures(result)
    # against the messages themselves; an editor's call names no backbone, it is the run's own
    counted = {"own": Counter(), "strong": Counter()}
    for trace in rows(directory / "traces.jsonl"):
        said = trace["rollout"]["messages"] if "rollout" in trace else trace["messages"]
        for message in said:
            if not message.get("replaced"):
                one = counted[message.get("backbone") or "own"]
                one["calls"] += 1
                one["prompt_tokens"] += message["prompt_tokens"]
                one["completion_tokens"] += message["completion_tokens"]
    assert {n: figures(c) for n, c in counted.items()} == {n: figures(p) for n, p in parts.items()}
    assert parts["strong"]["calls"] > 0
    assert result["requests"] == len(bench.spy.asked) + len(bench.further["strong"].asked)
    elsewhere = [result[f"{part}_cost"].get("elsewhere", {}) for part in ("training", "evaluation")]
    assert sum(one["strong"]["calls"] for one in elsewhere if one) == parts["strong"]["calls"]
    assert read_json(directory / "manifest.json")["backbones"] == {
        "strong": {"id": "strong", "revision": None}
    }


def test_one_backbone_has_no_list_of_costs(bench):
    words = ("method=mad", "~backbones.strong")
    bench.run(*words)
    directory = bench.directory(*words)
    assert "cost_by_backbone" not in read_json(directory / "result.json")
    assert "backbones" not in read_json(directory / "manifest.json")
    assert "elsewhere" not in read_json(directory / "manifest.json")["usage"]


def test_an_idle_backbone_costs_nothing(bench):
    bench.run("method=mad")
    result = read_json(bench.directory("method=mad") / "result.json")
    strong = result["cost_by_backbone"]["strong"]
    assert figures(strong) == (0, 0, 0)
    assert figures(result["cost_by_backbone"]["own"]) == figures(result)


def test_what_was_sent_is_counted_by_backbone_over_two_processes(bench):
    seen = 0

    def stop(request):
        nonlocal seen
        seen += 1
        if seen == 13:
            raise ServerUnavailable("away")

    with pytest.raises(ServerUnavailable):
        bench.run(*MAD, before=stop)
    first = len(bench.further["strong"].asked)
    bench.run(*MAD)
    directory = bench.directory(*MAD)
    usage = Usage.from_data(read_json(directory / "manifest.json")["usage"])
    result = read_json(directory / "result.json")
    strong = result["cost_by_backbone"]["strong"]
    assert first > 0
    # nothing was sent twice, so what was sent is the logical cost but for a request that failed
    assert usage.elsewhere["strong"] == (strong["prompt_tokens"], strong["completion_tokens"])
    assert (usage.prompt_tokens, usage.completion_tokens) == (
        result["prompt_tokens"],
        result["completion_tokens"],
    )


def test_usage_by_backbone_adds_up_and_comes_back():
    one = Usage(requests=2, prompt_tokens=10, completion_tokens=4, elsewhere={"a": (3, 1)})
    other = Usage(requests=1, prompt_tokens=5, completion_tokens=5, elsewhere={"b": (5, 5)})
    both = one + other + one
    assert both.elsewhere == {"a": (6, 2), "b": (5, 5)}
    assert Usage.from_data(both.to_data()) == both
    assert both.tokens.elsewhere["b"] == Cost(prompt_tokens=5, completion_tokens=5)
    assert "elsewhere" not in Usage().to_data()
    assert Usage.from_data(Usage().to_data()) == Usage()


# ---- prices -------------------------------------------------------------------------------------


def price(prompt, completion):
    return PriceConfig(
        prompt_usd_per_mtok=prompt, completion_usd_per_mtok=completion, as_of="2026-01-01"
    )


MIXED = Cost(
    calls=3,
    prompt_tokens=3_000_000,
    completion_tokens=1_000_000,
    elsewhere={
        "strong": Cost(calls=1, prompt_tokens=1_000_000, completion_tokens=500_000),
        "strong#abcdef": Cost(calls=1, prompt_tokens=500_000, completion_tokens=0),
        "#abcdef": Cost(calls=1, prompt_tokens=500_000, completion_tokens=0),
    },
)


def test_each_backbone_is_paid_at_its_own_price():
    prices = Prices(price(1.0, 2.0), {"strong": price(10.0, 20.0)})
    # own: 1.0 M and the options' 0.5 M at 1, 0.5 M at 2; strong: 1.0 + 0.5 M at 10, 0.5 M at 20
    assert prices.usd(MIXED) == pytest.approx(1.5 + 1.0 + 15.0 + 10.0)


@pytest.mark.parametrize(
    ("own", "strong", "cost", "usd"),
    [
        (price(1.0, 2.0), None, MIXED, None),
        (None, price(1.0, 2.0), MIXED, None),
        (price(1.0, None), price(1.0, 2.0), MIXED, None),
        # a backbone that nobody asked needs no price
        (price(1.0, 2.0), None, Cost(prompt_tokens=1_000_000), 1.0),
        (
            price(1.0, 2.0),
            None,
            Cost(prompt_tokens=1_000_000, elsewhere={"strong": Cost()}),
            1.0,
        ),
        (
            None,
            price(3.0, 2.0),
            Cost(
                prompt_tokens=1_000_000,
                elsewhere={"strong": Cost(prompt_tokens=1_000_000)},
            ),
            3.0,
        ),
        (None, None, Cost(), None),
    ],
)
def test_an_unknown_price_is_no_price(own, strong, cost, usd):
    found = Prices(own, {"strong": strong}).usd(cost)
    assert found is None if usd is None else found == pytest.approx(usd)


def test_prices_come_from_each_backbones_own_section(bench):
    config, _, _ = bench.job(
        "backbone=gpt_4o_mini",
        "++backbones.strong.file=gpt_4o_mini",
        "+backbones.strong.price.prompt_usd_per_mtok=5",
        "+backbones.free.file=scripted",
    )
    prices = prices_of(config)
    assert prices.own.prompt_usd_per_mtok == 0.15
    assert prices.others["strong"].prompt_usd_per_mtok == 5
    assert prices.others["free"].usd(10**9, 10**9) == 0.0  # nothing is billed for no server


def test_a_budget_in_dollars_names_the_backbone_without_a_price(bench):
    words = ("backbone=gpt_4o_mini", "budget.usd=1")
    config, _, _ = bench.job(*words)  # beside a scripted one, which costs nothing
    assert unpriced(config) is None
    config, _, _ = bench.job(*words, "~backbones.strong", "+backbones.qwen3_32b={}")
    said = unpriced(config)
    assert said.startswith("budget.usd=1 has no effect once backbones.qwen3_32b is asked: ")
    assert "the price of backbones.qwen3_32b=qwen3_32b is not known" in said
    assert "Set backbones.qwen3_32b.price.prompt_usd_per_mtok" in said


def test_two_servers_called_alike_are_refused(bench):
    """One call cache serves all of them: a reply of one would stand for the other's."""
    one = ("backbone=openai", "backbone.model=default", "backbone.base_url=http://a:1/v1")
    two = ("++backbones.strong.file=openai", "+backbones.strong.model=default")
    other = "+backbones.strong.base_url=http://b:1/v1"
    with pytest.raises(ConfigError, match=r"backbones\.strong: a second server beside backbone"):
        bench.job(*one, *two, other)
    for more in ("+backbones.strong.revision=b", "+backbone.chat_template_kwargs.a=1"):
        config, _, _ = bench.job(*one, *two, other, more)
        assert list(further_backbones(config, None)) == ["strong"]
    config, _, _ = bench.job(*one, *two, "+backbones.strong.base_url=http://a:1/v1")
    assert list(further_backbones(config, None)) == ["strong"]


def test_what_decided_an_assignment_is_written_once(bench, rows):
    words = ("method=mad", "assign.by=meta_debate")
    bench.run(*words)
    directory = bench.directory(*words)
    kinds = {"criteria", "proposal", "review"}
    for trace, line in zip(
        rows(directory / "traces.jsonl"), rows(directory / "assignments.jsonl"), strict=True
    ):
        said = trace["rollout"]["messages"]
        deciding = [one for one in said if one["kind"] in kinds]
        assert len(deciding) == line["calls"]
        assert not any("text" in one for one in deciding)
        assert all("text" in one for one in said if one["kind"] not in kinds)
        assert "assignment" not in trace["rollout"]
        assert all(one["proposals"] for one in line["hearings"])


def test_costs_by_backbone_come_back_from_plain_data(message_of):
    cost = cost_of([message_of(None), message_of("a"), message_of("a"), message_of("b", True)])
    assert (cost.calls, cost.prompt_tokens) == (3, 30)
    assert {name: one.calls for name, one in cost.elsewhere.items()} == {"a": 2}
    assert Cost.from_data({**cost.to_data(), "id": "another key"}) == cost
    assert (cost + cost).elsewhere["a"].prompt_tokens == 40
    assert "elsewhere" not in Cost(calls=1).to_data()


@pytest.fixture
def message_of():
    """A message of ten prompt tokens through a backbone, perhaps put in a mouth."""
    from sero.inference.trace import CallKind, put_in_mouth

    def make(backbone, replaced=False):
        bare = put_in_mouth("r", CallKind.MESSAGE, "text")
        return dataclasses.replace(
            bare, prompt_tokens=10, completion_tokens=1, backbone=backbone, replaced=replaced
        )

    return make


# ---- refused beforehand -------------------------------------------------------------------------


@pytest.fixture
def named_pool(bench, tmp_path):
    """A pool file whose first role speaks through a backbone of this name."""

    def write(name):
        pool = bench.job()[0].benchmark.build().seed_pool()
        cards = [card_to_data(card) for card in pool]
        cards[0] = {**cards[0], "backbone": name}
        path = tmp_path / "pool.yaml"
        path.write_text(dump_yaml({"roles": cards}))
        return path

    return write


@pytest.mark.parametrize("key", ["benchmark.seed_pool", "from_pool"])
def test_a_card_without_its_backbone_is_refused_before_anybody_is_asked(bench, named_pool, key):
    script = "evaluate" if key == "from_pool" else "train"
    words = [f"{key}={named_pool('stronger')}", "method=static"]
    with pytest.raises(CardError, match=r"speak through backbone 'stronger'.*there are: strong"):
        bench.run(*words, script=script)
    assert bench.spy is None
    bench.run(f"{key}={named_pool('strong')}", "method=static", script=script)
    assert bench.further["strong"].asked


def test_every_card_without_its_backbone_is_told(bench, tmp_path):
    pool = bench.job()[0].benchmark.build().seed_pool()
    cards = [{**card_to_data(card), "backbone": f"b{i}"} for i, card in enumerate(pool)]
    path = tmp_path / "pool.yaml"
    path.write_text(yaml.safe_dump({"roles": cards}))
    with pytest.raises(CardError) as caught:
        load_inputs(bench.job(f"benchmark.seed_pool={path}", "method=static")[0])
    assert len(caught.value.faults) == len(cards)


def test_request_options_are_a_backbone_of_their_own(bench, debating, tmp_path):
    roster = "candidates: [{name: a}, {name: b, request: {tools: [x]}}]"
    other = debating(tmp_path, roster)
    words = ("method=mad", "assign.by=b", "backbone=openai", "backbone.model=m")
    config, _, _ = other.job(*words)
    inputs = load_inputs(config)
    parts = further_backbones(config, inputs.roster)
    (key,) = set(parts) - {"strong"}
    assert key == inputs.roster.candidates[1].seat.key
    assert parts[key].config.extra_body == {"tools": ["x"]}
    assert config.backbone.config.extra_body == {}


def test_options_for_a_backbone_that_takes_none_are_refused(debating, tmp_path):
    roster = "candidates: [{name: a}, {name: b, request: {tools: [x]}}]"
    other = debating(tmp_path, roster)
    with pytest.raises(UserError, match="scripted takes no request options"):
        other.run("method=mad", "assign.by=b")
    assert other.spy is None


def test_a_server_that_is_away_stops_the_run_whoever_it_answers_for(bench):
    def away(request):
        raise ServerUnavailable("no server at http://127.0.0.1:9")

    with pytest.raises(ServerUnavailable):
        bench.run("method=mad", "assign.by=careful", before=away)
    directory = bench.directory("method=mad", "assign.by=careful")
    assert read_json(directory / "status.json")["state"] == "interrupted"

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from sero.benchmarks.base import Parsed, Task
from sero.skillworld import SkillWorldBackbone, SkillWorldBenchmark, SkillWorldEncoder
from sero.skillworld.oracle import all_good_pool, harmful_count, kind_of
from sero.skillworld.text import write_answer
from sero.skillworld.world import WorldSpec

PROMPT = "End with:\nAnswer: c4 = <number>; c0 = <number>; c2 = <number>"
TASK = Task(
    id="test-000",
    group="g04",
    prompt=PROMPT,
    reference={"facts": {"c4": "4821", "c0": "3310", "c2": "9999"}},
)


def test_the_split(tools):
    split = tools.benchmark().load()
    assert [len(split.train), len(split.heldout)] == [30, 200]
    assert split.train[7].id == "train-007"
    assert split.heldout[123].id == "test-123"
    assert Counter(t.group for t in split.train) == {"g04": 10, "g15": 10, "g23": 10}
    prompts = {t.prompt for t in (*split.train, *split.heldout)}
    assert len(prompts) == 230
    assert split == tools.benchmark().load()


def test_the_saturated_split(tools):
    split = tools.benchmark(scenario="saturated").load()
    assert set(Counter(t.group for t in split.heldout)) == {"g04", "g15", "g26", "g37"}


def test_the_fingerprint_tells_worlds_and_sizes_apart(tools):
    made = [tools.benchmark(), tools.benchmark(world=8), tools.benchmark(n_heldout=199)]
    assert len({benchmark.load().fingerprint for benchmark in made}) == 3
    assert tools.benchmark(n_heldout=20).load().heldout == tools.benchmark().load().heldout[:20]


def test_a_run_may_start_from_the_ceilings_pool(tools):
    """Same tasks, another pool: one good specialist for each of the six families."""
    seed, ceiling = tools.benchmark(), tools.benchmark(pool="all_good")
    spec = WorldSpec(key=7, scenario="default", dim=32)
    assert ceiling.load() == seed.load()
    assert ceiling.seed_pool() == all_good_pool(spec)
    kinds = Counter(kind_of(card, spec) for card in ceiling.seed_pool())
    assert kinds["good"] == 6
    assert harmful_count(ceiling.seed_pool(), spec) == 0
    assert harmful_count(seed.seed_pool(), spec) > 0


def test_gold_is_worth_one_and_never_in_the_prompt(world, tools):
    benchmark = tools.benchmark()
    for task in benchmark.load().heldout:
        case = world.case(task.id)
        gold = write_answer("aaaaaaaaaaaa", case, case.right)
        assert benchmark.score(benchmark.parse(task.prompt, gold), task).value == 1.0
        assert not any(value in task.prompt for value in task.reference["facts"].values())


@pytest.mark.parametrize(
    ("response", "answer", "reason"),
    [
        ("Answer: c4 = 4821; c0 = 3310; c2 = 9999", "c4=4821; c0=3310; c2=9999", ""),
        ("answer\nAnswer: c2=1111, c0=2222, c4=3333", "c4=3333; c0=2222; c2=1111", ""),
        (
            "Answer: c4 = 1; c0 = 3310; c2 = 9999\nAnswer: c4 = 4821; c0 = 3310; c2 = 9999",
            "c4=4821; c0=3310; c2=9999",
            "",
        ),
        ("Answer: c4 = 4821; c0 = 3310; c2 = 9999; c5 = 1234", "c4=4821; c0=3310; c2=9999", ""),
        ("Answer: c4 = 4821; c2 = 9999", None, "the answer line gives no number for c0"),
        ("Answer: none", None, "the answer line gives no number for c4, c0, c2"),
        ("c4 = 4821; c0 = 3310; c2 = 9999", None, "no line 'Answer:'"),
        ("", None, "no line 'Answer:'"),
    ],
)
def test_parse(response, answer, reason, tools):
    parsed = tools.benchmark().parse(PROMPT, response)
    assert (parsed.answer, parsed.reason, parsed.text) == (answer, reason, response)


def test_a_prompt_that_asks_for_nothing(tools):
    parsed = tools.benchmark().parse("What is 2 + 2?", "Answer: c4 = 4821")
    assert (parsed.answer, parsed.reason) == (None, "the prompt asks for no fact")


@pytest.mark.parametrize(
    ("answer", "partial", "exact"),
    [
        ("c4=4821; c0=3310; c2=9999", 1.0, 1.0),
        ("c4=4821; c0=3310; c2=1000", 2 / 3, 0.0),
        ("c4=3310; c0=9999; c2=4821", 0.0, 0.0),  # right numbers of the wrong facts
        (None, 0.0, 0.0),
        ("nonsense", 0.0, 0.0),
    ],
)
def test_both_scores(answer, partial, exact, tools):
    parsed = Parsed(answer=answer, text="", reason="" if answer else "no line 'Answer:'")
    for mode, value in (("partial", partial), ("exact", exact)):
        benchmark = tools.benchmark(score=mode)
        assert benchmark.scorer == mode
        score = benchmark.score(parsed, TASK)
        assert score.value == pytest.approx(value)
        assert score.reason


BENCHMARK = SkillWorldBenchmark(
    SkillWorldBenchmark.Config(
        name="skillworld",
        world=7,
        scenario="default",
        score="partial",
        noise=0.0,
        dim=32,
        n_train=30,
        n_heldout=200,
        strict_add=False,
        pool="seed",
    )
)


@given(prompt=st.one_of(st.just(PROMPT), st.text()), response=st.text(), facts=st.text())
def test_parse_and_score_are_total(prompt, response, facts):
    for text in (response, response + "\nAnswer: c4 = 4821; " + facts):
        parsed = BENCHMARK.parse(prompt, text)
        assert (parsed.answer is None) == bool(parsed.reason)
        assert 0.0 <= BENCHMARK.score(parsed, TASK).value <= 1.0


def test_what_a_benchmark_promises(tools):
    benchmark = tools.benchmark(noise=0.2)
    assert benchmark.simulated
    assert benchmark.name == "skillworld"
    pool = benchmark.seed_pool()
    assert benchmark.output_protocol in pool.terminal.communication_protocol
    assert pool["seed-0"].temperature == 0.2
    known = "\n".join(benchmark.known_texts())
    assert all(card.prompt_text in known for card in pool)
    assert "Ledger case" in known
    assert "train-0" not in known


BENCHMARK_CONFIG = {
    "name": "skillworld",
    "world": 42,
    "scenario": "default",
    "score": "partial",
    "noise": 0.0,
    "dim": 512,
    "n_train": 30,
    "n_heldout": 200,
    "strict_add": False,
    "pool": "seed",
}


@pytest.mark.parametrize(
    ("config", "data", "bad"),
    [
        (SkillWorldBenchmark.Config, BENCHMARK_CONFIG, {"noise": 1.5}),
        (SkillWorldBenchmark.Config, BENCHMARK_CONFIG, {"score": "half"}),
        (SkillWorldBenchmark.Config, BENCHMARK_CONFIG, {"pool": "good"}),
        (SkillWorldBenchmark.Config, BENCHMARK_CONFIG, {"n_train": 0}),
        (
            SkillWorldEncoder.Config,
            {"world": 1, "scenario": "saturated", "dim": 512},
            {"dim": 18},  # fewer than the 2 * 8 + 3 directions of the larger scenario
        ),
        (
            SkillWorldBackbone.Config,
            {
                "name": "skillworld",
                "world": 1,
                "scenario": "default",
                "dim": 512,
                "noise": 0.0,
                "editor": "benign",
            },
            {"editor": "kind"},
        ),
    ],
)
def test_configurations_hold_types_and_ranges(config, data, bad):
    adapter = TypeAdapter(config)
    assert replace(adapter.validate_python(data)) == config(**data)
    with pytest.raises(ValidationError):
        adapter.validate_python({**data, **bad})

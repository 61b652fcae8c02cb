from pathlib import Path

import pytest

from sero.config import composer
from sero.config.benchmark_alone import choices_of, compose_benchmark, run_overrides
from sero.errors import ConfigError

CONF = Path(__file__).resolve().parents[2] / "conf"
BENCHMARKS = sorted(
    path.stem for path in (CONF / "benchmark").glob("*.yaml") if not path.name.startswith("_")
)


def faults(*overrides):
    with pytest.raises(ConfigError) as error:
        compose_benchmark(CONF, overrides)
    return list(error.value.faults)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_stands_alone(name):
    found = compose_benchmark(CONF, [f"benchmark={name}"])
    assert found.benchmark.choice == name
    assert found.benchmark.build().name
    assert (found.source, found.revision, found.overwrite) == ("hub", None, False)


def test_shared_values_are_those_of_a_run():
    """`conf/prepare_data.yaml` says again what a run takes from `conf/common.yaml`."""
    with composer(CONF, "train") as composing:
        run = composing.compose().config
    alone = compose_benchmark(CONF, ["benchmark=skillworld"])
    assert (alone.seed, alone.paths.data) == (run.seed, run.paths.data)


def test_overrides_reach_the_benchmark():
    found = compose_benchmark(
        CONF,
        [
            *("benchmark=naturalplan", "paths.data=/x", "benchmark.scorer=official"),
            *("source=./a b", "revision=v2", "overwrite=true"),
        ],
    )
    config = found.benchmark.config
    assert (config.source, config.scorer) == ("/x/naturalplan.jsonl", "official")
    assert (found.source, found.revision, found.overwrite) == ("./a b", "v2", True)


def test_every_fault_of_a_line_is_told():
    assert faults(
        "benchmark=naturalplan", "sorce=x", "benchmark.n_train=x", "benchmark.scorrer=a"
    ) == [
        "sorce: unknown key; did you mean 'source'?",
        "benchmark.scorrer: unknown key; did you mean 'benchmark.scorer'?",
        "benchmark.n_train: got 'x'. Input should be a valid integer",
    ]


@pytest.mark.parametrize(
    ("overrides", "fault"),
    [
        ((), f"benchmark: none chosen; write benchmark=NAME, there are {', '.join(BENCHMARKS)}"),
        (("benchmark=naturaplan",), "did you mean 'naturalplan'?"),
        (("benchmark=naturalplan", "gate.tasks=3"), "gate.tasks: unknown key"),
        (("benchmark=naturalplan", "overwrite=maybe"), "overwrite: got 'maybe'"),
        (("benchmark=naturalplan", "source=a,b"), "one benchmark and one source at a time"),
        (("benchmark=naturalplan,skillworld",), "one benchmark and one source at a time"),
        (("benchmark=naturalplan", "source"), "source: cannot be read"),
    ],
)
def test_one_fault_of_a_line(overrides, fault):
    found = faults(*overrides)
    assert len(found) == 1
    assert fault in found[0]


def test_a_folder_of_the_users_own_is_searched_first(quiz_conf, quiz_module):
    found = compose_benchmark(CONF, ["benchmark=quiz"], more_dir=quiz_conf).benchmark
    assert found.target is quiz_module.Quiz
    assert found.config.source == "data/quiz.jsonl"
    with pytest.raises(ConfigError, match=r"no choice 'quizz'; there are .*did you mean 'quiz'"):
        compose_benchmark(CONF, ["benchmark=quizz"], more_dir=quiz_conf)


def test_the_values_a_key_may_take():
    part = compose_benchmark(CONF, ["benchmark=naturalplan"]).benchmark
    assert choices_of(part, "scorer") == ("careful", "official")
    assert choices_of(part, "name") == choices_of(part, "no_such_key") == ()


def test_what_a_run_takes_of_a_command_line():
    line = ["benchmark=a", "source=x", "benchmark.source=y", "overwrite=true", "paths.data=z"]
    assert run_overrides(line) == ["benchmark=a", "benchmark.source=y", "paths.data=z"]

"""The jobs looked at before a start are the jobs that `scripts/train.py` runs."""

from pathlib import Path

import pytest

from sero.config.front import launch
from sero.config.train_alone import composed_jobs
from sero.errors import ConfigError

CONF = Path(__file__).resolve().parents[2] / "conf"
SCRIPTED = ("encoder=hashing", "backbone=scripted")
pytestmark = pytest.mark.usefixtures("checked_warm")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Directory and configuration of every job that a script really starts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sero.reporting.summary.print_summary", lambda directories, console: None)

    def start(*words):
        seen = []

        def job(config, directory, resolved):
            seen.append((directory, config))
            return 0

        assert launch(CONF, "train", job, ["train.py", *words]) == 0
        return seen

    return start


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("experiment=single", "gate.tasks=4"),
        ("method=sero,static", "seed=3", "gate.tasks=1,2"),
        ("experiment=single", "benchmark=toy,skillworld", *SCRIPTED),
        ("method=cot", "benchmark=toy", *SCRIPTED, "+backbone.replies.two=a,b"),
        ("experiment=single", "row=gate_8", "seed=range(3,5)", "hydra/launcher=basic"),
    ],
)
def test_they_are_what_the_script_runs(run, words):
    jobs = composed_jobs(CONF, words)
    assert [(job.directory, job.config) for job in jobs] == run(*words)


def test_a_job_says_what_it_is():
    static, sero = composed_jobs(CONF, ["seed=7"])
    variant = sero.directory.parts[2]
    assert (static.method, sero.method) == ("static", "sero")
    assert (sero.benchmark, sero.seed, sero.variant) == ("skillworld", 7, variant)
    assert sero.label == f"sero/skillworld/{variant}/seed_7"
    assert sero.directory == Path(f"runs/quickstart/{variant}/sero/skillworld/seed_7")


def test_an_experiment_sweeps_by_itself_and_the_line_narrows_it():
    table = composed_jobs(
        CONF, ["experiment=main", "method=cot,sero", "seed=42,43", "benchmark=toy"]
    )
    assert [(job.method, job.benchmark, job.seed) for job in table] == [
        ("cot", "toy", 42),
        ("cot", "toy", 43),
        ("sero", "toy", 42),
        ("sero", "toy", 43),
    ]
    assert {job.config.backbone.choice for job in table} == {"qwen3_8b"}


def test_every_fault_of_a_line_is_told_together():
    with pytest.raises(ConfigError) as error:
        composed_jobs(CONF, ["gate.tasks=0", "gaet.repeats=2", "seed=1,x", "method=seru"])
    assert [fault.partition(";")[0] for fault in error.value.faults] == [
        "method: no choice 'seru'",
        "gaet.repeats: unknown key",
        "gate.tasks: got 0. Input should be greater than 0",
        "seed: got 'x'. Input should be a valid integer",
    ]


def test_a_folder_of_the_users_own_is_searched_first(quiz_conf, quiz_module):
    words = ["experiment=single", "benchmark=quiz", *SCRIPTED]
    (job,) = composed_jobs(CONF, words, more_dir=quiz_conf)
    assert job.config.benchmark.target is quiz_module.Quiz


# ---- further backbones of an experiment ---------------------------------------------------------

MINE = ("experiment=mine", "backbone=scripted", "benchmark=toy", "encoder=hashing")


@pytest.fixture
def own_conf(tmp_path):
    """A folder with an experiment that has a further backbone."""
    path = tmp_path / "conf" / "experiment" / "mine.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(
        "# @package _global_\ndefaults: [single, _self_]\nexperiment: mine\n"
        "backbones:\n  strong: {file: scripted}\n"
    )
    return tmp_path / "conf"


def test_a_sweep_over_its_file_brings_each_file(own_conf):
    words = (*MINE, "backbones.strong.file=scripted,qwen3_32b")
    jobs = composed_jobs(CONF, words, more_dir=own_conf)
    parts = [job.config.backbones["strong"] for job in jobs]
    assert [part.choice for part in parts] == ["scripted", "qwen3_32b"]
    assert [part.config.name for part in parts] == ["scripted", "qwen3_32b"]
    assert len({job.variant for job in jobs}) == 2


def test_what_its_file_alone_says_is_set_with_a_plus(own_conf):
    with pytest.raises(ConfigError, match=r"write \+backbones\.strong\.default=no"):
        composed_jobs(CONF, (*MINE, "backbones.strong.default=no"), more_dir=own_conf)
    (job,) = composed_jobs(CONF, (*MINE, "+backbones.strong.default=no"), more_dir=own_conf)
    assert job.config.backbones["strong"].config.default == "no"

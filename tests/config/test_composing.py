from pathlib import Path

import hydra
import pytest
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf
from omegaconf.errors import ConfigAttributeError

from sero.config import check_overrides, composer
from sero.errors import ConfigError

CONF = Path(__file__).resolve().parents[2] / "conf"


def test_a_composition_tells_its_choices_and_its_sweep():
    with composer(CONF, "train") as composing:
        composed = composing.compose(["backbone=gpt_4o_mini"])
        single = composing.compose(["experiment=single"])
    assert composed.choices == {
        "method": "sero",
        "profile": "hosted",
        "encoder": "skillworld",
        "benchmark": "skillworld",
        "backbone": "gpt_4o_mini",
        "controller": "mlp",
        "logger": "wandb",
        "budget": "unlimited",
        "experiment": "quickstart",
    }
    assert (composed.sweep, composed.multirun) == ({"method": "static,sero"}, True)
    assert (single.sweep, single.multirun) == ({}, False)
    assert "hydra" not in composed.config


def test_the_tree_stays_closed():
    with composer(CONF, "train") as composing:
        config = composing.compose().config
    assert OmegaConf.is_struct(config)
    with pytest.raises(ConfigAttributeError):
        config.policy.hiden = 3


def test_hydra_is_left_as_it_was_found():
    with composer(CONF, "train"), composer(CONF, "evaluate") as inner:
        assert "from_pool" in inner.compose().config
        assert GlobalHydra.instance().is_initialized()
    assert not GlobalHydra.instance().is_initialized()


def test_the_values_of_an_experiments_own_sweep_are_checked(tmp_path):
    folder = tmp_path / "experiment"
    folder.mkdir()
    (folder / "mine.yaml").write_text(
        "# @package _global_\n"
        "experiment: mine\n"
        "gatee: {tasks: 1}\n"
        "hydra:\n  mode: MULTIRUN\n  sweeper:\n    params: {gate.tasks: '1,0', polcy.bonus: '1'}\n"
    )
    with composer(CONF, "train", more_dir=tmp_path) as composing:
        with pytest.raises(ConfigError) as caught:
            check_overrides(composing, ["experiment=mine"])
        assert caught.value.faults == (
            "polcy.bonus: unknown key; did you mean 'policy.bonus'?",
            "gatee: unknown field; did you mean 'gate'?",
            "gate.tasks: got 0. Input should be greater than 0",
        )


@pytest.fixture
def counted(monkeypatch):
    """The overrides of every composition that Hydra made."""
    seen: list[list[str]] = []
    original = hydra.compose

    def compose(name, overrides, **named):
        seen.append(overrides)
        return original(name, overrides, **named)

    monkeypatch.setattr("hydra.compose", compose)
    return seen


def test_files_are_composed_once_for_all_composers_of_a_process(counted):
    with composer(CONF, "train") as made:
        for seed in range(3):
            made.compose(["experiment=single", f"seed={seed}"])
        with composer(CONF, "train") as another:  # as each job of a sweep makes one
            another.compose(["seed=7", "experiment=single"])
    assert counted == [["experiment=single"]]


def test_a_sweep_taken_from_a_value_is_composed_anew(tmp_path, counted):
    path = tmp_path / "experiment" / "mine.yaml"
    path.parent.mkdir()
    path.write_text(
        "# @package _global_\ndefaults: [single, _self_]\nexperiment: mine\n"
        "hydra: {mode: MULTIRUN, sweeper: {params: {gate.tasks: 'range(${seed})'}}}\n"
    )
    with composer(CONF, "train", more_dir=tmp_path) as made:
        assert made.compose(["experiment=mine", "seed=3"]).sweep == {"gate.tasks": "range(3)"}
        assert made.compose(["experiment=mine", "seed=5"]).sweep == {"gate.tasks": "range(5)"}
    assert ["experiment=mine", "seed=5"] in counted

"""A tree whose values are set on the tree of its files is the tree that Hydra composes."""

import hydra
import pytest
from omegaconf import OmegaConf

from sero.config import Composer
from sero.config.composing import KEPT

EXPERIMENTS = (
    *("single", "quickstart", "main", "backbone_scaling", "simulator", "ablation/no_gate"),
    *("assign/code_review", "sensitivity/bonus"),
)
VALUES = (
    *("seed=3", "gate.tasks=8", "+pool.more={a: 1}", "~train.checkpoint_every"),
    *("policy.operations=[add,noop]", "paths.runs=${paths.cache}/x", "++pool.p_min=null"),
)
FAULTS = [
    ("gate.taks=3",),
    ("seed=1,2",),
    ("seed=[1",),
    ("method=nope", "gate.taks=3"),
    ("method={a: 1}",),
    ("+pool.p_min=3",),
    ("~nope.x",),
    ("~seed=43",),
    ("++method=sero",),
    ("hydra.launcher.n_jobs=2",),
    ("gate=3", "gate.tasks=2"),
    ("seed@a=2",),
]


def whole(made: Composer, overrides: tuple[str, ...]):
    """Hydra's own composition of everything: the tree, its choices, its sweep and its mode."""
    tree = hydra.compose(made.config_name, list(overrides), return_hydra_config=True)
    node = tree.hydra
    own = {key: value for key, value in node.runtime.choices.items() if value is not None}
    sweep = {key: str(value) for key, value in (node.sweeper.params or {}).items()}
    data = OmegaConf.to_container(tree, resolve=False)
    data.pop("hydra")
    chosen = {key: value for key, value in own.items() if not key.startswith("hydra/")}
    return list(data.items()), chosen, sweep, str(node.mode) == "RunMode.MULTIRUN"


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_experiment(train, experiment):
    overrides = (f"experiment={experiment}", *VALUES)
    found = train.compose(overrides)
    assert OmegaConf.is_struct(found.config)
    data = OmegaConf.to_container(found.config, resolve=False)
    assert (list(data.items()), found.choices, found.sweep, found.multirun) == whole(
        train, overrides
    )


@pytest.mark.parametrize("overrides", FAULTS)
def test_every_fault(train, overrides):
    with pytest.raises(Exception) as hydras:
        whole(train, overrides)
    with pytest.raises(hydras.type) as ours:
        train.compose(overrides)
    assert str(ours.value) == str(hydras.value)


def test_a_value_set_once_is_not_in_the_next_tree(train):
    before = train.compose(["experiment=single"]).config.gate.tasks
    assert train.compose(["experiment=single", "gate.tasks=7"]).config.gate.tasks == 7
    assert train.compose(["experiment=single", "seed=9"]).config.gate.tasks == before


def test_a_value_that_reads_hydras_node_may_be_taken_out_again(train):
    overrides = ("experiment=single", "+named=${hydra.job.name}", "~named")
    data = OmegaConf.to_container(train.compose(overrides).config, resolve=False)
    assert list(data.items()) == whole(train, overrides)[0]


def test_a_long_sweep_does_not_fill_the_memory(train):
    for seed in range(2 * KEPT):
        train.compose([f"seed={seed}"])
    assert len(train._known) == KEPT

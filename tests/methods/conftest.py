"""Methods are tried on the toy of the training tests, through a whole `Lab`."""

import importlib.util
import sys
from pathlib import Path

import pytest

from sero.backbones.scripted import ScriptedBackbone
from sero.evolution.sections import RandomConfig
from sero.methods.base import Fitting, Lab


@pytest.fixture(scope="session")
def toy():
    """The toy lies in another folder's conftest, which no import statement reaches."""
    path = Path(__file__).parents[1] / "evolution" / "conftest.py"
    spec = importlib.util.spec_from_file_location("toy_for_methods", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their own module up
    spec.loader.exec_module(module)
    yield module.Toy
    del sys.modules[spec.name]


@pytest.fixture
def make_lab(toy):
    def make_lab(backbone=None, **changes):
        benchmark = toy.Benchmark()
        train = changes.get("train", toy.TRAIN)
        own = {
            "parts": toy.parts(backbone or ScriptedBackbone(toy.reply), benchmark=benchmark),
            "inference": toy.INFERENCE,
            "benchmark": benchmark,
            "make_controller": lambda: toy.controller(batch=train.batch),
            "commit": lambda: None,
            "strict_add": False,
            "run_seed": toy.SEED,
            "train": train,
            "policy": toy.POLICY,
            "pool": toy.POOL,
            "guard": toy.GUARD,
            "gate": toy.GATE,
            "schema": toy.SCHEMA,
            "editor": toy.EDITOR,
            "early_stop": toy.EARLY_STOP,
            "random": RandomConfig(passes=1, loo=False),
        }
        return Lab(**{**own, **changes})

    return make_lab


@pytest.fixture
def make_fitting(toy):
    def make_fitting(recorder=None, *, resume=None, check_budget=lambda cost: None):
        recorder = recorder if recorder is not None else toy.Recorder()
        return Fitting(recorder=recorder, resume=resume, check_budget=check_budget)

    return make_fitting

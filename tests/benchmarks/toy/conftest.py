"""The toy benchmark as its configuration file describes it."""

from collections.abc import Callable

import pytest

from sero.benchmarks.item_benchmark import GeneratedConfig
from sero.benchmarks.toy import Toy
from sero.benchmarks.toy.benchmark import ToyConfig


@pytest.fixture(scope="module")
def make_toy() -> Callable[..., Toy]:
    """Build the benchmark; `n`, `seed` and `difficulty` are the generator's."""

    def make(*, n=360, seed=0, difficulty=1, **changes) -> Toy:
        values = {
            "name": "toy",
            "source": "generated",
            "prompts": "package:toy",
            "seed_pool": "package:toy/seed_pool.yaml",
            "n_train": {"capitals": 10, "sentiment": 10, "arithmetic": 10},
            "n_heldout": None,
            "split_seed": 0,
            "allow_counts": False,
            "strict_add": False,
            "generated": GeneratedConfig(n=n, seed=seed, difficulty=difficulty),
        }
        return Toy(ToyConfig(**{**values, **changes}))

    return make


@pytest.fixture(scope="module")
def toy(make_toy) -> Toy:
    return make_toy()

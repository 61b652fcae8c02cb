"""The worked examples as their configuration files describe them."""

from collections.abc import Callable

import pytest

from sero.benchmarks.base import Task
from sero.benchmarks.examples import Architecture, CodeReview, HardMath
from sero.benchmarks.examples.packaged import PackagedBenchmark, PackagedConfig
from sero.benchmarks.item_benchmark import GeneratedConfig

KINDS = {
    "code_review": (CodeReview, {"one-fault": 1, "several-faults": 1}),
    "architecture": (Architecture, 2),
    "hard_math": (HardMath, 4),
}


@pytest.fixture(scope="session")
def example() -> Callable[..., PackagedBenchmark]:
    """`example("code_review")`, with changes to its configuration."""

    def make(name: str, **changes) -> PackagedBenchmark:
        kind, n_train = KINDS[name]
        values = {
            "name": name,
            "source": "packaged",
            "prompts": f"package:{name}",
            "seed_pool": f"package:{name}/seed_pool.yaml",
            "n_train": n_train,
            "n_heldout": None,
            "split_seed": 0,
            "allow_counts": False,
            "strict_add": False,
            "generated": GeneratedConfig(n=240, seed=0, difficulty=3),
        }
        return kind(PackagedConfig(**{**values, **changes}))

    return make


@pytest.fixture(scope="session")
def tasks(example) -> Callable[[str], dict[str, Task]]:
    """Every task of a worked example by its id."""

    def load(name: str) -> dict[str, Task]:
        split = example(name).load()
        return {task.id: task for task in (*split.train, *split.heldout)}

    return load

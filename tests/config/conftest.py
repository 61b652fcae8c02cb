from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sero.config import Composer, check_overrides, composer
from sero.errors import ConfigError

CONF = Path(__file__).resolve().parents[2] / "conf"


@pytest.fixture(scope="module")
def train() -> Iterator[Composer]:
    """Composes conf/train.yaml; of module scope, since a composition takes a tenth of a second."""
    with composer(CONF, "train") as composing:
        yield composing


@pytest.fixture
def evaluate(train: Composer) -> Composer:
    """Composes conf/evaluate.yaml, from the same folder."""
    return Composer("evaluate")


@pytest.fixture
def faults_of_line(train: Composer) -> Callable[..., list[str]]:
    """The faults of a command line, or an empty list."""

    def check(*overrides: str) -> list[str]:
        try:
            check_overrides(train, overrides)
        except ConfigError as error:
            return list(error.faults)
        return []

    return check

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sero.config import Composer, composer

CONF = Path(__file__).resolve().parents[2] / "conf"


@pytest.fixture()
def train() -> Iterator[Composer]:
    """Composes conf/train.yaml."""
    with composer(CONF, "train") as composing:
        yield composing


@pytest.fixture()
def evaluate() -> Iterator[Composer]:
    """Composes conf/evaluate.yaml."""
    with composer(CONF, "evaluate") as composing:
        yield composing


@pytest.fixture()
def faults_of_line(train: Composer) -> Callable[..., list[str]]:
    """The faults of a command line, or an empty list."""
    from sero.config import check_overrides
    from sero.errors import ConfigError

    def check(*overrides: str) -> list[str]:
        try:
            check_overrides(train, overrides)
        except ConfigError as error:
            return list(error.faults)
        return []

    return check

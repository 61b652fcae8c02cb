from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import warm_job
from hydra.core.global_hydra import GlobalHydra

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


@pytest.fixture
def checked_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command line is checked on files read once; Hydra composes the jobs as it always does."""

    @contextmanager
    def kept(
        conf_dir: Path, config_name: str, *, more_dir: Path | None = None
    ) -> Iterator[Composer]:
        inside_a_job = GlobalHydra.instance().is_initialized()
        if inside_a_job or more_dir is not None:
            with composer(conf_dir, config_name, more_dir=more_dir) as found:
                yield found
        else:
            with warm_job.composing():
                yield Composer(config_name)

    for module in ("front", "train_alone"):
        monkeypatch.setattr(f"sero.config.{module}.composer", kept)

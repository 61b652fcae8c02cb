import functools
from collections.abc import Callable

import pytest

from sero.config import Composer, RunConfig, parse_config


@pytest.fixture(scope="module")
def parsed(train: Composer) -> Callable[..., RunConfig]:
    """The checked configuration of a module's `train` under some overrides; made once for each."""

    @functools.cache
    def parse(*overrides: str) -> RunConfig:
        composed = train.compose(overrides)
        return parse_config(composed.config, composed.choices)

    return parse

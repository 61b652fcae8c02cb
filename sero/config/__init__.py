"""The configuration: `conf/` composed by Hydra, checked in one pass, given types.

Nothing below this package knows Hydra or OmegaConf.
"""

from sero.config.composing import Composed, Composer, composer
from sero.config.overrides import Checked, check_overrides
from sero.config.parse import parse_config
from sero.config.sections import (
    BudgetConfig,
    Component,
    EvaluateConfig,
    LoggerConfig,
    PathsConfig,
    RunConfig,
)
from sero.config.variant import describe_changes, resolved_data, run_directory
from sero.volatile import comparable

__all__ = [
    "BudgetConfig",
    "Checked",
    "Component",
    "Composed",
    "Composer",
    "EvaluateConfig",
    "LoggerConfig",
    "PathsConfig",
    "RunConfig",
    "check_overrides",
    "comparable",
    "composer",
    "describe_changes",
    "parse_config",
    "resolved_data",
    "run_directory",
]

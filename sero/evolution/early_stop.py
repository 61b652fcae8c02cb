"""When training ends early: the main phase has stopped changing the pool (method.md §4.8)."""

from __future__ import annotations

from collections.abc import Sequence

from sero.evolution.sections import EarlyStopConfig


def should_stop(committed: Sequence[bool], cfg: EarlyStopConfig, n_train: int) -> bool:
    """More than `threshold` of the last `window` main-phase episodes left the pool unchanged.

    Args:
        committed: one flag per main-phase episode so far, True where it changed the pool.
        cfg: the rule's switch, window, threshold and the least number of main episodes.
        n_train: episodes of one pass over the training tasks; awaited with `one_pass`.
    """
    if not cfg.enabled or len(committed) < first_test(cfg, n_train):
        return False
    unchanged = sum(not changed for changed in committed[-cfg.window :])
    return unchanged / cfg.window > cfg.threshold


def first_test(cfg: EarlyStopConfig, n_train: int) -> int:
    """Main-phase episodes after which the rule is tested for the first time."""
    return max(cfg.min_episodes, cfg.window, n_train if cfg.one_pass else 0)

"""Weights & Biases: whether the chosen mode can start. Nothing is sent."""

from __future__ import annotations

import importlib.util
import os

from sero.config import LoggerConfig
from sero.doctor.bounding import in_thread
from sero.doctor.finding import Finding, fail, ok

MODES = ("online", "offline", "disabled", "dryrun", "shared")


async def check_tracker(logger: LoggerConfig) -> Finding:
    """Whether a run's tracker could be started as configured."""
    if logger.kind == "none":
        return ok("tracker", "none (logger=none); metrics.jsonl is always written")
    if importlib.util.find_spec("wandb") is None:
        return fail("tracker", "wandb is not installed", "pip install wandb, or logger=none")
    mode = os.environ.get("WANDB_MODE")
    if mode is not None and mode not in MODES:
        return fail("tracker", f"WANDB_MODE={mode!r} is no mode of W&B", "unset WANDB_MODE")
    if logger.mode != "online":
        return ok("tracker", f"W&B {logger.mode}: no account needed, nothing is sent")
    if not await in_thread(_has_key):
        return fail(
            "tracker", "W&B online, and nobody is logged in", "wandb login, or logger.mode=offline"
        )
    return ok("tracker", f"W&B online, project {logger.project}: a key is configured")


def _has_key() -> bool:
    """Whether W&B finds a key in the environment or where `wandb login` puts it."""
    import wandb

    return bool(wandb.api.api_key)

"""Fit a method on the training split, then evaluate it frozen on held-out items.

    python scripts/train.py
    python scripts/train.py experiment=single benchmark=naturalplan encoder=minilm \
        backbone=openai backbone.model=NAME backbone.base_url=http://127.0.0.1:8000/v1
    python scripts/train.py experiment=single method=sero seed=1,2,3
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from sero.config import RunConfig
from sero.config.front import launch

CONF = Path(__file__).resolve().parent.parent / "conf"


def job(config: RunConfig, directory: Path, resolved: dict[str, Any]) -> int:
    """One run; what is heavy is loaded only now, when the configuration has been checked."""
    from sero.running.job import run_job

    return run_job(config, directory, resolved, train=True).exit_code


if __name__ == "__main__":
    sys.exit(launch(CONF, "train", job))

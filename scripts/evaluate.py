"""Evaluate a method on held-out items, without training.

python scripts/evaluate.py method=static
python scripts/evaluate.py from_pool=runs/quickstart/base-4f53cd/sero/skillworld/seed_42
python scripts/evaluate.py from_pool=my_pool.yaml seed=1,2,3
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

    return run_job(config, directory, resolved, train=False).exit_code


if __name__ == "__main__":
    sys.exit(launch(CONF, "evaluate", job))

"""Runs the training script and kills its own process at a named point; not a test module.

    python killed_run.py POINT NUMBER OVERRIDE...

POINT is `pre`, `post`, `loo`, `eval` (in the middle of a rollout of that phase), `gradient` (in
the middle of an update), or `never`; NUMBER says at which of its occurrences.
"""

import os
import signal
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def arm(point: str, number: int) -> None:
    """Replace one function on the way by one that kills at its `number`-th call there."""
    seen = 0

    def count() -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            os.kill(os.getpid(), signal.SIGKILL)

    if point == "gradient":
        from sero.evolution import controller

        usual = controller.next_baseline

        def next_baseline(*args, **kwargs):
            count()
            return usual(*args, **kwargs)

        controller.next_baseline = next_baseline
    elif point != "never":
        from sero.inference import repair

        speak = repair.speak

        async def deadly(*args, **kwargs):
            if str(kwargs["call"].phase) == point:
                count()
            return await speak(*args, **kwargs)

        repair.speak = deadly


def main() -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    arm(sys.argv[1], int(sys.argv[2]))
    from train import CONF, job

    from sero.config.front import launch

    sys.exit(launch(CONF, "train", job, ["train.py", *sys.argv[3:]]))


if __name__ == "__main__":
    main()

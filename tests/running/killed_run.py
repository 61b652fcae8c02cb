"""Runs jobs in forked children, each of which kills itself at a named point; not a test module.

Imports once what a run needs. Then each line of standard input is one run,

    {"folder": PATH, "point": POINT, "number": NUMBER, "words": [OVERRIDE, ...]}

and each line of standard output its exit code, negative for a signal. The child works in
`folder`, so that `paths` may be relative, and writes what it has to say to `folder/said.txt`.

POINT is `pre`, `post`, `loo`, `eval` (in the middle of a rollout of that phase), `gradient` (in
the middle of an update), or `never`; NUMBER says at which of its occurrences.
"""

import gc
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch._dynamo  # noqa: F401  the first optimiser would, in every child

from sero.config import composer, parse_config
from sero.config.variant import resolved_data, run_directory
from sero.evolution import controller
from sero.inference import repair
from sero.running import job

CONF = Path(__file__).resolve().parents[2] / "conf"
LIMIT_S = 240


def arm(point: str, number: int) -> None:
    """Replace one function on the way by one that kills at its `number`-th call there."""
    seen = 0

    def count() -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            os.kill(os.getpid(), signal.SIGKILL)

    if point == "gradient":
        usual = controller.next_baseline

        def next_baseline(*args, **kwargs):
            count()
            return usual(*args, **kwargs)

        controller.next_baseline = next_baseline
    elif point != "never":
        speak = repair.speak

        async def deadly(*args, **kwargs):
            if str(kwargs["call"].phase) == point:
                count()
            return await speak(*args, **kwargs)

        repair.speak = deadly


def in_child(asked: Mapping[str, Any], prepared: tuple[Any, Path, dict[str, Any]]) -> int:
    """One run in the directory `folder`, without its report; a hanging one is ended."""
    signal.alarm(LIMIT_S)
    os.chdir(asked["folder"])
    said = os.open("said.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(said, 1)
    os.dup2(said, 2)
    arm(asked["point"], asked["number"])
    job.write_page = lambda page: None
    return job.run_job(*prepared, train=True).exit_code


def main() -> None:
    with composer(CONF, "train") as composing:
        for line in sys.stdin:
            asked = json.loads(line)
            composed = composing.compose(asked["words"])
            config = parse_config(composed.config, composed.choices)
            directory = run_directory(composed.config, composed.choices, composing)
            prepared = (config, directory, resolved_data(composed.config))
            gc.freeze()
            child = os.fork()
            if child == 0:
                sys.exit(in_child(asked, prepared))
            _, status = os.waitpid(child, 0)
            print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()

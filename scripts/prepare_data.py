"""Fetch a benchmark, or read a local copy of it, and write it as checked JSONL with a manifest.

    python scripts/prepare_data.py benchmark=naturalplan
    python scripts/prepare_data.py benchmark=tablebench source=~/TableBench.jsonl
    python scripts/prepare_data.py benchmark=olympiadbench revision=main overwrite=true

The file goes where the benchmark reads it, <paths.data>/<name>.jsonl.
"""

from __future__ import annotations

import argparse
import logging
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

CONF = Path(__file__).resolve().parent.parent / "conf"


def main(argv: Sequence[str] | None = None) -> int:
    """Prepare one benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "overrides", nargs="*", metavar="key=value", help="see conf/prepare_data.yaml"
    )
    parser.add_argument("--config-dir", type=Path, metavar="DIR", help="a further folder of groups")
    args = parser.parse_args(argv)

    # Nothing is imported for --help.
    from sero.benchmarks.preparing import nothing_to_prepare, prepare, report
    from sero.config.benchmark_alone import compose_benchmark, run_overrides
    from sero.errors import SeroError

    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(name)s: %(message)s")
    try:
        chosen = compose_benchmark(CONF, args.overrides, more_dir=args.config_dir)
        benchmark = chosen.benchmark.build()
        nothing = nothing_to_prepare(benchmark)
        if nothing:
            print(nothing)
            return 0
        done = prepare(
            benchmark, chosen.source, revision=chosen.revision, overwrite=chosen.overwrite
        )
    except SeroError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    print("\n".join(report(done)))
    print(
        "next: python scripts/train.py experiment=single",
        *map(shlex.quote, run_overrides(args.overrides)),
        "encoder=minilm backbone=openai backbone.model=NAME backbone.base_url=URL",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

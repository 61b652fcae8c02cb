"""Start the vLLM server that a backbone's file describes, and stay in front until Ctrl-C.

    python scripts/serve_backbone.py backbone=qwen3_8b
    python scripts/serve_backbone.py backbone=qwen3_32b backbone.serve.tensor_parallel=2
    python scripts/serve_backbone.py backbone=qwen3_8b dry_run=true

Waits until the server is healthy, prints its address, the model and the equivalent command; what
the server writes is passed on to standard error and kept in a log. The server and its children
end with this process, however it ends. Flags: backbone.serve.*, see conf/backbone/_vllm.yaml.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

CONF = Path(__file__).resolve().parent.parent / "conf"


def main(argv: Sequence[str] | None = None) -> int:
    """Serve one backbone; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "overrides", nargs="*", metavar="key=value", help="see conf/serve_backbone.yaml"
    )
    parser.add_argument("--config-dir", type=Path, metavar="DIR", help="a further folder of groups")
    args = parser.parse_args(argv)

    try:
        return _serve(args)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _drop_output()
        return 128 + signal.SIGPIPE


def _serve(args: argparse.Namespace) -> int:
    # Nothing is imported for --help.
    from sero.config.backbone_alone import compose_backbone
    from sero.errors import SeroError
    from sero.running.serving import serve

    def pass_on(text: str) -> None:
        # the log has it too, so nobody needs to read it here
        with contextlib.suppress(BrokenPipeError):
            sys.stderr.write(text)
            sys.stderr.flush()

    def say(text: str) -> None:
        print(text, flush=True)

    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(name)s: %(message)s")
    try:
        return serve(compose_backbone(CONF, args.overrides, more_dir=args.config_dir), say, pass_on)
    except SeroError as error:
        pass_on(f"{error}\n")
        return error.exit_code


def _drop_output() -> None:
    """Nobody reads any more; what is still to be written goes nowhere, without a word."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


if __name__ == "__main__":
    sys.exit(main())

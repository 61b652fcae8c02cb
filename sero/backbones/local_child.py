"""The server process of `backbone=local`: llama.cpp behind HTTP, one answer at a time.

python -m sero.backbones.local_child MODEL.gguf HOST PORT CONTEXT_TOKENS THREADS
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence

_WARNINGS = 2


def main(argv: Sequence[str]) -> None:
    """Serve one model until a signal ends the process."""
    import xllamacpp

    path, host, port, context_tokens, threads = argv
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.hostnames = [host]
    params.port = int(port)
    params.n_ctx = int(context_tokens)
    params.n_parallel = 1
    params.cpuparams.n_threads = int(threads)
    params.cpuparams_batch.n_threads = int(threads)
    params.verbosity = _WARNINGS
    # A prompt that continues from a kept one is computed in other pieces, and with them change the
    # low bits: 5 of 30 greedy answers came out differently when they were asked in another order,
    # none without it. It would halve the time.
    params.cache_prompt = False
    params.cache_ram_mib = 0
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        sys.exit(f"{path} cannot be served: {error}")
    print(f"serving {path} at {server.listening_address}", flush=True)  # noqa: T201
    threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1:])

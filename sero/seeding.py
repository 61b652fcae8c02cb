"""Randomness as an argument: one independent stream per purpose.

A stream is named by the run's seed and a few keys, so that adding a draw in one place shifts
nothing elsewhere, and a resumed run needs no generator state: every stream is rebuilt by name.
"""

from __future__ import annotations

import hashlib
import json
import random

import numpy as np

Key = str | int


def derive_seed(seed: int, *keys: Key, bits: int = 63) -> int:
    """A `bits`-bit non-negative integer, a pure function of the seed and the keys."""
    name = json.dumps([seed, *keys], ensure_ascii=True).encode()
    return int.from_bytes(hashlib.sha256(name).digest()[:8], "big") >> (64 - bits)


def rng_for(seed: int, *keys: Key) -> np.random.Generator:
    """The generator named by `seed` and `keys`, always at its start."""
    return np.random.default_rng(derive_seed(seed, *keys))


def seed_everything(seed: int) -> None:
    """Seed the global generators that libraries may draw from; Sero itself never does."""
    random.seed(derive_seed(seed, "python"))
    np.random.seed(derive_seed(seed, "numpy", bits=32))
    import torch

    torch.manual_seed(derive_seed(seed, "torch"))

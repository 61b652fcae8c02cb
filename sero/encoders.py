"""Text encoders e(.): frozen, unit norm, one text per forward pass, the stored vector the truth."""

from __future__ import annotations

import hashlib
import itertools
import logging
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Protocol

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import NDArray

from sero.database import open_database
from sero.errors import StorageError, UserError

log = logging.getLogger(__name__)

Vector = NDArray[np.float32]

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS vectors"
    " (encoder TEXT, text TEXT, vector BLOB, PRIMARY KEY (encoder, text)) WITHOUT ROWID"
)


class TextEncoder(Protocol):
    """e(.): text to a unit vector.

    Attributes:
        name: model and version, part of the key vectors are stored under.
        dim: d.
    """

    name: str
    dim: int

    def encode(self, text: str) -> Vector:
        """Unit-norm float32 vector of shape (dim,); the zero vector for a text without content."""
        ...


def unit(vector: NDArray[np.floating]) -> Vector:
    """A vector scaled to norm 1; the zero vector stays zero."""
    norm = float(np.linalg.norm(vector))
    scaled = vector / norm if norm > 1e-12 else vector * 0.0
    return scaled.astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class HashingConfig:
    """`encoder=hashing`."""

    dim: Annotated[int, Gt(0)]


class HashingEncoder:
    """Signed feature hashing of words and word pairs: no model, no download, fixed for ever.

    Texts that share words are close; nothing more is meant. It keeps the real encoder's shapes in
    CPU tests.
    """

    Config: ClassVar[type[HashingConfig]] = HashingConfig

    def __init__(self, cfg: HashingConfig) -> None:
        self.dim = cfg.dim
        self.name = f"hashing-{cfg.dim}"

    def encode(self, text: str) -> Vector:
        words = re.findall(r"\w+", text.lower())
        vector = np.zeros(self.dim, dtype=np.float64)
        for feature in (*words, *(f"{a} {b}" for a, b in itertools.pairwise(words))):
            digest = int.from_bytes(
                hashlib.blake2b(feature.encode(), digest_size=8).digest(), "big"
            )
            vector[(digest >> 1) % self.dim] += 1.0 if digest & 1 else -1.0
        return unit(vector)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceTransformerConfig:
    """`encoder=minilm`, `encoder=jina`, or any sentence-transformers model or folder.

    Attributes:
        model: hub name, local folder, or `package:<module>` whose `get_model_path()` names one.
        revision: pinned hub revision, or None for a folder.
        device: torch device, None lets the library choose.
        max_tokens: cut texts at this many tokens; 0 keeps the model's own limit.
        trust_remote_code: run the model's own Python code; off unless you have read it.
    """

    model: str
    revision: str | None
    device: str | None
    max_tokens: Annotated[int, Ge(0)]
    trust_remote_code: bool
    dtype: Literal["float32"]


class SentenceTransformerEncoder:
    """A sentence-transformers model, one text per forward pass.

    Batches are never formed: padding changes the low bits, and a vector must not depend on its
    neighbours.
    """

    Config: ClassVar[type[SentenceTransformerConfig]] = SentenceTransformerConfig

    def __init__(self, cfg: SentenceTransformerConfig) -> None:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging

        transformers_logging.disable_progress_bar()
        source = _model_source(cfg.model)
        try:
            self._model = SentenceTransformer(
                source,
                revision=cfg.revision,
                device=cfg.device,
                trust_remote_code=cfg.trust_remote_code,
            )
        except (OSError, ValueError) as error:
            raise UserError(
                f"encoder.model={cfg.model}: cannot be loaded ({type(error).__name__}: {error}). "
                "Name a local folder, or use encoder=minilm "
                '(pip install -e ".[offline]") or encoder=hashing.'
            ) from error
        if cfg.max_tokens:
            self._model.max_seq_length = cfg.max_tokens
        dim = self._model.get_embedding_dimension()
        if dim is None:
            raise UserError(f"encoder.model={cfg.model}: the model does not say its dimension")
        self.dim = int(dim)
        self.name = f"{cfg.model}@{cfg.revision or 'local'}/{self._model.max_seq_length}"

    def encode(self, text: str) -> Vector:
        vector = self._model.encode(
            text, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(vector, dtype=np.float32)


def _model_source(model: str) -> str:
    """A hub name or folder; `package:NAME` asks an installed package where its model lies."""
    if not model.startswith("package:"):
        return model
    name = model.removeprefix("package:")
    import importlib

    try:
        locate: Callable[[], Path] = importlib.import_module(name).get_model_path
    except ImportError:
        raise UserError(
            f"encoder.model={model}: the package is not installed; "
            'pip install -e ".[offline]" brings it'
        ) from None
    return str(locate())


class MemoryEncoder:
    """Remembers vectors in memory; for encoders that are cheap, pure functions.

    The memory is bounded: at `limit` texts the older half is forgotten.
    """

    def __init__(self, encoder: TextEncoder, *, limit: int = 65536) -> None:
        self._encoder = encoder
        self.name, self.dim = encoder.name, encoder.dim
        self._limit = limit
        self._known: dict[str, Vector] = {}

    def encode(self, text: str) -> Vector:
        vector = self._known.get(text)
        if vector is None:
            vector = self._encoder.encode(text)
            vector.setflags(write=False)
            if len(self._known) >= self._limit:
                for old in list(self._known)[: self._limit // 2]:
                    del self._known[old]
            self._known[text] = vector
        return vector


class StoredEncoder:
    """Keeps vectors on disk by text hash: the first vector computed is the truth from then on.

    Another machine or library version may differ in the low bits; a resumed run reads what the
    first run stored.
    """

    def __init__(self, encoder: TextEncoder, path: Path) -> None:
        self._encoder = encoder
        self.name, self.dim = encoder.name, encoder.dim
        try:
            self._db = open_database(path, _SCHEMA)
        except (sqlite3.Error, OSError) as error:
            raise StorageError(f"cannot open the vector store {path}: {error}") from error

    def encode(self, text: str) -> Vector:
        key = hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()
        try:
            vector = self._stored(key)
            if vector is None:
                self._db.execute(
                    "INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)",
                    (self.name, key, self._encoder.encode(text).tobytes()),
                )
                vector = self._stored(key)
        except sqlite3.Error as error:
            raise StorageError(f"the vector store failed: {error}") from error
        assert vector is not None
        return vector

    def _stored(self, key: str) -> Vector | None:
        row = self._db.execute(
            "SELECT vector FROM vectors WHERE encoder = ? AND text = ?", (self.name, key)
        ).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype=np.float32)

    def close(self) -> None:
        self._db.close()

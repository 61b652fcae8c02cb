"""A benchmark whose items stand in a JSONL file: what all of them share.

A new one says how an item becomes a task, how an answer is read and how it is scored; loading,
counts, the split, the seed pool and the leak check's texts come from here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from annotated_types import Ge, Gt, Le, MinLen

from sero.benchmarks import prompt_files
from sero.benchmarks.base import Parsed, Score, Split, Task
from sero.benchmarks.files import fingerprint, raise_faults, read_jsonl
from sero.benchmarks.normalise import strip_think
from sero.benchmarks.prepared import (
    check_unchanged,
    left_out_before,
    left_out_remark,
    missing_file,
)
from sero.benchmarks.splits import stratified_split
from sero.errors import DataError
from sero.roles.load import load_pool
from sero.roles.pool import RolePool

GENERATED = "generated"
"""The `benchmark.source` that makes items instead of reading them."""

Row = tuple[str, Mapping[str, Any]]
"""Where an item stands, and its fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedConfig:
    """Items made by the benchmark's generator, for `source=generated`.

    Attributes:
        n: items in all, spread evenly over the kinds.
        seed: of the generator, independent of the run's seed.
        difficulty: 1 (smallest instances) to 5 (the size of the published ones).
    """

    n: Annotated[int, Gt(1)]
    seed: Annotated[int, Ge(0)]
    difficulty: Annotated[int, Ge(1), Le(5)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsConfig:
    """The `benchmark` section of a benchmark with items.

    Attributes:
        source: a JSONL file as `scripts/prepare_data.py` writes it, or `generated`.
        prompts: folder of the prompt files, `package:<benchmark>` or a path.
        seed_pool: a pool file, packaged or a path.
        n_train: training tasks in all, or a number for each group.
        n_heldout: held-out tasks in all; None is all the rest.
        split_seed: seed of the split, independent of the run's seed.
        allow_counts: accept data of another size than published, and fewer held-out tasks.
        strict_add: an Add must score strictly better in warm-up too; read by the commit rule.
    """

    name: Annotated[str, MinLen(1)]
    source: Annotated[str, MinLen(1)]
    prompts: Annotated[str, MinLen(1)]
    seed_pool: Annotated[str, MinLen(1)]
    n_train: Annotated[int, Gt(0)] | dict[str, Annotated[int, Gt(0)]]
    n_heldout: Annotated[int, Gt(0)] | None
    split_seed: Annotated[int, Ge(0)]
    allow_counts: bool
    strict_add: bool
    generated: GeneratedConfig


class ItemBenchmark(ABC):
    """Items from a file or a generator, split by a seed.

    Attributes:
        has_published_items: there are items from outside; false for one that always makes its own.
        published: how many items of each group the published data have, after `left_out`.
        fields: the fields of an item that are kept in a prepared file; empty keeps all.
        defects: published items with a defective gold, by task id; they are kept and named.
    """

    Config: ClassVar[type[Any]] = ItemsConfig
    simulated: bool = False
    scores_slowly: bool = False
    scorer: str = "exact"
    has_published_items: ClassVar[bool] = True
    published: ClassVar[Mapping[str, int]] = {}
    fields: ClassVar[tuple[str, ...]] = ()
    defects: ClassVar[Mapping[str, str]] = {}

    def __init__(self, config: Any) -> None:
        self.config = config
        # Figures on made-up items never stand under the published benchmark's name.
        made_up = self.has_published_items and config.source == GENERATED
        self.name: str = config.name + ("-generated" if made_up else "")
        terminal = load_pool(f"{config.prompts}/{prompt_files.SEED_POOL}.yaml").terminal
        if terminal is None:
            raise DataError(f"{config.prompts}/{prompt_files.SEED_POOL}.yaml: no terminal role")
        self.output_protocol: str = terminal.communication_protocol

    # What a benchmark says of itself.

    @abstractmethod
    def task_from_data(self, raw: Mapping[str, Any], where: str = "item") -> Task:
        """A task from one item's fields; see `Benchmark.task_from_data`."""

    @abstractmethod
    def read(self, prompt: str, response: str) -> Parsed:
        """Read a response, its think blocks removed, without knowing the gold. Total."""

    @abstractmethod
    def score(self, parsed: Parsed, task: Task) -> Score:
        """The verdict on what was read. Total."""

    def left_out(self, raw: Mapping[str, Any]) -> str:
        """Why a published item is not part of the benchmark; empty for one that is."""
        return ""

    def generate(self, n: int, *, seed: int, difficulty: int) -> Sequence[Mapping[str, Any]]:
        """`n` items in the published schema, with exact gold.

        Raises:
            DataError: this benchmark has no generator.
        """
        raise DataError(f"benchmark.source: {self.config.name} has no generator; name a file")

    def read_source(self, path: Path) -> list[Row]:
        """The items of a local copy of the published data, for `scripts/prepare_data.py`.

        Raises:
            DataError: nothing there, or damaged.
        """
        lines, faults = read_jsonl(path)
        raise_faults(path, faults)
        return [(f"line {number}", raw) for number, raw in lines]

    def fetch(self, revision: str | None = None) -> tuple[list[Row], str]:
        """The items from their public source, and the revision read, for `scripts/prepare_data.py`.

        Args:
            revision: another one than the pinned.

        Raises:
            DataError: no public source is known, or it cannot be reached.
        """
        raise DataError(f"{self.config.name}: no public source is known; give source=PATH")

    @classmethod
    def missing_data(cls, config: Any) -> str:
        """Why there is no file at `config.source`, and what to do; empty where none is missing.

        Asked before any job starts; a class that takes its items from elsewhere overrides it.
        """
        return "" if config.source == GENERATED else missing_file(config.source, config.name)

    # What follows from that.

    def load(self) -> Split:
        """Make or read the items, check their counts, and draw the split.

        Raises:
            DataError: missing or damaged data, or other counts than announced.
        """
        config = self.config
        rows = self._rows()
        tasks, remarks = self.tasks_of(rows, where=config.source)
        checked = not config.allow_counts and config.source != GENERATED
        if checked:
            self.check_counts(tasks, where=config.source)
        parts = stratified_split(
            list(tasks.values()),
            n_train=config.n_train,
            n_heldout=config.n_heldout,
            seed=config.split_seed,
            name=config.name,
        )
        if checked and config.n_heldout and len(parts.heldout) < config.n_heldout:
            short = f"{len(parts.heldout)} held-out items, {config.n_heldout} expected"
            _refuse_counts([short], where=config.source)
        if not parts.heldout:
            raise DataError(
                f"{config.source}: {len(tasks)} tasks, {len(parts.train)} of them for training, "
                "leave none held out. Lower benchmark.n_train or supply more data."
            )
        return Split(
            train=parts.train,
            heldout=parts.heldout,
            fingerprint=self.fingerprint(rows),
            remarks=(*left_out_before(config.source), *remarks),
        )

    def tasks_of(
        self, rows: Iterable[Row], *, where: str
    ) -> tuple[dict[str, Task], tuple[str, ...]]:
        """Tasks by id, and what a reader of their figures should know.

        Raises:
            DataError: with every fault of every item.
        """
        tasks: dict[str, Task] = {}
        faults: list[str] = []
        left_out: Counter[str] = Counter()
        for place, raw in rows:
            why = self.left_out(raw)
            if why:
                left_out[why] += 1
                continue
            try:
                task = self.task_from_data(raw, place)
            except DataError as error:
                faults += [f"{place}: {fault}" for fault in error.faults]
                continue
            if task.id in tasks:
                faults.append(f"{place}: a second item with the id {task.id!r}")
            tasks[task.id] = task
        if not tasks and not faults:
            faults.append("no items in it")
        raise_faults(where, faults)
        remarks = [left_out_remark(n, why) for why, n in sorted(left_out.items())]
        remarks += [f"{i}: {self.defects[i]}" for i in sorted(tasks) if i in self.defects]
        return tasks, tuple(remarks)

    def check_counts(self, tasks: Mapping[str, Task], *, where: str) -> None:
        """Refuse data of another size than published.

        Raises:
            DataError: with every group whose count differs.
        """
        found = Counter(task.group for task in tasks.values())
        wrong = [
            f"{group}: {found[group]} items found, {n} expected"
            for group, n in self.published.items()
            if found[group] != n
        ]
        _refuse_counts(wrong, where=where)

    def kept(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of an item that belong to the benchmark's data."""
        if not self.fields:
            return dict(raw)
        return {name: raw[name] for name in self.fields if name in raw}

    def fingerprint(self, rows: Iterable[Row]) -> str:
        """sha256 over the items that are part of the benchmark, whatever file they came from."""
        kept = {
            self.task_from_data(raw, place).id: self.kept(raw)
            for place, raw in rows
            if not self.left_out(raw)
        }
        return fingerprint([name, kept[name]] for name in sorted(kept))

    def seed_pool(self) -> RolePool:
        return load_pool(self.config.seed_pool)

    def known_texts(self) -> tuple[str, ...]:
        """The seed pool's cards and every text this benchmark puts into a prompt."""
        cards = [
            "\n".join((card.name, card.identity_text, card.communication_protocol))
            for card in self.seed_pool()
        ]
        files = (prompt_files.ANSWER_FORMAT, prompt_files.SINGLE_AGENT)
        formats = [t for file in files for t in prompt_files.texts(self.config.prompts, file)]
        return (*cards, *formats, self.output_protocol)

    def parse(self, prompt: str, response: str) -> Parsed:
        """Read a response; an unclosed think block is no answer."""
        stripped = strip_think(response)
        if stripped is None:
            return Parsed(answer=None, text="", reason="the think block never closes")
        return self.read(prompt, stripped)

    def _rows(self) -> list[Row]:
        config = self.config
        if config.source == GENERATED:
            made = config.generated
            items = self.generate(made.n, seed=made.seed, difficulty=made.difficulty)
            return [(f"generated item {i}", raw) for i, raw in enumerate(items)]
        if missing := self.missing_data(config):
            raise DataError(missing)
        path = Path(config.source).expanduser()
        check_unchanged(path)
        lines, faults = read_jsonl(path)
        raise_faults(path, faults)
        return [(f"line {number}", raw) for number, raw in lines]


def _refuse_counts(wrong: Sequence[str], *, where: str) -> None:
    if wrong:
        raise DataError(
            f"{where}: not the published data\n  "
            + "\n  ".join(wrong)
            + "\nSupply the whole data, or set benchmark.allow_counts=true to take what is there."
        )

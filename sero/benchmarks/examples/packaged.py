"""Benchmarks whose few items come with the package, in `items.yaml` beside their prompts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from sero.benchmarks import prompt_files
from sero.benchmarks.files import raise_faults
from sero.benchmarks.item_benchmark import ItemBenchmark, ItemsConfig, Row
from sero.errors import CardError
from sero.roles.load import load_yaml

_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagedConfig(ItemsConfig):
    """The `benchmark` section of a worked example.

    Attributes:
        source: always `packaged`: `items.yaml` in the folder of the prompts.
    """

    source: Literal["packaged"]


class PackagedBenchmark(ItemBenchmark):
    """Items from `<prompts>/items.yaml`, a list under `items:`."""

    Config: ClassVar[type[PackagedConfig]] = PackagedConfig
    has_published_items: ClassVar[bool] = False

    @classmethod
    def missing_data(cls, config: PackagedConfig) -> str:
        return ""

    def _rows(self) -> list[Row]:
        where = f"{self.config.prompts}/items.yaml"
        try:
            raw = load_yaml(where)
        except CardError as error:
            raise_faults(where, error.faults)
            raise
        items = raw.get("items") if isinstance(raw, Mapping) else None
        if not isinstance(items, list) or not items:
            raise_faults(where, ["items: missing; a list of items is wanted"])
        assert isinstance(items, list)
        faults = [
            f"items[{i}]: got {type(item).__name__}; fields with values are wanted"
            for i, item in enumerate(items)
            if not isinstance(item, Mapping)
        ]
        raise_faults(where, faults)
        return [(f"items[{i}]", item) for i, item in enumerate(items)]

    def prompt_of(self, **values: str) -> str:
        """The text `frame` of the answer format with `{name}` filled in once for each value."""
        frame = prompt_files.text(self.config.prompts, prompt_files.ANSWER_FORMAT, "frame")
        return _FIELD.sub(lambda match: values.get(match[1], match[0]), frame).strip()


def text_faults(raw: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """A fault for each of the named fields that is no text."""
    return [
        f"{name}: got {raw.get(name)!r:.60}; a text is wanted"
        for name in names
        if not isinstance(raw.get(name), str) or not raw[name].strip()
    ]

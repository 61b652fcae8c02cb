"""Invented items in OlympiadBench's two layouts, up to a whole set of the published size."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sero.benchmarks.item_benchmark import GeneratedConfig
from sero.benchmarks.olympiadbench.benchmark import OlympiadBench, OlympiadBenchConfig

SUBFIELDS = {
    "maths": ("Algebra", "Combinatorics", "Geometry", "Number Theory"),
    "physics": ("Mechanics", "Electromagnetism", "Thermodynamics", "Optics", "Modern Physics"),
}
GUARDED = {"maths": 5, "physics": 8}
COUNTS = {"maths": 669, "physics": 228}

Item = dict[str, Any]


def make_item(group: str, i: int, **changes: Any) -> Item:
    """An item in the ten columns of the kit layout."""
    labels = SUBFIELDS[group]
    item: Item = {
        "id": 5000 + i,
        "subfield": labels[i % len(labels)],
        "context": None,
        "question": f"What is the sum of ${i}$ and ${i + 1}$?",
        "solution": [f"Adding gives the secret step {2 * i + 1}."],
        "final_answer": [str(2 * i + 1)],
        "is_multiple_answer": False,
        "unit": None,
        "answer_type": "Numerical",
        "error": None,
    }
    if group == "physics":
        item["question"] = f"Two masses of ${i}$ and ${i + 1}$ are put on a balance. What is on it?"
        item["unit"] = "kg"
    return {**item, **changes}


def to_dataset_layout(group: str, item: Item) -> Item:
    """The same item as the dataset delivers it."""
    return {
        **item,
        **{f"image_{k}": None for k in range(1, 10)},
        "modality": "Text-only",
        "difficulty": "Competition",
        "question_type": "Open-ended",
        "subject": {"maths": "Math", "physics": "Physics"}[group],
        "language": "English",
    }


def write_items(path: Path, items: list[Item]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def invented() -> Callable[..., Item]:
    """An item in the ten columns of the kit layout: `invented("maths", 3, unit="m")`."""
    return make_item


@pytest.fixture(scope="session")
def dataset_layout() -> Callable[[str, Item], Item]:
    """The same item as the dataset delivers it: `dataset_layout("maths", item)`."""
    return to_dataset_layout


@pytest.fixture(scope="session")
def write_lines() -> Callable[[Path, list[Item]], Path]:
    """Write items one a line; the path again."""
    return write_items


@pytest.fixture(scope="session")
def whole_set() -> dict[str, list[Item]]:
    """674 and 236 items, of which 5 and 8 point to a picture."""
    found = {}
    for group, n in COUNTS.items():
        items = [make_item(group, i) for i in range(n + GUARDED[group])]
        for i in range(GUARDED[group]):
            items[17 * i]["question"] = f"In the Figure, what is {i}?"
        found[group] = items
    # In physics the context is searched as well.
    found["physics"][0] |= {
        "question": "How large is it?",
        "context": "See the circuit shown below.",
    }
    return found


@pytest.fixture(scope="session")
def whole_file(whole_set: dict[str, list[Item]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole set as one JSONL file in the kit layout."""
    folder = tmp_path_factory.mktemp("olympiadbench")
    return write_items(folder / "all.jsonl", [*whole_set["maths"], *whole_set["physics"]])


@pytest.fixture(scope="session")
def olympiadbench() -> Callable[..., OlympiadBench]:
    """Build the benchmark: `olympiadbench(source=..., scorer="official")`."""

    def build(**changes: object) -> OlympiadBench:
        settings: dict[str, object] = {
            "name": "olympiadbench",
            "source": "nowhere.jsonl",
            "prompts": "package:olympiadbench",
            "seed_pool": "package:olympiadbench/seed_pool.yaml",
            "scorer": "careful",
            "n_train": {"maths": 12, "physics": 8},
            "n_heldout": 877,
            "split_seed": 0,
            "allow_counts": False,
            "strict_add": False,
            "generated": {"n": 240, "seed": 0, "difficulty": 3},
        }
        settings |= changes
        settings["generated"] = GeneratedConfig(**settings["generated"])  # type: ignore[arg-type]
        return OlympiadBench(OlympiadBenchConfig(**settings))  # type: ignore[arg-type]

    return build


@pytest.fixture(scope="session")
def shared_olympiadbench() -> Path:
    """The folder with real sample items and scorer vectors, which the repository does not hold."""
    default = Path(__file__).resolve().parents[4] / "shared"
    folder = Path(os.environ.get("SERO_SHARED", default)) / "data" / "olympiadbench"
    if not folder.is_dir():
        pytest.skip(f"no sample data at {folder}; set SERO_SHARED to the folder that holds data/")
    return folder

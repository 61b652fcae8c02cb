"""Invented TableBench items, up to a whole set of the published size."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sero.benchmarks.base import Task
from sero.benchmarks.item_benchmark import GeneratedConfig
from sero.benchmarks.tablebench import TableBench, TableBenchConfig
from sero.benchmarks.tablebench.subtypes import SUBTYPES

Item = dict[str, Any]
SETTINGS: Item = {
    "name": "tablebench",
    "source": "none.jsonl",
    "scorer": "careful",
    "prompts": "package:tablebench",
    "seed_pool": "package:tablebench/seed_pool.yaml",
    "n_train": 40,
    "n_heldout": None,
    "split_seed": 0,
    "allow_counts": True,
    "strict_add": False,
    "generated": GeneratedConfig(n=68, seed=0, difficulty=1),
}


def invented(subtype: str, i: int, **changes: Any) -> Item:
    """An item as the current release has it, with a table and a question of its own."""
    item: Item = {
        "id": f"{subtype[:4].lower()}{i:04}",
        "qtype": SUBTYPES[subtype].qtype,
        "qsubtype": subtype,
        "table": {
            "columns": ["kiosk", "open since", "cups sold"],
            "data": [["Nelt", "1990", "1,204"], ["Ovar", "- 3", None], ["total", "-", str(i)]],
        },
        "question": f"{subtype}, case {i}: how many cups were sold?",
        "answer": str(1204 + i),
    }
    return {**item, **changes}


def visual(i: int) -> Item:
    """An item that asks for a chart."""
    return {
        "id": f"chart{i:04}",
        "qtype": "Visualization",
        "qsubtype": "ChartGeneration",
        "chart_type": "bar",
        "table": {"columns": ["kiosk", "cups"], "data": [["Nelt", "3"], ["Ovar", str(i)]]},
        "question": f"Please draw bar chart {i} of the cups.",
        "answer": f"y_references = [[3, {i}]]",
    }


@pytest.fixture(scope="session")
def make_item() -> Callable[..., Item]:
    return invented


@pytest.fixture(scope="session")
def full_set() -> list[Item]:
    """886 rows in the published proportions: 836 with a text for an answer, one id twice."""
    rows = [invented(name, i) for name, subtype in SUBTYPES.items() for i in range(subtype.n)]
    rows += [visual(i) for i in range(50)]
    shared = {"id": "shared", "question": "How many cups did Nelt sell?", "answer": "1204"}
    return [
        {**row, **shared, "table": rows[0]["table"]}
        if row["qsubtype"] in ("Aggregation", "ArithmeticCalculation") and row["id"][-4:] == "0007"
        else row
        for row in rows
    ]


@pytest.fixture(scope="session")
def write_lines() -> Callable[[Path, list[Item]], Path]:
    def write(path: Path, items: list[Item]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def tablebench() -> Callable[..., TableBench]:
    """Build the benchmark: `tablebench(source=..., scorer="official")`."""

    def build(**changes: Any) -> TableBench:
        return TableBench(TableBenchConfig(**{**SETTINGS, **changes}))

    return build


@pytest.fixture(scope="session")
def scorers(tablebench: Callable[..., TableBench]) -> dict[str, TableBench]:
    return {name: tablebench(scorer=name) for name in ("careful", "official")}


@pytest.fixture(scope="session")
def task_of(tablebench: Callable[..., TableBench]) -> Callable[[str, str], Task]:
    """A task of a subtype with a gold, and nothing else."""
    benchmark = tablebench()

    def build(subtype: str, gold: str) -> Task:
        raw = {"qtype": SUBTYPES[subtype].qtype, "qsubtype": subtype, "answer": gold}
        return benchmark.task_from_data(raw)

    return build


@pytest.fixture(scope="session")
def shared_tablebench() -> Path:
    """The folder with real sample items and scorer vectors, which the repository does not hold."""
    default = Path(__file__).resolve().parents[4] / "shared"
    folder = Path(os.environ.get("SERO_SHARED", default)) / "data" / "tablebench"
    if not folder.is_dir():
        pytest.skip(f"no sample data at {folder}; set SERO_SHARED to the folder that holds data/")
    return folder

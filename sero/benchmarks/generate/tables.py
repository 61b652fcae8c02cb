"""Generated table questions in the published schema, each with exact gold.

The subtypes take turns, and inside a subtype its templates do, so any prefix is balanced. An item
depends on the seed, the difficulty and its place only; what comes behind it changes nothing.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping
from typing import Any

from sero.benchmarks.generate.table_analysis import ANALYSIS
from sero.benchmarks.generate.table_drafts import Template
from sero.benchmarks.generate.table_fact import FACT
from sero.benchmarks.generate.table_layout import rendered
from sero.benchmarks.generate.table_numbers import Unclear
from sero.benchmarks.generate.table_numerical import NUMERICAL
from sero.seeding import derive_seed

FAMILIES: Mapping[str, Mapping[str, tuple[Template, ...]]] = {
    "FactChecking": FACT,
    "NumericalReasoning": NUMERICAL,
    "DataAnalysis": ANALYSIS,
}
"""Question type to subtypes to templates."""
SUBTYPES: tuple[tuple[str, str], ...] = tuple(
    (qtype, qsubtype) for qtype, family in FAMILIES.items() for qsubtype in family
)
"""All 17 subtypes that are scored by their answer, in the order in which they take turns."""
_ATTEMPTS = 2000
"""Far beyond what any template needs: they succeed once in one to thirty draws."""


def generate_tablebench(n: int, *, seed: int, difficulty: int) -> list[dict[str, Any]]:
    """`n` items with `id`, `qtype`, `qsubtype`, `table`, `question` and `answer`.

    Args:
        n: items in all; the first ones stay the same when `n` grows.
        seed: of every draw.
        difficulty: 1 (five or six rows, few columns) to 5 (up to 20 rows, columns that do not
            matter, separators, totals rows, cells without a figure, two conditions).

    Raises:
        ValueError: `n` is negative, or the difficulty outside 1 to 5.
    """
    if n < 0:
        raise ValueError(f"generate_tablebench got n={n}; give 0 or more")
    if not 1 <= difficulty <= 5:
        raise ValueError(f"generate_tablebench got difficulty={difficulty}; give 1 to 5")
    items: dict[str, dict[str, Any]] = {}
    for place in range(n):
        item = _item(place, seed, difficulty, items)
        items[item["id"]] = item
    return list(items.values())


def _item(place: int, seed: int, level: int, taken: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    turn, which = divmod(place, len(SUBTYPES))
    qtype, qsubtype = SUBTYPES[which]
    templates = FAMILIES[qtype][qsubtype]
    template = templates[turn % len(templates)]
    for attempt in range(_ATTEMPTS):
        rng = random.Random(derive_seed(seed, "tablebench", level, place, attempt))
        try:
            draft = template(rng, level)
        except Unclear:
            continue
        table = rendered(rng, level, draft)
        name = hashlib.sha256(json.dumps([qsubtype, draft.question, table]).encode()).hexdigest()
        if name[:32] not in taken:
            return {
                "id": name[:32],
                "qtype": qtype,
                "qsubtype": qsubtype,
                "table": table,
                "question": draft.question,
                "answer": draft.answer,
            }
    raise AssertionError(f"no clear question of {template.__name__} in {_ATTEMPTS} draws")

"""What a model sees of an item: the table as JSON, the question, and the answer form.

The published prompts show a table as a Python dictionary; here it is JSON with one row a line,
so that rows can be told apart and a missing cell is `null`. The wording is data
(`prompts/tablebench/answer_format.yaml`), pinned by a golden file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from sero.benchmarks import prompt_files
from sero.benchmarks.tablebench.subtypes import SUBTYPES

TASK = "task"
_PLACE = re.compile(r"\{(table|question|answer_form)\}")

Cell = str | None


def table_text(columns: Sequence[str], data: Sequence[Sequence[Cell]]) -> str:
    """A table as a JSON object with `columns` and `data`, one row a line, byte-stable."""
    rows = ",\n  ".join(_json(row) for row in data)
    return f'{{"columns": {_json(columns)},\n "data": [\n  {rows}\n ]}}'


def task_prompt(folder: str, subtype: str, *, table: str, question: str) -> str:
    """The whole prompt of an item; nothing in a table or question is read as a template.

    Args:
        folder: of the prompt files, `package:tablebench` or a path.
        subtype: the item's `qsubtype`.
        table: from `table_text`.
    """
    form = prompt_files.text(folder, prompt_files.ANSWER_FORMAT, SUBTYPES[subtype].form)
    values = {"table": table, "question": question.strip(), "answer_form": form}
    frame = prompt_files.text(folder, prompt_files.ANSWER_FORMAT, TASK)
    return _PLACE.sub(lambda place: values[place[1]], frame)


def _json(row: Sequence[Cell]) -> str:
    return json.dumps(list(row), ensure_ascii=False)

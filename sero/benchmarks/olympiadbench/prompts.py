"""What a model sees: the answer format around the problem's context and question.

The texts are data (`answer_format.yaml` of the benchmark's prompts), pinned by a golden file.
They follow the published prompt in content: the subject, what kind of answer is expected (not for
tuples), LaTeX, the closing sentence, and that a unit stays outside the box.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from sero.benchmarks import prompt_files
from sero.benchmarks.olympiadbench.items import Item

_FIELD = re.compile(r"\{(\w+)\}")
_NO_WORD_FOR = "Tuple"


def task_prompt(folder: str, group: str, item: Item) -> str:
    """The whole prompt of an item, byte-stable.

    Args:
        folder: of the prompt files.
        group: `maths` or `physics`.
        item: only its question, context, answer types and whether it has a unit are used.
    """
    text = partial(prompt_files.text, folder, prompt_files.ANSWER_FORMAT)
    several = bool(item.is_multiple_answer)
    values = {
        "subject": text(group),
        "kind": _kind(folder, item.answer_type, several=several),
        "closing": text("closing_several" if several else "closing_one").replace(
            "{unit}", text("unit_mark") if item.unit else ""
        ),
        "unit_rule": text("unit_rule") if item.unit else "",
    }
    frame = _FIELD.sub(lambda match: values.get(match[1], match[0]), text("frame"))
    problem = [part.strip() for part in (item.context, item.question) if part]
    return "\n\n".join((frame, *problem))


def _kind(folder: str, types: Sequence[str], *, several: bool) -> str:
    """The sentence on the expected kind of answer, a blank in front; nothing for tuples."""
    if _NO_WORD_FOR in types:
        return ""
    text = partial(prompt_files.text, folder, prompt_files.ANSWER_FORMAT)
    words = [text(name) for name in types]
    if len(set(words)) == 1:
        return " " + text("kind_several" if several else "kind_one").replace("{word}", words[0])
    return " " + text("kind_in_order").replace("{words}", ", ".join(words))

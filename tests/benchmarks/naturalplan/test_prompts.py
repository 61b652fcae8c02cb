import pytest

from sero.benchmarks.naturalplan.prompts import GROUPS, group_of, task_prompt
from sero.benchmarks.prompt_files import text

FOLDER = "package:naturalplan"


@pytest.mark.parametrize("group", GROUPS)
def test_the_subtask_is_read_from_the_prompt_alone(group, naturalplan_tasks):
    assert {group_of(task.prompt) for task in naturalplan_tasks[group]} == {group}
    assert group_of(text(FOLDER, "answer_format", group)) is None


def test_an_unknown_prompt_has_no_subtask():
    assert group_of("What is the capital of France?") is None


@pytest.mark.parametrize("group", GROUPS)
def test_the_published_prompt_is_kept_to_the_byte(group, naturalplan_data, naturalplan_tasks):
    for item, task in zip(naturalplan_data[group].values(), naturalplan_tasks[group], strict=True):
        rest = task.prompt.replace(text(FOLDER, "answer_format", group), "", 1)
        published = item["prompt_0shot"]
        added = "\n" if group == "calendar_scheduling" else ""
        # calendar: head, blank line, format, blank line, `SOLUTION: `; else published, format
        if added:
            assert rest == published.replace("\nSOLUTION: ", "\n\n\n\nSOLUTION: ")
            assert task.prompt.endswith("SOLUTION: ")
        else:
            assert rest == published + "\n\n"


def test_a_prompt_with_the_marker_inside_gets_the_format_behind():
    assert task_prompt("Start with 'SOLUTION:'.", "Form") == "Start with 'SOLUTION:'.\n\nForm"

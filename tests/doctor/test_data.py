"""Data: made here, prepared and unchanged, or with what prepares them."""

import json

import pytest

from sero.benchmarks.prepared import manifest_path
from sero.benchmarks.preparing import prepare
from sero.config import Component
from sero.doctor import Level
from sero.doctor.data import check_data


@pytest.fixture
def prepared(quiz, quiz_rows, write_lines, tmp_path):
    """A prepared file of the quiz, and its part of a configuration."""
    source = write_lines(tmp_path / "source.jsonl", quiz_rows)
    target = tmp_path / "data" / "quiz.jsonl"
    prepare(quiz(source=str(target)), str(source))
    return target


@pytest.fixture
def part(quiz):
    def make(source):
        benchmark = quiz(source=str(source))
        return Component(choice="quiz", target=type(benchmark), config=benchmark.config)

    return make


async def test_prepared_data_are_ok_and_come_back(part, prepared):
    data = await check_data(part(prepared))
    assert data.finding.level is Level.OK
    assert "2 training and 4 held-out tasks" in data.finding.said
    assert data.finding.said.endswith("as its manifest says")
    assert data.split is not None
    assert len(data.split.train) == 2


async def test_generated_tasks_need_no_file(part):
    data = await check_data(part("generated"))
    assert data.finding.level is Level.OK
    assert data.finding.said.endswith("made here")


async def test_missing_data_are_prepared(part, tmp_path):
    data = await check_data(part(tmp_path / "none.jsonl"))
    assert (data.finding.level, data.split) == (Level.FAIL, None)
    assert data.finding.mend == (
        "python scripts/prepare_data.py benchmark=quiz; else benchmark.source=generated"
    )


async def test_changed_data_are_prepared_again(part, prepared):
    prepared.write_text(prepared.read_text().replace("Elm", "Oak"))
    data = await check_data(part(prepared))
    assert data.finding.level is Level.FAIL
    assert "changed since it was prepared" in data.finding.said
    assert data.finding.mend == "python scripts/prepare_data.py benchmark=quiz overwrite=true"


async def test_a_file_without_a_manifest_is_a_warning(part, prepared):
    manifest_path(prepared).unlink()
    data = await check_data(part(prepared))
    assert data.finding.level is Level.WARN
    assert data.split is not None


async def test_a_fingerprint_that_is_not_the_manifests_fails(part, prepared):
    manifest = manifest_path(prepared)
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"fingerprint": "0" * 64}))
    data = await check_data(part(prepared))
    assert data.finding.level is Level.FAIL
    assert "its manifest says 000000000000" in data.finding.said


async def test_a_part_that_cannot_be_built_says_why(part, tmp_path):
    broken = part("generated")
    config = broken.config
    object.__setattr__(config, "prompts", str(tmp_path / "nowhere"))
    data = await check_data(broken)
    assert (data.benchmark, data.finding.level) == (None, Level.FAIL)
    assert "nowhere" in data.finding.said

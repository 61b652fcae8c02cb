import hashlib
import json

import pytest

from sero.benchmarks.prepared import check_unchanged, manifest_path, write_prepared
from sero.errors import DataError, StorageError

ROWS = [{"id": "a", "text": "é\u2028"}, {"id": "b", "text": "2"}]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "quiz.jsonl"


def files(path):
    return sorted(file.name for file in path.parent.iterdir())


def test_the_file_and_its_description(path):
    described, written = write_prepared(path, ROWS, {"items": 2})
    assert path.read_text(encoding="utf-8").split("\n") == [
        '{"id":"a","text":"é\u2028"}',
        '{"id":"b","text":"2"}',
        "",
    ]
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    assert described == {"items": 2, "sha256": sha256}
    assert written
    assert manifest_path(path).name == "quiz.manifest.json"
    assert json.loads(manifest_path(path).read_text()) == described
    assert files(path) == ["quiz.jsonl", "quiz.manifest.json"]


def test_the_same_content_is_left_alone_with_its_description(path):
    first, _ = write_prepared(path, ROWS, {"source": "hub"})
    before = [(path.parent / name).stat().st_mtime_ns for name in files(path)]
    assert write_prepared(path, ROWS, {"source": "a copy"}) == (first, False)
    assert [(path.parent / name).stat().st_mtime_ns for name in files(path)] == before


@pytest.mark.parametrize("manifest", [None, "{", "[]", '{"sha256": "of another content"}'])
def test_a_description_that_does_not_describe_the_file_is_written_again(path, manifest):
    first, _ = write_prepared(path, ROWS, {"source": "hub"})
    manifest_path(path).unlink()
    if manifest is not None:
        manifest_path(path).write_text(manifest)
    assert write_prepared(path, ROWS, {"source": "hub"}) == (first, False)
    assert json.loads(manifest_path(path).read_text()) == first
    check_unchanged(path)


def test_other_content_is_replaced_only_on_demand(path):
    first, _ = write_prepared(path, ROWS, {})
    with pytest.raises(DataError) as error:
        write_prepared(path, ROWS[:1], {})
    assert f"{path}: there is a file of other content (sha256 {first['sha256'][:12]}, the new" in (
        str(error.value)
    )
    assert "overwrite=true replaces it, paths.data=DIR writes elsewhere" in str(error.value)
    assert len(path.read_text().splitlines()) == 3  # U+2028 counts as a line here
    second, written = write_prepared(path, ROWS[:1], {}, overwrite=True)
    assert written
    assert second["sha256"] != first["sha256"]
    check_unchanged(path)


def test_a_changed_file_is_refused_and_one_of_the_users_own_is_not(path):
    write_prepared(path, ROWS, {})
    check_unchanged(path)
    path.write_text("{}\n")
    with pytest.raises(DataError, match=r"changed since it was prepared.*delete quiz\.manifest"):
        check_unchanged(path)
    manifest_path(path).unlink()
    check_unchanged(path)


@pytest.mark.parametrize("manifest", ["{", "3"])
def test_an_unreadable_description_is_told(path, manifest):
    write_prepared(path, ROWS, {})
    manifest_path(path).write_text(manifest)
    with pytest.raises(DataError, match=r"quiz\.manifest\.json: not readable"):
        check_unchanged(path)


def test_a_disk_that_refuses_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"cannot write quiz\.jsonl"):
        write_prepared(tmp_path / "file" / "quiz.jsonl", ROWS, {})

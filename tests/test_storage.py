"""Files that survive: old or new content, never a part; a torn last line is dropped."""

import errno
import json
import os
from pathlib import Path

import pytest

from sero import storage
from sero.errors import StorageError
from sero.storage import (
    JsonLines,
    dumps,
    read_json,
    read_lines,
    whole_length,
    write_atomic,
    write_json,
)


def refuse(code):
    def fsync(handle):
        raise OSError(code, os.strerror(code))

    return fsync


def lines_file(path, text):
    path.write_bytes(text)
    return path


class TestWriteAtomic:
    def test_writes_text_and_bytes_and_makes_the_folder(self, tmp_path):
        path = tmp_path / "a" / "b" / "file"
        write_atomic(path, "Ähre\n")
        assert path.read_bytes() == "Ähre\n".encode()
        write_atomic(path, b"\x00\xff")
        assert path.read_bytes() == b"\x00\xff"
        assert list(path.parent.iterdir()) == [path]

    def test_half_a_character_is_written_as_a_question_mark(self, tmp_path):
        write_atomic(tmp_path / "f", "a\ud83d")
        assert (tmp_path / "f").read_bytes() == b"a?"

    @pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
    def test_a_full_disk_names_the_directory_and_keeps_the_old(self, tmp_path, monkeypatch, code):
        path = tmp_path / "result.json"
        path.write_text("old")
        monkeypatch.setattr(storage.os, "fsync", refuse(code))
        with pytest.raises(StorageError) as caught:
            write_atomic(path, "new")
        assert str(caught.value).startswith(
            f"cannot write result.json in {tmp_path}: the disk is full; "
        )
        assert path.read_text() == "old"
        assert list(tmp_path.iterdir()) == [path]

    def test_another_refusal_gives_its_reason(self, tmp_path, monkeypatch):
        monkeypatch.setattr(storage.os, "fsync", refuse(errno.EIO))
        with pytest.raises(StorageError, match=r"Input/output error"):
            write_atomic(tmp_path / "f", "new")

    def test_a_file_where_a_folder_should_be(self, tmp_path):
        (tmp_path / "a").write_text("")
        with pytest.raises(StorageError, match=rf"cannot write f in {tmp_path}/a: "):
            write_atomic(tmp_path / "a" / "f", "x")

    @pytest.mark.parametrize("call", ["fsync", "replace"])
    def test_killed_before_the_rename_the_old_stands(self, tmp_path, monkeypatch, call):
        path = tmp_path / "last.pt"
        path.write_text("old")

        def killed(*arguments):
            raise KeyboardInterrupt

        monkeypatch.setattr(*((Path, call) if call == "replace" else (storage.os, call)), killed)
        with pytest.raises(KeyboardInterrupt):
            write_atomic(path, "new")
        assert path.read_text() == "old"

    def test_data_is_durable_before_the_rename_and_the_rename_after(self, tmp_path, monkeypatch):
        steps = []
        fsync, replace = os.fsync, Path.replace

        def watched_fsync(handle):
            steps.append("directory" if os.path.isdir(f"/proc/self/fd/{handle}") else "data")  # noqa: PTH112
            fsync(handle)

        def watched_replace(self, target):
            steps.append("rename")
            return replace(self, target)

        monkeypatch.setattr(storage.os, "fsync", watched_fsync)
        monkeypatch.setattr(Path, "replace", watched_replace)
        write_atomic(tmp_path / "f", "x")
        assert steps == ["data", "rename", "directory"]


class TestJson:
    def test_one_line_in_the_order_of_keys(self):
        assert dumps({"b": [1, None], "a": "ü\n"}) == '{"b":[1,null],"a":"ü\\n"}'

    @pytest.mark.parametrize("value", [float("nan"), float("inf")])
    def test_no_json_reader_knows_nan(self, value):
        with pytest.raises(ValueError, match="not JSON compliant"):
            dumps({"score": value})

    def test_a_document_there_and_back(self, tmp_path):
        write_json(tmp_path / "r.json", {"b": 1, "a": ["ü"]})
        assert read_json(tmp_path / "r.json") == {"b": 1, "a": ["ü"]}
        assert (tmp_path / "r.json").read_text().startswith('{\n  "b": 1,\n')


class TestJsonLines:
    def test_records_there_and_back(self, tmp_path):
        path = tmp_path / "new" / "e.jsonl"
        lines = JsonLines(path)
        records = [{"episode": 0}, {"text": "a\nb\u2028c"}, [1.5]]
        for record in records:
            lines.append(record)
        lines.sync()
        assert lines.length == path.stat().st_size
        assert list(read_lines(path)) == records
        lines.close()

    def test_the_length_counts_what_is_not_synced_yet(self, tmp_path):
        lines = JsonLines(tmp_path / "e.jsonl")
        lines.append("ü")  # quotes, two bytes, the line's end
        assert lines.length == 5
        lines.close()

    def test_opening_again_goes_on_behind(self, tmp_path):
        path = lines_file(tmp_path / "e.jsonl", b"1\n")
        lines = JsonLines(path)
        assert lines.length == 2
        lines.append(2)
        lines.close()
        assert list(read_lines(path)) == [1, 2]

    def test_opening_at_a_checkpoint_drops_what_came_after_it(self, tmp_path, caplog):
        caplog.set_level("INFO")
        path = lines_file(tmp_path / "e.jsonl", b'{"a":1}\n{"b":2}\n{"c"')
        lines = JsonLines(path, keep=8)
        lines.append({"d": 4})
        lines.close()
        assert path.read_bytes() == b'{"a":1}\n{"d":4}\n'
        assert "12 bytes after the checkpoint dropped" in caplog.text

    def test_a_file_shorter_than_the_checkpoint_says_so(self, tmp_path):
        path = lines_file(tmp_path / "e.jsonl", b"1\n")
        with pytest.raises(StorageError, match=r"holds 2 bytes, but .* after 9.*Restore it or"):
            JsonLines(path, keep=9)
        assert path.read_bytes() == b"1\n"

    def test_half_a_character_does_not_stop_a_run(self, tmp_path):
        lines = JsonLines(tmp_path / "t.jsonl")
        lines.append({"text": "a\ud83d"})
        lines.close()
        assert list(read_lines(tmp_path / "t.jsonl")) == [{"text": "a?"}]
        assert lines.length == (tmp_path / "t.jsonl").stat().st_size

    def test_a_full_disk_names_the_directory(self, tmp_path, monkeypatch):
        lines = JsonLines(tmp_path / "e.jsonl")
        lines.append(1)
        with monkeypatch.context() as patch:
            patch.setattr(storage.os, "fsync", refuse(errno.ENOSPC))
            with pytest.raises(StorageError, match=rf"e\.jsonl in {tmp_path}: the disk is full"):
                lines.sync()
        lines.close()

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is a Linux device")
    def test_a_device_that_is_full(self):
        lines = JsonLines(Path("/dev/full"))
        lines.append({"a": 1})
        with pytest.raises(StorageError, match="cannot write full in /dev: the disk is full"):
            lines.sync()
        with pytest.raises(StorageError, match="the disk is full"):
            lines.close()


class TestReadLines:
    @pytest.mark.parametrize(
        ("content", "records", "whole"),
        [
            (b"", [], 0),
            (b"1\n", [1], 2),
            (b'1\n{"a":', [1], 2),
            (b"1\n2", [1], 2),  # without its end a line may be a part of a longer one
            (b'{"a"', [], 0),
            (b"1\n\x00\x00\x00", [1], 2),
            ('"ü"\n"'.encode() + b"\xc3", ["ü"], 5),
        ],
    )
    def test_a_torn_last_line_is_dropped(self, tmp_path, caplog, content, records, whole):
        path = lines_file(tmp_path / "e.jsonl", content)
        assert list(read_lines(path)) == records
        assert ("torn last line" in caplog.text) is (len(content) > whole)
        assert whole_length(path) == whole

    @pytest.mark.parametrize("line", [b"{oops}", b"", b"\xff"])
    def test_a_broken_line_inside_is_no_accident(self, tmp_path, line):
        path = lines_file(tmp_path / "e.jsonl", b"1\n" + line + b"\n3\n")
        with pytest.raises(ValueError, match=rf"{path}:2: not a JSON record"):
            list(read_lines(path))

    def test_reads_one_at_a_time(self, tmp_path):
        path = lines_file(tmp_path / "e.jsonl", b"1\n2\n{oops\n")
        records = read_lines(path)
        assert [next(records), next(records)] == [1, 2]

    def test_no_file_has_no_length(self, tmp_path):
        assert whole_length(tmp_path / "none.jsonl") == 0

    def test_cut_at_any_byte_the_whole_lines_remain(self, tmp_path):
        records = [{"i": i, "text": "ü" * i} for i in range(4)]
        content = b"".join(json.dumps(r, ensure_ascii=False).encode() + b"\n" for r in records)
        path = tmp_path / "e.jsonl"
        for cut in range(len(content) + 1):
            path.write_bytes(content[:cut])
            assert list(read_lines(path)) == records[: content[:cut].count(b"\n")]
            lines = JsonLines(path, keep=whole_length(path))
            lines.append("next")
            lines.close()
            assert list(read_lines(path))[-1] == "next"

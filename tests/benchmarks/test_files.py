import json

import pytest

from sero.benchmarks.files import (
    MAX_LISTED,
    fingerprint,
    raise_faults,
    read_json_object,
    read_jsonl,
)
from sero.errors import DataError


def test_jsonl_lines_keep_their_numbers_and_each_fault_is_told(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": "x\u2028y"}\n\n[1]\n{"a": \n{"b": 1, "b": 2}\n', encoding="utf-8")
    rows, faults = read_jsonl(path)
    assert rows == [(1, {"a": "x\u2028y"})]
    assert [fault.split(":")[0] for fault in faults] == ["line 3", "line 4", "line 5"]
    assert "'b' occurs twice" in faults[2]


def test_an_object_file_reports_what_it_holds_instead(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("[]")
    assert read_json_object(path) == ({}, ["got list; the file holds one object"])
    path.write_text('{"a": {}, "a": {}}')
    assert "'a' occurs twice" in read_json_object(path)[1][0]


def test_a_broken_file_names_itself(tmp_path):
    path = tmp_path / "a.jsonl"
    with pytest.raises(DataError, match=r"a\.jsonl: cannot be read: No such file"):
        read_jsonl(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match=r"a\.jsonl: not UTF-8 text \(byte 0\)"):
        read_jsonl(path)


def test_all_faults_stand_in_one_error():
    raise_faults("x", [])
    with pytest.raises(DataError) as error:
        raise_faults("x", [f"fault {i}" for i in range(MAX_LISTED + 5)], "Mend it.")
    lines = str(error.value).split("\n")
    assert lines[0] == f"x: {MAX_LISTED + 5} problem(s) in the data"
    assert lines[-2:] == ["  ... and 5 more", "Mend it."]


def test_the_fingerprint_sees_values_not_key_order():
    one, other = {"a": 1, "b": [2]}, {"b": [2], "a": 1}
    assert fingerprint([one]) == fingerprint([other])
    assert fingerprint([one]) != fingerprint([{"a": 1, "b": [3]}])
    assert fingerprint([one, {}]) != fingerprint([{}, one])
    assert fingerprint([json.loads('{"a": "é"}')]) == fingerprint([{"a": "\u00e9"}])

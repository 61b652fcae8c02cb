import dataclasses
import io
import json
import re
import subprocess
import sys

import pyarrow
import pytest
from huggingface_hub import constants
from pyarrow import parquet

from sero.benchmarks.download import Limits
from sero.benchmarks.files import read_jsonl
from sero.benchmarks.hub import (
    NATURALPLAN,
    OLYMPIADBENCH,
    TABLEBENCH,
    Host,
    PublicSource,
    fetch_rows,
)
from sero.errors import DataError

QUICK = Limits(connect_s=2.0, stall_s=0.3, total_s=2.0, max_bytes=100_000)
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def hub_variables(monkeypatch, tmp_path):
    """Neither the machine's cache nor its switches take part."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hf"))
    for name in ("HF_HUB_OFFLINE", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def github(site):
    return PublicSource(
        host=Host.GITHUB,
        repository="owner/plans",
        revision=COMMIT,
        files=("data/one.json", "data/two.json"),
        base=site.url,
    )


@pytest.fixture
def dataset(site):
    return PublicSource(
        host=Host.HUGGING_FACE,
        repository="owner/tables",
        revision=COMMIT,
        files=("deep/tables.jsonl",),
        base=site.url,
    )


def lines(path):
    rows, faults = read_jsonl(path)
    if faults:
        raise DataError(f"{path}: {len(faults)} problem(s)", faults)
    return [(f"line {number}", raw) for number, raw in rows]


def folder(path):
    files = sorted(path.iterdir())
    return [(file.name, json.loads(file.read_text())) for file in files]


def cached(tmp_path, revision, text):
    """A file as Hugging Face's own client leaves it in its cache."""
    home = tmp_path / "hf" / "datasets--owner--tables"
    file = home / "snapshots" / COMMIT / "deep" / "tables.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    if revision != COMMIT:
        (home / "refs").mkdir()
        (home / "refs" / revision).write_text(COMMIT)


@pytest.mark.parametrize("source", [NATURALPLAN, OLYMPIADBENCH, TABLEBENCH])
def test_every_source_is_pinned_to_a_commit(source):
    assert re.fullmatch("[0-9a-f]{40}", source.revision)
    assert len({file.rpartition("/")[2] for file in source.files}) == len(source.files)


def test_the_addresses_of_the_files(monkeypatch):
    assert NATURALPLAN.url("data/trip_planning.json", NATURALPLAN.revision) == (
        "https://raw.githubusercontent.com/google-deepmind/natural-plan/"
        "ca76db336072ff8931db43bc1ca8d381038cf073/data/trip_planning.json"
    )
    assert TABLEBENCH.url("TableBench.jsonl", "refs/pr/1") == (
        "https://huggingface.co/datasets/Multilingual-Multimodal-NLP/TableBench/resolve/"
        "refs%2Fpr%2F1/TableBench.jsonl"
    )
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.invalid/")
    address = OLYMPIADBENCH.url(OLYMPIADBENCH.files[0], "main")
    assert address.startswith("https://mirror.invalid/datasets/Hothan/OlympiadBench/resolve/main/")


def test_several_files_are_read_as_a_folder(site, github):
    site.pages |= {
        f"/owner/plans/{COMMIT}/data/one.json": b'{"a": 1}',
        f"/owner/plans/{COMMIT}/data/two.json": b'{"b": 2}',
    }
    rows, label = fetch_rows(github, folder, limits=QUICK)
    assert rows == [("one.json", {"a": 1}), ("two.json", {"b": 2})]
    assert label == f"owner/plans@{COMMIT}"


def test_a_single_file_is_read_as_a_file(site, dataset):
    site.pages[f"/datasets/owner/tables/resolve/{COMMIT}/deep/tables.jsonl"] = b'{"a": 1}\n'
    rows, label = fetch_rows(dataset, lines, limits=QUICK)
    assert rows == [("line 1", {"a": 1})]
    assert label == f"owner/tables@{COMMIT}"


def test_a_branch_is_read_at_the_commit_it_stands_for(site, dataset):
    both = dataclasses.replace(dataset, files=("a.json", "b.json"))
    # The second file is asked for at the commit the server named with the first.
    site.headers["X-Repo-Commit"] = COMMIT
    site.pages |= {
        "/datasets/owner/tables/resolve/main/a.json": b"1",
        f"/datasets/owner/tables/resolve/{COMMIT}/b.json": b"2",
    }
    rows, label = fetch_rows(both, folder, "main", QUICK)
    assert [value for _, value in rows] == [1, 2]
    assert label == f"owner/tables@{COMMIT}"


def test_a_parquet_file_is_read_as_lines(site, dataset):
    table = pyarrow.table(
        {
            "id": [7, 8],
            "final_answer": [["2"], ["$x$"]],
            "unit": [None, "m"],
            "image_1": pyarrow.array([None, {"bytes": b"\x89PNG"}]),
        }
    )
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    site.pages[f"/datasets/owner/tables/resolve/{COMMIT}/x/part.parquet"] = buffer.getvalue()
    rows, _ = fetch_rows(dataclasses.replace(dataset, files=("x/part.parquet",)), lines)
    assert [raw for _, raw in rows] == [
        {"id": 7, "final_answer": ["2"], "unit": None, "image_1": None},
        {"id": 8, "final_answer": ["$x$"], "unit": "m", "image_1": True},
    ]


@pytest.mark.parametrize("data", [b"", b"PAR1 and nothing else PAR1"])
def test_a_broken_parquet_file_is_told(site, dataset, data):
    site.pages[f"/datasets/owner/tables/resolve/{COMMIT}/part.parquet"] = data
    with pytest.raises(DataError, match=r"part\.parquet: not a Parquet table: "):
        fetch_rows(dataclasses.replace(dataset, files=("part.parquet",)), lines, limits=QUICK)


def test_a_file_that_is_not_there_is_told_with_its_revision(site, dataset):
    with pytest.raises(DataError, match=r"/resolve/v9/deep/tables\.jsonl: not found \(404\)"):
        fetch_rows(dataset, lines, "v9", QUICK)


def test_broken_data_name_the_source_and_keep_their_faults(site, dataset):
    site.pages[f"/datasets/owner/tables/resolve/{COMMIT}/deep/tables.jsonl"] = b'{"a": 1}\n{"a": '
    with pytest.raises(DataError) as error:
        fetch_rows(dataset, lines, limits=QUICK)
    assert str(error.value) == f"owner/tables@{COMMIT}/tables.jsonl: 1 problem(s)"
    assert error.value.faults[0].startswith("line 2: not JSON")


def test_no_network_is_told_at_once(github, closed_port, site):
    nowhere = dataclasses.replace(github, base=f"http://127.0.0.1:{closed_port}")
    with pytest.raises(DataError, match=f"127.0.0.1:{closed_port} cannot be reached"):
        fetch_rows(nowhere, folder)


@pytest.mark.parametrize("switch", ["1", "true", "YES"])
def test_offline_nothing_is_asked_for(site, dataset, monkeypatch, switch):
    monkeypatch.setenv("HF_HUB_OFFLINE", switch)
    with pytest.raises(DataError, match=r"owner/tables: HF_HUB_OFFLINE is set, and deep/tables"):
        fetch_rows(dataset, lines, limits=QUICK)
    assert site.asked == []


def test_the_switch_of_one_host_is_not_that_of_another(site, github, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for file in github.files:
        site.pages[f"/owner/plans/{COMMIT}/{file}"] = b"1"
    assert len(fetch_rows(github, folder, limits=QUICK)[0]) == 2


@pytest.mark.parametrize("revision", [COMMIT, "main"])
def test_what_the_hubs_client_has_cached_is_used_offline(
    site, dataset, monkeypatch, tmp_path, revision
):
    cached(tmp_path, revision, '{"a": 5}\n')
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    rows, label = fetch_rows(dataset, lines, revision, QUICK)
    assert rows == [("line 1", {"a": 5})]
    assert label == f"owner/tables@{COMMIT}"


def test_online_a_cached_commit_is_used_and_a_cached_branch_is_not(site, dataset, tmp_path):
    cached(tmp_path, "main", '{"a": 5}\n')
    site.pages["/datasets/owner/tables/resolve/main/deep/tables.jsonl"] = b'{"a": 6}\n'
    assert fetch_rows(dataset, lines, limits=QUICK)[0] == [("line 1", {"a": 5})]
    assert site.asked == []
    assert fetch_rows(dataset, lines, "main", QUICK)[0] == [("line 1", {"a": 6})]


def test_nothing_heavy_is_loaded_with_the_module():
    program = (
        "import sys, sero.benchmarks.hub\n"
        "heavy = {'torch', 'datasets', 'pyarrow', 'huggingface_hub', 'sympy'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

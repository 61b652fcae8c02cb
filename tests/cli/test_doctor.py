import json

import pytest

SECRET = "sk-of-nobody-0123456789"
SIMULATED = ("logger=none", "experiment=single")
SERVER = ("experiment=single", "benchmark=toy", "encoder=hashing", "backbone=openai")


@pytest.fixture(autouse=True)
def empty_folder(read_once, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_nothing_to_mend_is_exit_0_and_leaves_nothing(sero, empty_folder):
    found = sero("doctor", *SIMULATED)
    assert found.code == 0
    assert "  skipped server        skillworld answers by itself" in found.out
    assert found.out.splitlines()[-1].endswith("0 warn, 0 fail, 2 skipped")
    assert "mend:" not in found.out
    assert list(empty_folder.iterdir()) == []


def test_a_check_that_fails_is_exit_1_with_its_mend_below_it(sero, closed_port):
    url = f"http://127.0.0.1:{closed_port}/v1"
    found = sero("doctor", *SERVER, "backbone.model=tiny", f"backbone.base_url={url}")
    assert found.code == 1
    lines = found.out.splitlines()
    (at,) = [i for i, line in enumerate(lines) if line.startswith("  fail    reachable")]
    assert lines[at - 1] == "backbone=openai"
    assert url in lines[at]
    assert lines[at + 1].strip() == (
        "mend: vllm serve tiny, or backbone.base_url=URL of where it runs"
    )
    assert "Traceback" not in found.out + found.err


def test_a_server_of_ones_own_is_started_by_the_script(sero, closed_port):
    url = f"http://127.0.0.1:{closed_port}/v1"
    words = [*SERVER[:3], "backbone=qwen3_8b", f"backbone.base_url={url}"]
    found = sero("doctor", *words)
    assert found.code == 1
    command = f"python scripts/serve_backbone.py backbone=qwen3_8b backbone.base_url={url}"
    assert f"mend: {command}\n" in found.out


def test_one_object_for_machines(sero, closed_port, monkeypatch):
    monkeypatch.setenv("SERO_TEST_KEY", SECRET)
    found = sero(
        *("doctor", "--json", *SERVER, "backbone.model=tiny", "backbone.api_key_env=SERO_TEST_KEY"),
        f"backbone.base_url=http://127.0.0.1:{closed_port}/v1",
        "backbone.revision=r1",
    )
    assert found.code == 1
    record = json.loads(found.out)
    assert (record["ok"], record["counts"]["fail"]) == (False, 1)
    (failed,) = [finding for finding in record["findings"] if finding["level"] == "fail"]
    assert set(failed) == {"name", "level", "said", "mend", "subject", "details", "figures"}
    assert SECRET not in found.out + found.err


def test_every_fault_of_the_overrides_is_told_and_nothing_is_asked(sero):
    found = sero("doctor", "gate.tasks=0", "gaet.repeats=2", "backbone=openay")
    assert found.code == 2
    assert found.out == ""
    for fault in ("gate.tasks: got 0", "gaet.repeats: unknown key", "no choice 'openay'"):
        assert fault in found.err


@pytest.mark.parametrize(
    "options", [("--probes", "-1"), ("--false-commit", "0.7"), ("--deadline", "0"), ("--depe",)]
)
def test_an_option_out_of_range_is_a_users_mistake(sero, options):
    assert sero("doctor", *options).code == 2


def test_the_exit_codes_are_in_the_help(sero):
    found = sero("doctor", "--help")
    text = " ".join(found.out.split())
    assert (
        "Exits 0 when nothing failed, 1 when a check failed, 2 for faults in the overrides" in text
    )

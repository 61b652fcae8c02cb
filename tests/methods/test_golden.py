"""The exact messages of every method on one item of every benchmark, pinned.

A file holds the distinct requests in the order in which they are asked, with a fixed text in
every role's mouth. A change of a prompt shows here as a readable diff; `SERO_UPDATE_GOLDEN=1
pytest tests/methods/test_golden.py` writes the files anew.
"""

import os
from pathlib import Path

import pytest
import warm_job

from sero.backbones.base import CallContext, Phase
from sero.backbones.scripted import ScriptedBackbone
from sero.config import parse_config
from sero.running.build import assemble, load_inputs

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "methods"
BENCHMARKS = ("naturalplan", "olympiadbench", "tablebench", "toy")
FROZEN = (
    *("cot", "sc", "workflow", "static_dag", "static"),
    *("debate", "mad", "dmad"),
)
EXAMPLES = {"code_review": "static_dag", "architecture": "decision_debate", "math": "dmad"}
"""Worked examples of Meta-Debate and the hosts they assign roles for."""
WHOLE = bool(os.environ.get("SERO_FULL_SIZE"))
TRAINED = ("sero", "random_evolution", "gated_random", "credit_heuristic")
POOLED = (
    *((method, "toy") for method in TRAINED),
    *((method, name) for method in (TRAINED if WHOLE else TRAINED[:1]) for name in BENCHMARKS[:3]),
)
"""Every trained method on `toy`, the first on every benchmark; in full size all on all."""
SAID = "(what the role says)"


@pytest.fixture(scope="module")
def composing():
    with warm_job.composing() as found:
        yield found


@pytest.fixture
def asked(composing, tmp_path, monkeypatch):
    """The distinct requests of a run that answers one held-out item, every card as it stands."""

    async def ask(*words):
        composed = composing.compose(
            [
                *words,
                "encoder=hashing",
                "backbone=scripted",
                f"backbone.default='{SAID}'",
                f"paths.cache={tmp_path / 'cache'}",
            ]
        )
        config = parse_config(composed.config, composed.choices)
        shop = assemble(config, load_inputs(config))
        requests = []
        plain = ScriptedBackbone.generate

        async def generate(self, request):
            requests.append(request)
            return await plain(self, request)

        monkeypatch.setattr(ScriptedBackbone, "generate", generate)
        task = shop.split.heldout[0]
        call = CallContext(run_seed=config.seed, phase=Phase.EVAL, episode=None, item=task.id)
        try:
            await shop.method.answer(task.prompt, call)
        finally:
            await shop.backbone.close()
        return requests

    return ask


def item_of(method, benchmark):
    """A method on one generated item of a benchmark."""
    return (
        "experiment=single",
        f"method={method}",
        f"benchmark={benchmark}",
        "benchmark.generated.n=60",
        "benchmark.n_train=20",
        "benchmark.allow_counts=true",
        *([] if benchmark == "toy" else ["benchmark.source=generated"]),
    )


def written(requests) -> str:
    parts = []
    for request in requests:
        sample = ", ".join(map(str, request.sample_index))
        parts.append(
            f"######## {request.role} · temperature {request.temperature:g} · sample {sample}"
        )
        for message in request.messages:
            parts.append(f"---- {message.role}\n{message.content}")
    return "\n".join(parts) + "\n"


def pinned(path: Path, text: str) -> None:
    if os.environ.get("SERO_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path} does not hold these messages"


@pytest.mark.parametrize("benchmark", BENCHMARKS)
@pytest.mark.parametrize("method", FROZEN)
async def test_messages_of_an_item(asked, method, benchmark):
    requests = await asked(*item_of(method, benchmark))
    pinned(GOLDEN / benchmark / f"{method}.txt", written(requests))


@pytest.mark.parametrize("name", EXAMPLES)
async def test_messages_of_a_worked_example(asked, name):
    requests = await asked(f"experiment=assign/{name}", "assign.by=null")
    pinned(GOLDEN / "assign" / f"{name}_{EXAMPLES[name]}.txt", written(requests))


@pytest.mark.parametrize("name", EXAMPLES)
async def test_the_single_agent_of_a_worked_example(asked, name):
    requests = await asked(f"experiment=assign/{name}", "assign.by=null", "method=cot")
    pinned(GOLDEN / "assign" / f"{name}_cot.txt", written(requests))


@pytest.mark.parametrize(("method", "benchmark"), POOLED)
async def test_every_method_with_a_pool_asks_what_the_static_one_asks(asked, method, benchmark):
    """Before its first edit; the pool is all that training changes.

    A star of the pairs; `SERO_FULL_SIZE=1` runs all 16.
    """
    requests = await asked(*item_of(method, benchmark))
    pinned(GOLDEN / benchmark / "static.txt", written(requests))

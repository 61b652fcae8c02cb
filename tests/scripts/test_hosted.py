"""`backbone=gpt_4o_mini | gemini_2_5_flash_lite` against servers that refuse what the real ones do.

Their key comes from the environment and stays there; their prices fill `usd` and keep `budget.usd`.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import gold_server
import pytest
import train
import warm_job
import yaml
from aiohttp import web
from chat_server import COMPLETION_TOKENS, PROMPT_TOKENS, serving

from sero.config.front import launch

KEY = "sk-hosted-0123456789abcdef"


PARAMETERS = {"model", "messages", "temperature", "max_tokens", "response_format"}
BOUNDS = {
    *("pattern", "format", "minLength", "maxLength", "minItems", "maxItems"),
    *("minimum", "maximum", "multipleOf"),
}


def schema_faults(schema: dict) -> list[str]:
    """What strict mode holds against a schema and those in it."""
    found = [f"'{keyword}' is not permitted" for keyword in sorted(BOUNDS & set(schema))]
    if "type" not in schema:
        found.append("schema must have a 'type' key")
    if schema.get("type") == "object":
        names = list(schema.get("properties", {}))
        if schema.get("additionalProperties") is not False:
            found.append("'additionalProperties' is required to be supplied and to be false")
        if sorted(schema.get("required", [])) != sorted(names):
            found.append("'required' is required to include every key in properties")
        for name in names:
            found += schema_faults(schema["properties"][name])
    if schema.get("type") == "array":
        found += schema_faults(schema["items"])
    return found


def openai_refuses(body: dict) -> str:
    for name in body:
        if name not in PARAMETERS | {"seed"}:
            return f"Unrecognized request argument supplied: {name}"
    return ""


def gemini_refuses(body: dict) -> str:
    for name in body:
        if name not in PARAMETERS:
            return f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
    return ""


@dataclass
class HostedServer(gold_server.GoldServer):
    """A hosted API: it wants its key, and takes no parameter or schema it does not know.

    Attributes:
        refuses: what it says to a body, nothing if it is content.
        refused: what it said, each time.
    """

    refuses: Callable[[dict], str] = openai_refuses
    refused: list[str] = field(default_factory=list)

    def reply(self, body: dict) -> str:
        if body["messages"][0]["content"].startswith(gold_server.EDITOR):
            mark = hashlib.sha256(str(body).encode()).hexdigest()
            card = json.loads(gold_server.card_reply("helper", mark).split("```json\n")[1][:-4])
            return json.dumps(card | {"temperature": 0})
        return ("Answer: 4", "Answer: Paris", "Answer: positive")[len(str(body)) % 3]

    async def chat(self, request: web.Request) -> web.Response:
        given = request.headers.get("Authorization", "")
        if given != f"Bearer {KEY}":
            said = f"Incorrect API key provided: {given.removeprefix('Bearer ')}."
            return self.refuse(401, said)
        body = await request.json()
        wanted = body.get("response_format")
        faults = []
        if wanted is not None:
            assert wanted["type"] == "json_schema"
            assert wanted["json_schema"]["strict"] is True
            faults = schema_faults(wanted["json_schema"]["schema"])
        said = self.refuses(body) or "; ".join(faults)
        return self.refuse(400, said) if said else await super().chat(request)

    def refuse(self, status: int, said: str) -> web.Response:
        self.refused.append(said)
        return web.json_response({"error": {"message": said, "code": status}}, status=status)


@dataclass(frozen=True)
class Hosted:
    """A backbone of conf/, and what is known of it."""

    name: str
    variable: str
    refuses: Callable[[dict], str]
    prompt_usd: float
    completion_usd: float
    seeds: bool


MODELS = [
    Hosted("gpt_4o_mini", "OPENAI_API_KEY", openai_refuses, 0.15, 0.60, True),
    Hosted("gemini_2_5_flash_lite", "GEMINI_API_KEY", gemini_refuses, 0.10, 0.40, False),
]


ONE_MODEL = pytest.mark.parametrize("model", MODELS[:1], indirect=True, ids=lambda one: one.name)
"""For what no refusal has a part in: both go through the same code."""


@pytest.fixture(params=MODELS, ids=lambda model: model.name)
def model(request, monkeypatch) -> Hosted:
    monkeypatch.setenv(request.param.variable, KEY)
    return request.param


@pytest.fixture
def server(model) -> Iterator[HostedServer]:
    with serving(HostedServer(refuses=model.refuses)) as running:
        yield running


@pytest.fixture
def words(model, server, tmp_path, monkeypatch) -> Callable[..., list[str]]:
    """The overrides, with the backbone's address set to the server's."""
    monkeypatch.setattr("sero.running.job.write_page", lambda page: None)

    def line(*more: str, runs: str = "runs") -> list[str]:
        return [
            *("experiment=single", "method=sero", "benchmark=toy", "encoder=hashing"),
            *(f"backbone={model.name}", f"backbone.base_url={server.url}"),
            *("benchmark.n_train=3", "benchmark.n_heldout=4", "train.main_epochs=1"),
            *("early_stop.enabled=false", "credit.loo_every=3", "logger=none", "progress=none"),
            *("backbone.max_retries=0", f"paths.runs={tmp_path / runs}"),
            *(f"paths.cache={tmp_path / (runs + '-cache')}", *more),
        ]

    return line


@pytest.fixture
def run(words) -> Callable[..., int]:
    """One job under these overrides; its exit code."""
    return lambda *more, runs="runs": warm_job.run(*words(*more, runs=runs))


def one(folder: Path, name: str) -> Path:
    (found,) = folder.rglob(name)
    return found


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_a_run_from_end_to_end(model, server, words, tmp_path, capfd):
    assert launch(train.CONF, "train", train.job, ["train.py", *words()]) == 0
    assert server.refused == []
    editor = [b for b in server.bodies if b["messages"][0]["content"].startswith("You write role")]
    assert editor, "no card was asked for"
    assert all("response_format" in body for body in editor)
    assert all(("seed" in body) == model.seeds for body in server.bodies)

    config = yaml.safe_load(one(tmp_path, "config.yaml").read_text())
    assert (config["pool"]["p_max"], config["credit"]["loo_every"]) == (10, 3)  # hosted profile
    result = json.loads(one(tmp_path, "result.json").read_text())
    assert result["requests"] == len(server.bodies)
    assert result["failures"] == 0
    a_call = (
        PROMPT_TOKENS * model.prompt_usd + COMPLETION_TOKENS * model.completion_usd
    ) / 1_000_000
    # the method's cost is that of its calls, the bill that of what was sent
    assert result["usd"] == pytest.approx(result["calls"] * a_call, abs=1e-6)
    assert result["usd_sent"] == pytest.approx(result["requests"] * a_call, abs=1e-6)
    assert result["usd_sent"] < result["usd"]
    cards = one(tmp_path, "episodes.jsonl").read_text()
    assert '"invalid_card"' not in cards

    shown = "".join(capfd.readouterr())
    assert KEY not in shown
    assert KEY.encode() not in everything(tmp_path)


def test_without_its_key_nothing_is_sent(model, server, run, monkeypatch, capfd):
    monkeypatch.delenv(model.variable)
    assert run() == 2
    assert (server.bodies, server.refused) == ([], [])
    said = capfd.readouterr().err
    assert f"the environment variable {model.variable} is not set" in said
    assert "Traceback" not in said


def test_a_wrong_key_is_told_without_showing_it(model, server, run, monkeypatch, tmp_path, capfd):
    wrong = "sk-wrong-fedcba9876543210"
    monkeypatch.setenv(model.variable, wrong)
    assert run() == 2
    assert server.bodies == []
    assert wrong in server.refused[0], "the server repeats it"
    shown = "".join(capfd.readouterr())
    assert f"Check the key in the environment variable {model.variable}" in shown
    assert wrong not in shown
    assert wrong.encode() not in everything(tmp_path)


@ONE_MODEL
@pytest.mark.parametrize(
    "method", ["static", pytest.param("sero", marks=pytest.mark.slow)], ids=str
)
def test_dollars_stop_a_run_that_goes_on_with_more(model, server, run, method, tmp_path, capfd):
    chosen = (f"method={method}", "evaluate.concurrency=1")
    assert run(*chosen, runs="undisturbed") == 0
    result = json.loads(one(tmp_path / "undisturbed", "result.json").read_text())

    half = result["usd_sent"] / 2
    assert run(*chosen, f"budget.usd={half}") == 75
    status = json.loads(one(tmp_path / "runs", "status.json").read_text())
    assert status["state"] == "interrupted"
    assert "budget.usd: " in status["reason"]
    assert "raise the limit" in capfd.readouterr().err
    usage = json.loads(one(tmp_path / "runs", "manifest.json").read_text())["usage"]
    spent = (
        usage["prompt_tokens"] * model.prompt_usd
        + usage["completion_tokens"] * model.completion_usd
    ) / 1_000_000
    assert half <= spent < result["usd_sent"]

    asked = len(server.bodies)
    assert run(*chosen, f"budget.usd={half}") == 75, "the same limit starts nothing"
    assert len(server.bodies) == asked
    assert run(*chosen, f"budget.usd={result['usd_sent'] + 1}") == 0
    again = json.loads(one(tmp_path / "runs", "result.json").read_text())
    names = ("usd", "usd_sent", "requests", "calls")
    assert {name: again[name] for name in names} == {name: result[name] for name in names}


@ONE_MODEL
def test_a_run_goes_on_at_another_price(model, run, tmp_path):
    assert run("method=cot") == 0
    assert run("method=cot", "backbone.price.prompt_usd_per_mtok=9") == 0
    assert len(list(tmp_path.rglob("result.json"))) == 1


@ONE_MODEL
def test_without_a_price_there_are_no_dollars_and_no_error(run, tmp_path, caplog):
    unpriced = "backbone.price.completion_usd_per_mtok=null"
    assert run("method=cot", "budget.usd=0.000001", unpriced) == 0
    result = json.loads(one(tmp_path, "result.json").read_text())
    assert not {"usd", "usd_sent"} & set(result)
    assert "budget.usd=1e-06 has no effect" in caplog.text


@pytest.mark.slow
@ONE_MODEL
def test_the_key_is_not_in_the_trackers_files(run, tmp_path):
    assert run("method=cot", "logger=wandb", "logger.mode=offline") == 0
    written = everything(tmp_path)
    assert b"wandb" in written
    assert KEY.encode() not in written

"""A vLLM backbone: the client is any server's, and the configuration gives the command."""

import ast
import dataclasses
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sero.backbones.base import ChatMessage, Request
from sero.backbones.openai_server import OpenAIServer, OpenAIServerConfig
from sero.backbones.vllm_config import check_serve
from sero.backbones.vllm_server import (
    Command,
    VLLMServer,
    health_url,
    secret_env,
    serve_command,
    shell_line,
)
from sero.config import composer, parse_config
from sero.errors import ConfigError, ServerUnavailable, UserError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def configured():
    """The configuration of a backbone under overrides."""

    def configure(name="qwen3_8b", *overrides):
        with composer(ROOT / "conf", "train") as composing:
            composed = composing.compose([f"backbone={name}", *overrides])
        return parse_config(composed.config, composed.choices).backbone.config

    return configure


def argv(cfg):
    return list(serve_command(cfg, ["vllm"]).argv)


def flag(cfg, name):
    words = argv(cfg)
    return words[words.index(name) + 1] if name in words else None


def test_the_reference_backbone(configured):
    command = serve_command(configured(), ["vllm"])
    assert command == Command(
        argv=(
            *("vllm", "serve", "Qwen/Qwen3-8B", "--served-model-name", "Qwen/Qwen3-8B"),
            *("--revision", "main", "--host", "127.0.0.1", "--port", "8000"),
            *("--max-model-len", "32768", "--gpu-memory-utilization", "0.9", "--dtype", "auto"),
            *("--seed", "0", "--enable-prefix-caching", "--disable-uvicorn-access-log"),
        ),
        env={},
    )
    assert health_url(configured()) == "http://127.0.0.1:8000/health"


@pytest.mark.parametrize(
    ("overrides", "name", "value"),
    [
        (("backbone.serve.tensor_parallel=2",), "--tensor-parallel-size", "2"),
        ((), "--tensor-parallel-size", None),
        (("backbone.serve.data_parallel=4",), "--data-parallel-size", "4"),
        (("backbone.context_tokens=8192",), "--max-model-len", "8192"),
        (("backbone.serve.max_model_len=40960",), "--max-model-len", "40960"),
        (("backbone.context_tokens=null",), "--max-model-len", None),
        (("backbone.serve.max_num_seqs=32",), "--max-num-seqs", "32"),
        (("backbone.serve.max_num_batched_tokens=512",), "--max-num-batched-tokens", "512"),
        (("backbone.serve.gpu_memory_utilization=null",), "--gpu-memory-utilization", None),
        (("backbone.serve.dtype=float32",), "--dtype", "float32"),
        (("backbone.serve.kv_cache_dtype=fp8",), "--kv-cache-dtype", "fp8"),
        (
            ("backbone.serve.structured_outputs=guidance",),
            "--structured-outputs-config.backend",
            "guidance",
        ),
        ((), "--structured-outputs-config.backend", None),
        (("backbone.serve.reasoning_parser=qwen3",), "--reasoning-parser", "qwen3"),
        (("backbone.serve.seed=7",), "--seed", "7"),
        (("backbone.revision=b968826d9c",), "--revision", "b968826d9c"),
        (("backbone.revision=unknown",), "--revision", None),
        (("backbone.base_url=http://0.0.0.0:9001/v1/",), "--host", "0.0.0.0"),
        (("backbone.base_url=http://0.0.0.0:9001/v1/",), "--port", "9001"),
        (("backbone.base_url=http://localhost/v1",), "--port", "80"),
        (("backbone.serve.extra_args=[--max-logprobs,40]",), "--max-logprobs", "40"),
        (("backbone.serve.weights=/models/q8",), "serve", "/models/q8"),
        (("backbone.serve.weights=/models/q8",), "--served-model-name", "Qwen/Qwen3-8B"),
        (("backbone.serve.weights=/models/q8",), "--revision", None),  # a folder has none
    ],
)
def test_a_key_becomes_its_flag(configured, overrides, name, value):
    cfg = configured("qwen3_8b", *overrides)
    check_serve(cfg)
    assert flag(cfg, name) == value


def test_switches(configured):
    plain = argv(configured())
    assert "--enable-prefix-caching" in plain
    assert "--enforce-eager" not in plain
    other = configured(
        "qwen3_8b",
        "backbone.serve.enable_prefix_caching=false",
        "backbone.serve.enforce_eager=true",
        "backbone.serve.batch_invariant=true",
        "+backbone.serve.env.CUDA_VISIBLE_DEVICES='0,1'",
    )
    assert {"--no-enable-prefix-caching", "--enforce-eager"} < set(argv(other))
    assert "--enable-prefix-caching" not in argv(other)
    assert serve_command(other, ["vllm"]).env == {
        "CUDA_VISIBLE_DEVICES": "0,1",
        "VLLM_BATCH_INVARIANT": "1",
    }


def test_the_line_for_a_shell_is_the_command(configured):
    cfg = configured(
        "qwen3_8b", "backbone.serve.weights='/my models/q8'", "+backbone.serve.env.A='b c'"
    )
    command = serve_command(cfg, ["vllm"])
    line = shell_line(cfg, command)
    assert line.startswith("A='b c' vllm serve '/my models/q8' --served-model-name ")
    assert shlex.split(line) == ["A=b c", *command.argv]


def test_a_key_is_handed_over_and_never_shown(configured, monkeypatch):
    cfg = configured("qwen3_8b", "backbone.api_key_env=MY_KEY")
    monkeypatch.setenv("MY_KEY", "s3cret")
    command = serve_command(cfg, ["vllm"])
    assert secret_env(cfg) == {"VLLM_API_KEY": "s3cret"}
    assert 'VLLM_API_KEY="$MY_KEY" vllm serve' in shell_line(cfg, command)
    assert "s3cret" not in f"{command} {shell_line(cfg, command)}"
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(UserError, match="MY_KEY is not set"):
        secret_env(cfg)
    assert secret_env(configured()) == {}


def test_a_model_that_runs_without_a_gpu(configured):
    cfg = configured("smollm2_vllm", "paths.cache=/c")
    words = argv(cfg)
    assert words[1:5] == [
        *("serve", "/c/checkpoints/smollm2-135m-instruct"),
        *("--served-model-name", "SmolLM2-135M-Instruct"),
    ]
    assert (flag(cfg, "--dtype"), flag(cfg, "--port")) == ("float32", "8010")
    assert not cfg.send_seed  # a seed can end the CPU engine
    assert cfg.serve.env["VLLM_CPU_KVCACHE_SPACE"] == "2"
    check_serve(cfg)


@pytest.mark.parametrize("size", ["0_6b", "1_7b", "4b", "8b", "14b", "32b"])
def test_every_size_has_a_port_of_its_own_and_one_identity(configured, size):
    cfg = configured(f"qwen3_{size}")
    check_serve(cfg)
    model = f"Qwen/Qwen3-{size.replace('_', '.').upper()}"
    ports = {"8b": 8000, "0_6b": 8001, "1_7b": 8002, "4b": 8003, "14b": 8004, "32b": 8005}
    assert (cfg.model, flag(cfg, "--port")) == (model, str(ports[size]))
    # the key of every stored answer: how a server is started is not part of it
    identity = VLLMServer(cfg).identity
    assert (identity.model, identity.revision) == (model, "main")
    assert identity.template == '{"chat_template_kwargs":{"enable_thinking":false}}'
    other = dataclasses.replace(cfg, serve=dataclasses.replace(cfg.serve, dtype="float32"))
    assert VLLMServer(other).identity == identity


def test_the_client_is_that_of_any_server(configured):
    cfg = configured()
    names = [field.name for field in dataclasses.fields(OpenAIServerConfig)]
    plain = OpenAIServer(OpenAIServerConfig(**{name: getattr(cfg, name) for name in names}))
    assert plain.identity == VLLMServer(cfg).identity
    assert plain.max_prompt_chars == VLLMServer(cfg).max_prompt_chars
    assert VLLMServer.generate is OpenAIServer.generate


async def test_a_server_that_is_down_is_told_with_the_command_to_start_it(configured, closed_port):
    cfg = configured(
        "qwen3_8b",
        f"backbone.base_url=http://127.0.0.1:{closed_port}/v1",
        "backbone.max_retries=0",
    )
    server = VLLMServer(cfg)
    request = Request(
        messages=(ChatMessage(role="user", content="hello"),),
        temperature=0.0,
        max_tokens=8,
        sample_index=(),
    )
    try:
        with pytest.raises(ServerUnavailable, match=r"serve_backbone\.py backbone=qwen3_8b`"):
            await server.generate(request)
    finally:
        await server.close()


def test_what_no_client_could_use_is_refused_together(configured):
    cfg = configured(
        "qwen3_8b",
        "backbone.base_url=https://h/x",
        "backbone.serve.build=smollm2_135m",
        "backbone.serve.max_model_len=1024",
        "backbone.serve.extra_args=[--port,80,'--api-key=x','--structured-outputs-config.backend=a']",
    )
    with pytest.raises(ConfigError) as caught:
        check_serve(cfg)
    assert [fault.partition(";")[0] for fault in caught.value.faults] == [
        "base_url: got https://h/x",
        "serve.build: smollm2_135m is made in a folder",
        "serve.max_model_len: got 1024, and prompts are trimmed to fit "
        "backbone.context_tokens=32768",
        "serve.extra_args: --api-key cannot be set here",
        "serve.extra_args: --port cannot be set here",
        "serve.extra_args: --structured-outputs-config cannot be set here",
    ]


def test_vllm_is_imported_by_the_one_file_that_is_its_command():
    importing = set()
    for path in (ROOT / "sero").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if any(name.split(".")[0] == "vllm" for name in names):
                importing.add(path.name)
    assert importing == {"vllm_cpu.py"}


def test_the_client_loads_neither_vllm_nor_torch():
    code = (
        "import sys, sero, sero.backbones.vllm_server, sero.backbones.vllm_program;"
        "print(sorted({'vllm', 'torch', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

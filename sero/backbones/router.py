"""Several servers of one model behind vllm-router: still one address for the client.

vllm-router is a program of its own and never imported. Flags are those of vllm-router 0.1.17.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from annotated_types import Gt
from yarl import URL

from sero.backbones.openai_server import OpenAIServer
from sero.backbones.server_config import OpenAIServerConfig
from sero.backbones.vllm_server import Command
from sero.errors import ConfigError, UserError

SESSION_HEADERS = ("x-session-id", "x-user-id", "x-tenant-id", "x-correlation-id")
"""What the router hashes, in this order of preference."""

INSTALL = 'pip install -e ".[router]"'


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteConfig:
    """How `scripts/serve_backbone.py` starts the router.

    Nothing here changes an answer: every worker serves the same weights.

    Attributes:
        workers: addresses of the servers, without a path.
        policy: `consistent_hash` keeps what carries one session header on one worker.
        check_interval_s: between two looks at a worker's health.
        request_timeout_s: for one attempt at one worker; the client's own deadline is `timeout_s`.
        ready_timeout_s: until the first worker must be healthy.
    """

    workers: tuple[str, ...]
    policy: Literal["consistent_hash", "cache_aware", "power_of_two", "round_robin"]
    check_interval_s: Annotated[int, Gt(0)]
    request_timeout_s: Annotated[int, Gt(0)]
    ready_timeout_s: Annotated[float, Gt(0)]
    extra_args: tuple[str | int | float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutedServerConfig(OpenAIServerConfig):
    """A client's configuration, and how the router it talks to is started."""

    route: RouteConfig


class RoutedServer(OpenAIServer):
    """`backbone=qwen3_8b_fleet`: the client, unchanged; `route` is read by the script."""

    Config: ClassVar[type[RoutedServerConfig]] = RoutedServerConfig


def find_router() -> tuple[str, ...]:
    """The router's program: beside this interpreter, else on PATH.

    Raises:
        UserError: it is not installed; the message says how to install it.
    """
    beside = Path(sys.executable).with_name("vllm-router")
    found = str(beside) if beside.exists() else shutil.which("vllm-router")
    if found is None:
        raise UserError(f"vllm-router is not installed in this environment; {INSTALL} brings it.")
    return (found,)


def check_route(cfg: RoutedServerConfig) -> None:
    """Find what would start a router that cannot do its work.

    Raises:
        ConfigError: with every fault.
    """
    route, url = cfg.route, URL(cfg.base_url)
    faults = []
    if url.scheme != "http" or url.path.rstrip("/") != "/v1":
        faults.append(f"base_url: got {cfg.base_url}; the router is started at http://HOST:PORT/v1")
    if not route.workers:
        faults.append(
            "route.workers: none; give the servers' addresses, such as "
            '\'backbone.route.workers=["http://node1:8000","http://node2:8000"]\''
        )
    for worker in route.workers:
        if not _is_address(worker):
            faults.append(f"route.workers: got {worker}; an address such as http://node1:8000")
    if len(set(route.workers)) < len(route.workers):
        faults.append("route.workers: one of them stands there twice")
    header = cfg.session_header
    if route.policy == "consistent_hash" and (header or "").lower() not in SESSION_HEADERS:
        faults.append(
            f"session_header: got {header}; route.policy=consistent_hash hashes "
            f"{', '.join(SESSION_HEADERS)}"
        )
    if faults:
        raise ConfigError(f"backbone={cfg.name}", faults)


def route_command(cfg: RoutedServerConfig, program: Sequence[str]) -> Command:
    """The command that joins the workers at `cfg.base_url`.

    A worker that goes is left out once a request to it failed or two looks at it did; it returns
    by itself. What fails meanwhile is answered 5xx, which the client tries again.

    Args:
        cfg: checked by `check_route`.
        program: words that call vllm-router.
    """
    route, url = cfg.route, URL(cfg.base_url)
    words: list[str | int | float] = [
        *program,
        *("--host", str(url.host), "--port", str(url.port)),
        *("--worker-urls", *(worker.rstrip("/") for worker in route.workers)),
        *("--policy", route.policy),
        *("--worker-startup-timeout-secs", round(route.ready_timeout_s)),
        *("--worker-startup-check-interval", min(5, route.check_interval_s)),
        *("--health-check-interval-secs", route.check_interval_s),
        *("--health-failure-threshold", 2),
        *("--request-timeout-secs", route.request_timeout_s),
        *("--log-level", "warning"),
        *route.extra_args,
    ]
    return Command(argv=tuple(map(str, words)), env={})


def _is_address(text: str) -> bool:
    try:
        url = URL(text)
    except ValueError:
        return False
    return url.scheme in ("http", "https") and bool(url.host) and url.path in ("", "/")

"""The router's command, and what is wrong with a fleet before it starts."""

from pathlib import Path

import pytest

from sero.backbones.router import RoutedServer, RoutedServerConfig, check_route, route_command
from sero.config import composer
from sero.config.backbone_alone import compose_backbone
from sero.errors import ConfigError

CONF = Path(__file__).resolve().parents[2] / "conf"
TWO = 'backbone.route.workers=["http://node1:8000","http://node2:8000/"]'


def fleet(*overrides: str) -> RoutedServerConfig:
    part = compose_backbone(CONF, ["backbone=qwen3_8b_fleet", *overrides]).backbone
    assert part.target is RoutedServer
    return part.config


def test_the_command():
    cfg = fleet(TWO)
    check_route(cfg)
    assert " ".join(route_command(cfg, ("vllm-router",)).argv) == (
        "vllm-router --host 127.0.0.1 --port 30000"
        " --worker-urls http://node1:8000 http://node2:8000"
        " --policy consistent_hash"
        " --worker-startup-timeout-secs 1800 --worker-startup-check-interval 5"
        " --health-check-interval-secs 10 --health-failure-threshold 2"
        " --request-timeout-secs 600 --log-level warning"
    )


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ((), "route.workers: none"),
        (('backbone.route.workers=["node1:8000"]',), "route.workers: got node1:8000"),
        (('backbone.route.workers=["http://n:8/v1"]',), "route.workers: got http://n:8/v1"),
        (('backbone.route.workers=["http://n:8","http://n:8"]',), "stands there twice"),
        ((TWO, "backbone.session_header=null"), "session_header: got None"),
        ((TWO, "backbone.session_header=X-Role"), "session_header: got X-Role"),
        ((TWO, "backbone.base_url=https://n/v1"), "base_url: got https://n/v1"),
    ],
)
def test_faults_before_the_start(overrides, said):
    with pytest.raises(ConfigError) as error:
        check_route(fleet(*overrides))
    assert said in str(error.value)


def test_another_policy_needs_no_header():
    check_route(fleet(TWO, "backbone.session_header=null", "backbone.route.policy=cache_aware"))


def test_a_fleet_shares_the_stored_answers_of_one_server():
    """Who computed an answer is not in its key: the same model, revision and template."""
    with composer(CONF, "train") as composing:
        one, many = (
            composing.compose([f"backbone={name}", "encoder=hashing", "benchmark=toy"]).config
            for name in ("qwen3_8b", "qwen3_8b_fleet")
        )
    keys = ("model", "revision", "chat_template_kwargs", "extra_body", "schema_style")
    assert {key: one.backbone[key] for key in keys} == {key: many.backbone[key] for key in keys}

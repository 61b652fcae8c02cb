import pytest

from sero.evolution.contracts import static_contracts
from sero.roles.load import pool_from_data


def test_a_sound_pool_passes(sero, tmp_path, cards, write_pool):
    found = sero("pool", "lint", write_pool(tmp_path / "pool.yaml", cards))
    assert found.code == 0
    assert "3 cards, families solving, checking, answering" in found.out
    names = [contract.name for contract in static_contracts(pool_from_data(cards, where="x"))]
    assert [line.strip() for line in found.out.splitlines()[1:]] == [f"{n}: ok" for n in names]
    assert len(names) == 5


def test_every_card_fault_at_once(sero, tmp_path, cards, write_pool):
    cards[0] |= {"role_type": "critic", "protcted": True}
    del cards[1]["capability_family"]
    cards[2]["system_prompt"] = []
    found = sero("pool", "lint", write_pool(tmp_path / "pool.yaml", cards))
    assert found.code == 2
    assert "4 problem(s)" in found.err
    assert "solver.role_type: got 'critic'" in found.err
    assert "solver.protcted: unknown field; did you mean 'protected'?" in found.err
    assert "checker.capability_family: missing" in found.err
    assert "scribe.system_prompt" in found.err


def test_credit_blocks_are_checked_too(sero, tmp_path, cards, write_pool):
    cards[0]["credit"] = {"ema": "x", "emma": 0.1, "n_updates": -3}
    found = sero("pool", "lint", write_pool(tmp_path / "pool.yaml", cards))
    assert found.code == 2
    assert "3 problem(s)" in found.err
    assert "solver.credit.emma: unknown field; did you mean 'ema'?" in found.err


def test_broken_contracts_are_faults(sero, tmp_path, cards, write_pool):
    cards[2]["protected"] = False
    del cards[1]
    found = sero("pool", "lint", write_pool(tmp_path / "pool.yaml", cards))
    assert found.code == 2
    assert "validation: broken" in found.out
    assert "capability: ok" in found.out
    assert "2 problem(s)" in found.err
    assert "validation: 0 validator(s), at least 1 needed" in found.err
    assert "aggregation: aggregator 'scribe' is not protected" in found.err


@pytest.mark.parametrize(("limit", "code"), [(10, 0), (3, 2)])
def test_the_length_limit_is_an_option(sero, tmp_path, cards, write_pool, limit, code):
    path = write_pool(tmp_path / "pool.yaml", cards)
    assert sero("pool", "lint", path, "--max-prompt-chars", limit).code == code


@pytest.mark.parametrize("text", ["", "roles: 3", "a: [", "\x00", "roles: [1]"])
def test_files_that_hold_no_pool(sero, tmp_path, text):
    path = tmp_path / "pool.yaml"
    path.write_text(text)
    found = sero("pool", "lint", path)
    assert found.code == 2
    assert str(path) in found.err

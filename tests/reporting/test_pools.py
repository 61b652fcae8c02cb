from dataclasses import replace

import pytest

from sero.credit import CreditState, PoolState, RoleCredit
from sero.errors import CardError, UserError
from sero.reporting.pools import (
    commits,
    describe_difference,
    last_episode,
    load_state,
    pool_file,
)
from sero.reporting.records import read_run
from sero.roles.card import RoleCard, RoleType
from sero.roles.pool import RolePool


def card(name, **changes):
    base = RoleCard(
        name=name,
        role_type=RoleType.SPECIALIST,
        capability_family="solving",
        communication_protocol="text",
        system_prompt=("one", "two"),
    )
    return replace(base, **changes)


def state(*cards, credit=None):
    return PoolState(RolePool(cards), CreditState().updated(credit or {}))


@pytest.mark.parametrize(
    ("point", "name"),
    [
        ("0", "seed.yaml"),
        ("seed", "seed.yaml"),
        ("1", "seed.yaml"),
        ("2", "episode_0002.yaml"),
        ("3", "episode_0002.yaml"),  # the latest commit at or before the episode
        ("final", "final.yaml"),
    ],
)
def test_the_pool_at_an_episode(make_run, point, name):
    assert pool_file(make_run(), point, last_episode=3).name == name


@pytest.mark.parametrize("point", ["4", "-1", "two", "٣", "", "99999999999999999999"])
def test_no_such_episode(make_run, point):
    with pytest.raises(UserError, match=r"accepted are 0 .the seed pool. to 3, 'seed' and 'final'"):
        pool_file(make_run(), point, last_episode=3)


def test_missing_pools_say_so(make_run):
    directory = make_run(result=False)
    with pytest.raises(UserError, match="training has not ended"):
        pool_file(directory, "final", last_episode=3)
    (directory / "pool" / "seed.yaml").unlink()
    with pytest.raises(UserError, match=r"no pool/seed\.yaml"):
        pool_file(directory, "1", last_episode=3)
    assert commits(directory.parent) == {}


def test_episodes_sort_by_number_not_by_name(make_run):
    directory = make_run()
    text = (directory / "pool" / "seed.yaml").read_text()
    for name in ("episode_10000.yaml", "episode_9999.yaml", "episode_x.yaml", "notes.txt"):
        (directory / "pool" / name).write_text(text)
    assert list(commits(directory)) == [2, 9999, 10000]
    assert last_episode(read_run(directory).episodes()) == 3


def test_load_state_reads_cards_and_credit(make_run):
    found = load_state(make_run() / "pool" / "seed.yaml")
    assert found.pool.names == ("parser", "solver", "checker", "scribe")
    assert found.credit["solver"] == RoleCredit(
        ema=0.01, loo=0.02, fast=0.5, n_updates=1, n_bonus=1
    )
    assert found.credit["parser"] == RoleCredit()


def test_load_state_names_damage(make_run, tmp_path):
    path = make_run() / "pool" / "seed.yaml"
    text = path.read_text()
    path.write_text(text.replace("n_bonus: 1", "n_bones: 1"))
    with pytest.raises(UserError, match="damaged credit block"):
        load_state(path)
    path.write_text(text.replace("role_type: router", "role_type: critic"))
    with pytest.raises(CardError, match="got 'critic'"):
        load_state(path)


def test_equal_pools_do_not_differ():
    assert describe_difference(state(card("a")), state(card("a"))) == []


def test_differences_field_by_field():
    before = state(card("a"), card("b"), card("c"), credit={"c": RoleCredit(ema=0.01)})
    after = state(
        card("c", temperature=0.5, system_prompt=("one", "three"), capability_tags=("x", "y")),
        card("b"),
        card("d", parent="c", protected=True),
        credit={"c": RoleCredit(ema=0.028, n_updates=1)},
    )
    assert describe_difference(before, after) == [
        "- a (specialist, solving)",
        "~ c.capability_tags: [] -> [x, y]",
        "~ c.system_prompt:",
        "      - two",
        "      + three",
        "~ c.temperature: 0 -> 0.5",
        "~ c.credit.ema: 0.01 -> 0.028",
        "~ c.credit.n_updates: 0 -> 1",
        "+ d (specialist, solving, protected, from c)",
        "      one",
        "      two",
        "~ order: a, b, c -> c, b, d",
    ]

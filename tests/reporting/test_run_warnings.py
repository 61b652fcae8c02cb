from dataclasses import replace

import pytest

from sero.evolution.sections import EarlyStopConfig
from sero.reporting.diagnostics import Acceptance, Diagnostics, Part
from sero.reporting.run_warnings import full_from_the_start, run_warnings

STOP = EarlyStopConfig(enabled=True, window=24, threshold=0.85, min_episodes=24, one_pass=False)
PART = Part(
    first=1,
    last=400,
    reward=0.01,
    reward_sd=0.1,
    acceptance=0.1,
    entropy=0.8,
    baseline=0.0,
    pool_size=9,
    family_share=0.3,
    zero_std=0.2,
    at_p_max=0.1,
)
FINE = Diagnostics(
    episodes=400,
    main_changed=(True, False) * 170,
    acceptance=(Acceptance(phase="main", action="add", proposed=10, committed=1),),
    reasons=(),
    parts=(PART,),
    whole=PART,
    actions={"add": 30, "noop": 70},
    learns=True,
    gradient_steps=50,
    n_operations=3,
    p_max=12,
    early_stop=STOP,
    planned=400,
    n_train=40,
    unseen={"short": 39},
    credit_rank=0.5,
    foresight=(0.1,),
    harmful=None,
    seeds=3,
)


def codes(**changes):
    return [warning.code for warning in run_warnings(replace(FINE, **changes))]


def part(**changes):
    changed = replace(PART, **changes)
    return {"parts": (PART, changed), "whole": changed}


def test_a_sound_run_has_no_warning():
    assert codes() == []


def test_a_run_without_episodes_has_none_either():
    assert codes(episodes=0, gradient_steps=0, seeds=1, parts=(), whole=None) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # 10 % of ln 3 = 0.1099 nats
        (part(entropy=0.109), ["policy_collapsed"]),
        (part(entropy=0.111), []),
        (part(entropy=None), []),
        ({"actions": {"noop": 96, "add": 4}}, ["policy_collapsed"]),
        ({"actions": {"noop": 95, "add": 5}}, []),
        # a handful of equal draws is chance: from 20 on it is not
        ({"actions": {"add": 19}}, []),
        ({"actions": {"add": 20}}, ["policy_collapsed"]),
        # whoever does not learn has no policy to collapse, and no steps to count
        ({"actions": {"noop": 100}, "learns": False, "gradient_steps": 0}, []),
        ({"gradient_steps": 49}, ["few_gradient_steps"]),
        (part(at_p_max=0.51), ["no_free_places"]),
        (part(at_p_max=0.5), []),
        (part(at_p_max=None), []),
        (part(zero_std=0.51), ["degenerate_batches"]),
        (part(zero_std=0.5), []),
        ({"unseen": {"a": 40, "b": 39}}, ["newcomers_unseen"]),
        ({"seeds": 1}, ["one_seed"]),
        ({"seeds": None}, []),
    ],
)
def test_each_warning_at_its_threshold(changes, expected):
    assert codes(**changes) == expected


@pytest.mark.parametrize(
    ("changed", "episodes", "stop", "fired"),
    [
        # 21 of 24 unchanged stops at the first chance, 20 of 24 does not (.833 ≤ .85)
        ([True] * 3 + [False] * 21, 104, STOP, True),
        ([True] * 4 + [False] * 20, 104, STOP, False),
        ([False] * 25, 105, STOP, False),  # it had been tested before
        ([False] * 24, 400, STOP, False),  # training was over anyway
        ([False] * 24, 104, replace(STOP, enabled=False), False),
        ([False] * 40, 120, replace(STOP, one_pass=True), True),  # one pass is 40 tasks
        ([False] * 40, 120, replace(STOP, min_episodes=40), True),
        ([False] * 24, 104, None, False),
    ],
)
def test_early_stop_at_its_first_chance(changed, episodes, stop, fired):
    found = codes(main_changed=tuple(changed), episodes=episodes, early_stop=stop)
    assert found == (["early_stop_at_once"] if fired else [])


def test_every_warning_is_one_safe_line_with_advice(evil):
    everything = replace(
        FINE,
        **part(entropy=0.0, at_p_max=1.0, zero_std=1.0),
        main_changed=(False,) * 24,
        episodes=104,
        gradient_steps=3,
        unseen={f"{i}{evil}": 60 for i in range(8)},
        seeds=1,
    )
    found = run_warnings(everything)
    assert [warning.code for warning in found] == [
        "policy_collapsed",
        "early_stop_at_once",
        "no_free_places",
        "newcomers_unseen",
        "few_gradient_steps",
        "degenerate_batches",
        "one_seed",
    ]
    for warning in found:
        assert warning.advice
        assert "\n" not in warning.line
        assert "\x1b" not in warning.line
        assert "\u202e" not in warning.line
    assert "and 3 more" in found[3].line


def test_a_full_seed_pool_is_known_before_the_first_call():
    assert full_from_the_start(9, 10) is None
    warning = full_from_the_start(10, 10)
    assert warning is not None
    assert warning.code == "no_free_places"
    assert "pool.p_max to 14" in warning.advice

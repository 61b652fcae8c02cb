"""The rules of §7 seen through texts, as frequencies over many cases (four standard deviations)."""

from dataclasses import replace

import pytest

from sero.inference.peers import rating_sheet, read_ratings
from sero.skillworld.cards import seed_pool
from sero.skillworld.sheet import Kind, Truth
from sero.skillworld.text import (
    case_prompt,
    read_answer,
    read_message,
    signs_of,
    write_answer,
    write_message,
    write_setup,
)

SPEAKERS = {
    "good": Truth(kind=Kind.GOOD, family=0),
    "medium": Truth(kind=Kind.MEDIUM, family=0),
    "harmful": Truth(kind=Kind.HARMFUL, family=0),
    "distractor": Truth(kind=Kind.DISTRACTOR, family=0),
}


def stated(case, k, sign):
    """A message of somebody who states one fact."""
    signs = [sign if other == k else 0 for other in case.required]
    return write_message("aaaaaaaaaaaa", case, signs)


def counts(values):
    return [sum(v == sign for v in values) for sign in (1, -1, 0)]


@pytest.mark.parametrize(
    ("kind", "own", "elsewhere"),
    [
        ("good", (0.85, 0.03), (0.03, 0.02)),
        ("medium", (0.45, 0.12), (0.03, 0.02)),
        ("harmful", (0.10, 0.55), (0.03, 0.12)),
        ("distractor", (0.05, 0.30), (0.05, 0.30)),
    ],
)
def test_unaided_messages(kind, own, elsewhere, cases, card, say, tools):
    speaker = card(SPEAKERS[kind])
    said = [say(speaker, case) for case in cases]
    for k, (p, w) in ((0, own), (4, elsewhere)):
        values = [s[c.required.index(k)] for s, c in zip(said, cases, strict=True)]
        right, wrong, silent = counts(values)
        assert tools.likely(right, len(cases), p)
        assert tools.likely(wrong, len(cases), w)
        assert tools.likely(silent, len(cases), 1 - p - w)


@pytest.mark.parametrize(
    ("kind", "p"),
    [
        ("good", 0.88),  # 0.85 + 0.20 * 0.15
        ("medium", 0.56),  # 0.45 + 0.20 * 0.55
        ("harmful", 0.10),  # not above 0.1: no help
    ],
)
def test_a_setup_message_helps(kind, p, world, cases, card, say, tools):
    router = seed_pool(world, noise=0.0)["router"]
    code = router.prompt_text.split()[-1].rstrip(".")
    speaker = card(SPEAKERS[kind])
    values = [
        say(speaker, case, [write_setup(code, case)])[case.required.index(0)] for case in cases
    ]
    assert tools.likely(counts(values)[0], len(cases), p)
    unaided = [say(speaker, case)[case.required.index(0)] for case in cases[:300]]
    assert unaided == [
        say(speaker, case, [write_setup("aaaaaaaaaaaa", case)])[case.required.index(0)]
        for case in cases[:300]
    ]  # without a router's sheet it is a message like any other


@pytest.mark.parametrize(
    ("sign", "p", "w"),
    [
        (1, 0.5875, 0.12),  # 0.45 + 0.25 * 0.55
        (-1, 0.2925, 0.2775),  # 35 % of 0.45 = 0.1575 moves from right to wrong
    ],
)
def test_the_prerequisite_helps_or_poisons(sign, p, w, cases, card, say, tools):
    speaker = card(SPEAKERS["medium"])
    behind = [case for case in cases if case.required.index(0) > 0]
    values = []
    for case in behind:
        i = case.required.index(0)
        values.append(say(speaker, case, [stated(case, case.required[i - 1], sign)])[i])
    right, wrong, _ = counts(values)
    assert tools.likely(right, len(behind), p)
    assert tools.likely(wrong, len(behind), w)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_missing_fact_is_relayed(sign, cases, card, say, tools):
    speaker = card(SPEAKERS["good"])  # unaided on c4: 0.03 right, 0.02 wrong, 0.95 silent
    first = [case for case in cases if case.required[0] == 4]  # no prerequisite before c4
    values = [say(speaker, case, [stated(case, 4, sign)])[0] for case in first]
    copied = 0.95 * 0.6 + (0.03 if sign > 0 else 0.02)
    assert tools.likely(values.count(sign), len(first), copied)
    tied = [say(speaker, case, [stated(case, 4, 1), stated(case, 4, -1)])[0] for case in first]
    assert tools.likely(tied.count(0), len(first), 0.95)  # net 0: nothing to copy


def test_a_validator_of_the_team_only_relays(cases, card, say, tools):
    validator = card(Truth(kind=Kind.VALIDATOR))
    assert all(say(validator, case) == [0, 0, 0] for case in cases[:200])
    values = [say(validator, case, [stated(case, 0, 1)]) for case in cases]
    kept = [v[c.required.index(0)] for v, c in zip(values, cases, strict=True)]
    assert tools.likely(kept.count(1), len(cases), 0.6)
    assert {s for v in values for s in v} == {0, 1}


def test_a_router_states_no_fact(cases, card, tools):
    backbone, router = tools.backbone(), card(Truth(kind=Kind.ROUTER))
    for case in cases[:50]:
        upstream = [tools.sent(router, write_message("aaaaaaaaaaaa", case, [1, 1, 1]))]
        text = tools.ask(backbone, router, case_prompt(case), upstream).text
        assert read_message(text).facts == {}
        assert "Setup:" in text


@pytest.mark.parametrize("code", ["qqqqqqqqqqqq", "damaged"])
def test_an_unreadable_sheet_knows_next_to_nothing(code, cases, card, say, tools):
    good = card(SPEAKERS["good"])
    true = good.prompt_text.split()[-1].rstrip(".")
    lost = replace(good, system_prompt=tuple(s.replace(true, code) for s in good.system_prompt))
    values = [s for case in cases for s in say(lost, case)]
    right, wrong, _ = counts(values)
    assert tools.likely(right, len(values), 0.03)
    assert tools.likely(wrong, len(values), 0.02)


# ---- the terminal role


@pytest.fixture
def answer(world, tools):
    """The aggregator's facts as signs; every required fact must be there."""
    backbone, pool = tools.backbone(), seed_pool(world, noise=0.0)

    def signs(case, messages, suffix=""):
        upstream = [tools.sent(pool["seed-0"], text) for text in messages]
        reply = tools.ask(backbone, pool.terminal, case_prompt(case), upstream, suffix=suffix)
        facts = read_answer(reply.text)
        assert tuple(facts) == case.required
        return signs_of(facts, case)

    return signs


def test_the_answer_follows_the_net_vote(cases, answer):
    for case in cases[:100]:
        messages = [
            write_message("aaaaaaaaaaaa", case, signs)
            for signs in ([1, -1, 1], [1, -1, -1], [0, 0, 1])
        ]
        assert answer(case, messages) == [1, -1, 1]


def test_ties_are_coins_and_silence_is_a_guess(cases, answer, tools):
    tie, silence = [], []
    for case in cases:
        messages = [write_message("aaaaaaaaaaaa", case, signs) for signs in ([1, 0, 0], [-1, 0, 0])]
        signs = answer(case, messages)
        tie.append(signs[0])
        silence += signs[1:]
    assert tools.likely(tie.count(1), len(tie), 0.5)
    assert tools.likely(silence.count(1), len(silence), 0.1)
    assert set(tie) == set(silence) == {1, -1}


def test_the_second_answer_takes_the_report_over_the_draft(world, cases, answer, tools):
    validator = seed_pool(world, noise=0.0)["validator"]
    for case in cases[:100]:
        draft = write_answer("aaaaaaaaaaaa", case, [case.right[0], case.wrong[1], case.wrong[2]])
        report = f"VERDICT: revise\nSheet x, case {case.id}\nc{case.required[2]} = {case.right[2]}"
        votes = [write_message("aaaaaaaaaaaa", case, [-1, 1, -1])]
        suffix = tools.revise_suffix(draft, validator, report)
        assert answer(case, votes, suffix) == [1, -1, 1]


# ---- the validator's pass


@pytest.fixture
def report(world, tools):
    """(first line, the facts changed as signs) of a check."""
    backbone, pool = tools.backbone(), seed_pool(world, noise=0.0)

    def checked(case, draft_signs, messages):
        values = [
            right if sign > 0 else wrong
            for sign, right, wrong in zip(draft_signs, case.right, case.wrong, strict=True)
        ]
        upstream = [
            tools.sent(pool["seed-0"], write_message("aaaaaaaaaaaa", case, signs))
            for signs in messages
        ]
        suffix = tools.check_suffix(write_answer("aaaaaaaaaaaa", case, values))
        text = tools.ask(
            backbone, pool["validator"], case_prompt(case), upstream, suffix=suffix
        ).text
        return text.splitlines()[0], signs_of(read_message(text).facts, case)

    return checked


def test_a_wrong_fact_somebody_had_right_is_found_half_the_time(cases, report, tools):
    found = 0
    for case in cases:
        verdict, changes = report(case, [-1, 1, 1], [[1, 0, 0], [-1, 0, 0]])
        assert changes[0] in (0, 1)
        found += changes[0]
        assert verdict == ("VERDICT: revise" if any(changes) else "VERDICT: ok")
    assert tools.likely(found, len(cases), 0.5)


def test_a_wrong_fact_nobody_had_right_stays(cases, report):
    for case in cases[:300]:
        assert report(case, [-1, -1, -1], [[-1, 0, 0]]) == ("VERDICT: ok", [0, 0, 0])


def test_a_right_fact_is_broken_in_two_of_a_hundred(cases, report, tools):
    broken = [change for case in cases for change in report(case, [1, 1, 1], [[1, 1, 1]])[1]]
    assert set(broken) == {0, -1}
    assert tools.likely(broken.count(-1), len(broken), 0.02)


# ---- ratings of others' drafts


@pytest.fixture
def rate(tools):
    """rate(card, case, drafts): the card's ratings of drafts, in the order given."""
    backbone = tools.backbone()

    def ratings(rater, case, drafts, **options):
        sheet, _ = rating_sheet(drafts, max_chars=None)
        reply = tools.ask(backbone, rater, case_prompt(case), suffix=sheet, **options).text
        return read_ratings(reply, len(drafts))

    return ratings


@pytest.mark.parametrize("kind", ["good", "harmful"])
def test_a_rating_follows_the_raters_own_facts_right_or_wrong(kind, cases, card, say, rate):
    """No truth leaks: a rater that is wrong rates who is wrong as it is above who is right."""
    rater, wrong_too = card(SPEAKERS[kind]), 0
    for case in cases[:300]:
        own = say(rater, case)
        stated = sum(sign != 0 for sign in own)
        drafts = [
            write_message("aaaaaaaaaaaa", case, own),
            write_message("aaaaaaaaaaaa", case, [-sign for sign in own]),
            write_message("aaaaaaaaaaaa", case, [int(sign == 0) for sign in own]),
            write_setup("aaaaaaaaaaaa", case),
        ]
        assert rate(rater, case, drafts) == [min(5, 3 + stated), max(1, 3 - stated), 3, 3]
        wrong_too += -1 in own
    assert wrong_too > (100 if kind == "harmful" else 0)


@pytest.mark.parametrize("kind", [Kind.ROUTER, Kind.VALIDATOR])
def test_who_finds_nothing_rates_all_alike(kind, cases, card, rate):
    rater = card(Truth(kind=kind))
    for case in cases[:50]:
        drafts = [write_message("aaaaaaaaaaaa", case, [sign] * 3) for sign in (1, -1)]
        assert rate(rater, case, drafts) == [3, 3]


def test_at_a_temperature_a_rating_is_a_function_of_its_request(cases, card, rate):
    rater = card(SPEAKERS["medium"], noise=0.5)
    drafts = {c.id: [write_message("aaaaaaaaaaaa", c, [1, 1, 1])] for c in cases[:200]}
    first, again, other = (
        [rate(rater, case, drafts[case.id], sample_index=(i,)) for case in cases[:200]]
        for i in (0, 0, 1)
    )
    assert first == again
    assert first != other

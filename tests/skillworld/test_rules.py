import pytest

from sero.skillworld import rules

NEVER = (1.0, 1.0, 1.0)  # a relay draw that copies nothing


@pytest.mark.parametrize(
    ("p", "w", "net", "setup", "u", "relay", "signs"),
    [
        # unaided: right below p, wrong above 1 - w, else silent
        ((0.85,), (0.03,), (0,), False, (0.84,), NEVER, [1]),
        ((0.85,), (0.03,), (0,), False, (0.86,), NEVER, [0]),
        ((0.85,), (0.03,), (0,), False, (0.98,), NEVER, [-1]),
        # a Setup message: 0.85 + 0.20 * 0.15 = 0.88
        ((0.85,), (0.03,), (0,), True, (0.879,), NEVER, [1]),
        ((0.85,), (0.03,), (0,), True, (0.881,), NEVER, [0]),
        # not for a competence of 0.1 or below: 0.10 stays 0.10
        ((0.10,), (0.55,), (0,), True, (0.101,), NEVER, [0]),
        # prerequisite known upstream: 0.45 + 0.25 * 0.55 = 0.5875, and only from position 1 on
        ((0.45, 0.45), (0.0, 0.0), (1, 0), False, (0.46, 0.587), NEVER, [0, 1]),
        ((0.45, 0.45), (0.0, 0.0), (1, 0), False, (0.46, 0.588), NEVER, [0, 0]),
        ((0.03, 0.10), (0.0, 0.0), (1, 0), False, (0.5, 0.101), NEVER, [0, 0]),
        # both boosts: 0.88 + 0.25 * 0.12 = 0.91
        ((0.85, 0.85), (0.03, 0.03), (2, 0), True, (0.5, 0.909), NEVER, [1, 1]),
        ((0.85, 0.85), (0.03, 0.03), (2, 0), True, (0.5, 0.911), NEVER, [1, 0]),
        # prerequisite wrong upstream: 35 % of 0.85 moves, p = 0.5525, w = 0.3275
        ((0.0, 0.85), (0.0, 0.03), (-1, 0), False, (0.5, 0.552), NEVER, [0, 1]),
        ((0.0, 0.85), (0.0, 0.03), (-1, 0), False, (0.5, 0.553), NEVER, [0, 0]),
        ((0.0, 0.85), (0.0, 0.03), (-1, 0), False, (0.5, 0.672), NEVER, [0, 0]),
        ((0.0, 0.85), (0.0, 0.03), (-1, 0), False, (0.5, 0.673), NEVER, [0, -1]),
        # a missing fact is copied with the sign of the net votes; a found one is kept
        ((0.0, 0.0, 0.5), (0.0,) * 3, (3, -1, -1), False, (0.5, 0.5, 0.1), (0.59,) * 3, [1, -1, 1]),
        ((0.0, 0.0, 0.0), (0.0,) * 3, (3, -1, 0), False, (0.5,) * 3, (0.61, 0.61, 0.0), [0, 0, 0]),
    ],
)
def test_speak(p, w, net, setup, u, relay, signs):
    assert rules.speak(p, w, net, setup=setup, u=u, relay=relay[: len(p)]) == signs


@pytest.mark.parametrize(
    ("messages", "u", "answer"),
    [
        ([[1, -1, 1], [1, -1, -1], [0, 0, 1]], (0.99, 0.0, 0.99), [1, -1, 1]),  # net 2, -2, 1
        ([[1], [-1]], (0.49,), [1]),  # a tie is a coin
        ([[1], [-1]], (0.51,), [-1]),
        ([[0], [0]], (0.09,), [1]),  # silence is a guess
        ([[0], [0]], (0.11,), [-1]),
        ([], (0.09, 0.11), [1, -1]),
    ],
)
def test_vote(messages, u, answer):
    assert rules.vote(messages, u=u) == answer


@pytest.mark.parametrize(
    ("draft", "messages", "detect", "alarm", "checked"),
    [
        ([-1], [[1], [-1]], (0.49,), (1.0,), [1]),  # wrong, said right once, detected
        ([-1], [[1], [-1]], (0.51,), (1.0,), [-1]),
        ([-1], [[-1], [0]], (0.0,), (1.0,), [-1]),  # nobody said it right
        ([0], [[1]], (0.0,), (1.0,), [1]),  # a fact the draft lacks is not right
        ([1], [[1]], (0.0,), (0.019,), [-1]),  # a false alarm
        ([1], [[1]], (0.0,), (0.021,), [1]),
    ],
)
def test_check(draft, messages, detect, alarm, checked):
    assert rules.check(draft, messages, detect=detect, alarm=alarm) == checked


@pytest.mark.parametrize(
    ("own", "draft", "rating"),
    [
        ({}, {0: "1", 1: "2"}, 3),  # the rater has nothing to compare
        ({0: "1"}, {}, 3),
        ({0: "1"}, {1: "2"}, 3),
        ({0: "1", 1: "2"}, {0: "1"}, 4),
        ({0: "1", 1: "2"}, {0: "9"}, 2),
        ({0: "1", 1: "2"}, {0: "1", 1: "9"}, 3),
        ({0: "1", 1: "2", 2: "3"}, {0: "1", 1: "2", 2: "3"}, 5),  # three agreements, 5 is the most
        ({0: "1", 1: "2", 2: "3"}, {0: "7", 1: "8", 2: "9"}, 1),
    ],
)
def test_rate(own, draft, rating):
    assert rules.rate(own, draft) == rating


def test_net_votes():
    assert rules.net_votes([[1, 0, -1], [1, -1, -1]], 3) == [2, -1, -2]
    assert rules.net_votes([], 3) == [0, 0, 0]


def test_reroll_replaces_draws_whose_coin_falls():
    assert rules.reroll([0.1, 0.2], [0.29, 0.31], [0.8, 0.9], rate=0.3) == [0.8, 0.2]
    assert rules.reroll([0.1, 0.2], [0.0, 0.0], [0.8, 0.9], rate=0.0) == [0.1, 0.2]

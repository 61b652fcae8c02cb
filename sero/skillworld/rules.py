"""How messages, answers and checks come about (method.md §7): pure rules on signs and uniforms.

A sign says what is stated of one required fact: 1 the right value, -1 a wrong one, 0 nothing.
Positions run over Q in the order of prerequisites.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

SETUP_BOOST = 0.20
PREREQUISITE_BOOST = 0.25
POISON = 0.35
RELAY = 0.6
ABLE = 0.1
"""Only a competence above this is helped by a Setup message or a known prerequisite."""
TIE = 0.5
GUESS = 0.1
DETECT = 0.5
FALSE_ALARM = 0.02


def net_votes(messages: Sequence[Sequence[int]], n: int) -> list[int]:
    """Sum of the signs over messages, per position."""
    return [sum(signs[i] for signs in messages) for i in range(n)]


def speak(
    right: Sequence[float],
    wrong: Sequence[float],
    net: Sequence[int],
    *,
    setup: bool,
    u: Sequence[float],
    relay: Sequence[float],
) -> list[int]:
    """The signs of a specialist's message.

    Args:
        right: p of each required fact.
        wrong: w of each required fact.
        net: net votes of the upstream messages, zeros without any.
        setup: a Setup message is upstream.
        u: uniforms that decide what the role finds: below p right, above 1 - w wrong.
        relay: uniforms that decide whether a missing fact is copied from upstream.
    """
    signs = []
    for i, (p, w) in enumerate(zip(right, wrong, strict=True)):
        if setup and p > ABLE:
            p += SETUP_BOOST * (1.0 - p)
        before = net[i - 1] if i else 0
        if before > 0 and p > ABLE:
            p += PREREQUISITE_BOOST * (1.0 - p)
        elif before < 0:
            moved = POISON * p
            p -= moved
            w += moved
        sign = 1 if u[i] < p else -1 if u[i] > 1.0 - w else 0
        if sign == 0 and net[i] and relay[i] < RELAY:
            sign = 1 if net[i] > 0 else -1
        signs.append(sign)
    return signs


def vote(messages: Sequence[Sequence[int]], *, u: Sequence[float]) -> list[int]:
    """The aggregator's answer, ±1 per position: the net vote of all messages.

    A tie of messages that spoke is right with probability 0.5, silence with 0.1.
    """
    net = net_votes(messages, len(u))
    answer = []
    for i, total in enumerate(net):
        if total == 0:
            spoken = any(signs[i] for signs in messages)
            total = 1 if u[i] < (TIE if spoken else GUESS) else -1
        answer.append(1 if total > 0 else -1)
    return answer


def check(
    draft: Sequence[int],
    messages: Sequence[Sequence[int]],
    *,
    detect: Sequence[float],
    alarm: Sequence[float],
) -> list[int]:
    """The validator's view of a draft, ±1 per position.

    A fact that is not right becomes right with probability 0.5 if a message has it right; a right
    one becomes wrong with probability 0.02.
    """
    checked = []
    for i, sign in enumerate(draft):
        if sign > 0:
            checked.append(-1 if alarm[i] < FALSE_ALARM else 1)
        else:
            said = any(signs[i] > 0 for signs in messages)
            checked.append(1 if said and detect[i] < DETECT else -1)
    return checked


def rate(own: Mapping[int, str], draft: Mapping[int, str]) -> int:
    """A peer's rating of a draft, 1 to 5: by its agreement with what the rater finds itself.

    3, one more for each fact on which both state the same value, one less for each on which they
    state different ones. What only one of them states says nothing.
    """
    both = own.keys() & draft.keys()
    agreed = sum(own[k] == draft[k] for k in both)
    return max(1, min(5, 3 + agreed - (len(both) - agreed)))


def reroll(
    fixed: Sequence[float], coins: Sequence[float], fresh: Sequence[float], *, rate: float
) -> list[float]:
    """Sampling noise: each uniform is replaced by a fresh one with probability `rate`."""
    return [new if coin < rate else old for old, coin, new in zip(fixed, coins, fresh, strict=True)]

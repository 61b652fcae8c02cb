"""A day worked by hand: from the Mill at 9:00AM, 10 minutes to the Quay, 20 on to the Park.

Ann is at the Quay from 9:30AM to 11:00AM and takes 45 minutes; Bob is at the Park from 8:00AM to
10:50AM and takes 15; Cleo is at the Tower from 9:00AM to 10:00AM and takes 60, which nobody can
reach in time. Ann until 10:15AM, at the Park 10:35AM, Bob until 10:50AM: two of three.
"""

import random
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.benchmarks.generate.meeting import Day, Friend, best_order, meeting_item, verify

HAND = {
    "prompt_0shot": (
        "You want to meet as many friends as possible.\n\nMinutes on the way:\nMill to Quay: 10.\n"
        "Mill to Park: 25.\nMill to Tower: 5.\nQuay to Mill: 11.\nQuay to Park: 20.\n"
        "Quay to Tower: 9.\nPark to Mill: 26.\nPark to Quay: 21.\nPark to Tower: 30.\n"
        "Tower to Mill: 5.\nTower to Quay: 9.\nTower to Park: 30.\n\nCONSTRAINTS: You arrive at "
        "Mill at 9:00AM. Ann will be at Quay from 9:30AM to 11:00AM, and meeting Ann takes a "
        "minimum of 45 minutes. Bob will be at Park from 8:00AM to 10:50AM, and meeting Bob takes "
        "a minimum of 15 minutes. Cleo will be at Tower from 9:00AM to 10:00AM, and meeting Cleo "
        "takes a minimum of 60 minutes."
    )
}
PLAN = (
    "SOLUTION: You start at Mill at 9:00AM. You travel to Quay in 10 minutes and arrive at 9:10AM. "
    "You wait until 9:30AM. You meet Ann for 45 minutes from 9:30AM to 10:15AM. You travel to Park "
    "in 20 minutes and arrive at 10:35AM. You meet Bob for 15 minutes from 10:35AM to 10:50AM."
)

ITEMS = st.builds(
    lambda seed, difficulty: meeting_item(random.Random(seed), difficulty=difficulty),
    st.integers(0, 10**6),
    st.integers(1, 5),
)


@pytest.mark.parametrize(
    ("response", "valid"),
    [
        (PLAN, True),
        (PLAN.removeprefix("SOLUTION: "), True),
        ("No: SOLUTION: You start at Mill at 9:00AM.\n" + PLAN, True),
        (PLAN.replace("in 10 minutes", "in 1 minutes"), True),  # the prompt's minutes count
        (PLAN + " You travel home.", True),
        (PLAN.partition(" You travel to Park")[0], False),
        (PLAN.replace("until 9:30AM", "until 9:31AM"), False),
        (PLAN.replace("until 9:30AM", "until 9:10AM"), False),
        (PLAN.replace(" You wait until 9:30AM.", ""), False),
        (PLAN.replace("meet Ann for 45", "meet Ann for 44"), False),
        (PLAN.replace("meet Bob", "meet Ann"), False),
        (PLAN.replace("meet Bob", "meet Dora"), False),
        (PLAN.replace("to Park", "to Tower"), False),
        (PLAN.replace("to Park", "to Atlantis"), False),
        ("SOLUTION: You start at Mill at 9:00AM.", False),
        ("", False),
    ],
)
def test_the_verifier_reads_the_prompt(response, valid):
    assert verify(HAND, response) is valid


def test_another_prompt_is_refused():
    with pytest.raises(ValueError, match="names no start"):
        verify({"prompt_0shot": "Whom?"}, PLAN)


def counted(day, order):
    """Whether everybody of the order can be met, by the clock."""
    place, time = day.place, day.time
    for j in order:
        friend = day.friends[j]
        time = max(time + day.ways[place][friend.place], friend.opens) + friend.minutes
        place = friend.place
        if time > friend.closes:
            return False
    return True


@settings(deadline=None, max_examples=80)
@given(data=st.data())
def test_the_best_order_is_the_first_a_slow_loop_finds(data):
    n = data.draw(st.integers(1, 5))
    number = st.integers(1, 40)
    places = ["start", *map(str, range(n))]
    ways = {a: {b: data.draw(number) for b in places if b != a} for a in places}
    friends = []
    for place in places[1:]:
        opens, minutes = data.draw(st.integers(0, 150)), data.draw(number)
        closes = opens + minutes + data.draw(st.integers(-5, 60))
        friends.append(Friend(name=place, place=place, opens=opens, closes=closes, minutes=minutes))
    day = Day(place="start", time=30, friends=tuple(friends), ways=ways)
    orders = [
        order
        for k in range(n, -1, -1)
        for order in permutations(range(n), k)
        if counted(day, order)
    ]
    assert best_order(day) == orders[0]


@settings(deadline=None, max_examples=40)
@given(item=ITEMS)
def test_the_item_is_that_of_its_prompt(item):
    start, *friends = item["constraints"]
    prompt = item["prompt_0shot"]
    assert item["num_people"] == len(friends)
    assert 2 <= len(friends) <= 7
    assert f"You arrive at {start[0]} at {start[1]}." in prompt
    for name, place, window, minutes in friends:
        assert f"{name} will be at {place} from {window}, and meeting {name} takes" in prompt
        assert f"a minimum of {minutes} minutes" in prompt
    for a, row in item["dist_matrix"].items():
        assert a not in row
        assert all(f"\n{a} to {b}: {n}.\n" in prompt for b, n in row.items())
    assert len(item["dist_matrix"]) == len({f[1] for f in friends} | {start[0]}) == len(friends) + 1
    # somebody is met, and somebody is left out
    n_met = sum(step.startswith("You meet") for step in item["golden_plan"])
    assert 0 < n_met < len(friends)


def mutants(item):
    """The gold steps with one field changed, and whether the published code reads that field."""
    steps = item["golden_plan"]
    places = [*item["dist_matrix"], "Elsewhere"]
    people = [*(row[0] for row in item["constraints"][1:]), "Nobody"]
    for i, step in enumerate(steps[1:], 1):
        changed: list[tuple[str, bool]] = []
        if step.startswith("You travel"):
            place = step.removeprefix("You travel to ").partition(" in ")[0]
            changed += [(step.replace(place, p), True) for p in places if p != place]
            changed.append((step.replace(" in ", " in 9"), True))
        elif step.startswith("You wait"):
            until = step.removeprefix("You wait until ").rstrip(".")
            hour, rest = until.split(":")
            changed += [
                (f"You wait until {h}:{rest}.", True) for h in range(1, 13) if h != int(hour)
            ]
        else:
            name = step.removeprefix("You meet ").partition(" for ")[0]
            changed += [(step.replace(name, p), True) for p in people if p != name]
            # The published code does not read the length.
            changed.append((step.replace(" for ", " for 0"), False))
            minutes = int(step.partition(" for ")[2].partition(" ")[0])
            changed.append((step.replace(f"for {minutes}", f"for {minutes - 1}"), False))
            changed.append((step.replace(f"for {minutes}", f"for {minutes + 1}"), False))
        for text, read in changed:
            yield [*steps[:i], text, *steps[i + 1 :]], read
        yield [*steps[:i], *steps[i + 1 :]], True
        yield [*steps[: i - 1], step, steps[i - 1], *steps[i + 1 :]], True


@settings(deadline=None, max_examples=12)
@given(item=ITEMS)
def test_what_the_verifier_rejects_scores_zero(naturalplan, item):
    careful, official = naturalplan(), naturalplan(scorer="official")
    task = careful.task_from_data({**item, "task": "meeting_planning"})

    def value(benchmark, response):
        return benchmark.score(benchmark.parse(task.prompt, response), task).value

    gold = "SOLUTION: " + " ".join(item["golden_plan"])
    assert verify(item, gold)
    assert value(careful, gold) == value(official, gold) == 1.0
    for steps, read in mutants(item):
        response = "SOLUTION: " + " ".join(steps)
        valid = verify(item, response)
        assert value(careful, response) == float(valid), response
        assert valid or not read or value(official, response) == 0.0, response

"""A trip worked by hand: Rome 3 days, Riga 2, Oslo 4, so 3 + 2 + 4 - 2 = 7 in all.

Rome days 1-3, Riga 3-4, Oslo 4-7 is the only way: the flight to Oslo starts in Riga, and Riga is
wanted between day 3 and day 4.
"""

import random
from itertools import pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.benchmarks.generate.trip import Trip, routes, trip_item, verify

HAND = {
    "prompt_0shot": (
        "You plan a tour of 3 European cities for 7 days in total. Stay in Oslo for 4 days. You "
        "have 3 days for Rome. Spend 2 days in Riga. Old friends expect you in Riga between day 3 "
        "and day 4.\n\nDirect flights, in both directions unless one is given:\nRome and Riga, "
        "from Riga to Oslo, Oslo and Rome.\n\nWork out the days of the whole trip."
    )
}
PLAN = (
    "Here is the trip plan for visiting the 3 European cities for 7 days:\n\n"
    "**Day 1-3:** Arriving in Rome and visit Rome for 3 days.\n"
    "**Day 3:** Fly from Rome to Riga.\n"
    "**Day 3-4:** Visit Riga for 2 days.\n"
    "**Day 4:** Fly from Riga to Oslo.\n"
    "**Day 4-7:** Visit Oslo for 4 days."
)


def items(*difficulties):
    return st.builds(
        lambda seed, difficulty: trip_item(random.Random(seed), difficulty=difficulty),
        st.integers(0, 10**6),
        st.sampled_from(difficulties),
    )


def plan(stays):
    """The plan that visits (city, days) in this order."""
    lines, day, last = [], 1, ""
    for city, days in stays:
        if last:
            lines.append(f"**Day {day}:** Fly from {last} to {city}.")
        lines.append(f"**Day {day}-{day + days - 1}:** Visit {city} for {days} days.")
        day, last = day + days - 1, city
    return "\n".join(lines)


def stays_of(item):
    cities, days = item["cities"].split("**"), map(int, item["durations"].split("**"))
    return list(zip(cities, days, strict=True))


@pytest.mark.parametrize(
    ("response", "valid"),
    [
        (PLAN, True),
        (plan([("Rome", 3), ("Riga", 2), ("Oslo", 4)]), True),
        (PLAN.replace("Day 4-7", "Day 5-7"), True),  # without the day of travel
        (PLAN.replace("for 4 days.", "for 9 days."), True),  # prose
        (plan([("Riga", 2), ("Rome", 3), ("Oslo", 4)]), False),  # the event in Riga
        (plan([("Rome", 3), ("Oslo", 4), ("Riga", 2)]), False),  # no flight to Riga
        (plan([("Rome", 2), ("Riga", 3), ("Oslo", 4)]), False),
        (plan([("Rome", 3), ("Riga", 2)]), False),
        (plan([("Rome", 3), ("Riga", 2), ("Oslo", 5)]), False),
        (plan([("Rome", 3), ("Riga", 2), ("Bonn", 4)]), False),
        (PLAN.replace("Fly from Riga", "Fly from Rome"), False),
        (PLAN.replace("Visit Oslo", "Visit Riga"), False),
        (PLAN.replace("in Rome and", "in Oslo and"), False),
        (PLAN.replace("Day 3-4", "Day 3-5"), False),
        ("no plan", False),
    ],
)
def test_the_verifier_reads_the_prompt(response, valid):
    assert verify(HAND, response) is valid


def test_a_flight_in_one_direction_is_not_flown_in_the_other():
    turned = {
        "prompt_0shot": HAND["prompt_0shot"].replace("from Riga to Oslo", "from Oslo to Riga")
    }
    assert not verify(turned, PLAN)
    both = {"prompt_0shot": HAND["prompt_0shot"].replace("from Riga to Oslo", "Oslo and Riga")}
    assert verify(both, PLAN)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("European cities", "towns"), "states no trip"),
        (("Spend 2 days in Riga. ", ""), "the days of 2 cities, not 3"),
        (("Oslo and Rome", "Oslo or Rome"), "a flight 'Oslo or Rome'"),
    ],
)
def test_another_prompt_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        verify({"prompt_0shot": HAND["prompt_0shot"].replace(*change)}, PLAN)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_routes_are_those_a_slow_loop_finds(data):
    n = data.draw(st.integers(2, 5))
    stays = tuple(data.draw(st.integers(2, 4)) for _ in range(n))
    ways = data.draw(st.sets(st.sampled_from(list(permutations(range(n), 2)))))
    events = {}
    for city in data.draw(st.sets(st.integers(0, n - 1), max_size=2)):
        first = data.draw(st.integers(1, 8))
        events[city] = (first, first + data.draw(st.integers(1, 2)))
    onward = tuple(tuple(b for b in range(n) if (a, b) in ways) for a in range(n))

    def fits(route):
        day = 1
        for i, city in enumerate(route):
            if i and (route[i - 1], city) not in ways:
                return False
            end = day + stays[city] - 1
            if city in events and not (day <= events[city][0] and events[city][1] <= end):
                return False
            day = end
        return True

    trip = Trip(stays=stays, onward=onward, events=events)
    assert list(routes(trip)) == [route for route in permutations(range(n)) if fits(route)]


@settings(deadline=None, max_examples=15)
@given(item=items(1, 2))
def test_the_gold_is_the_only_answer(item):
    stays = stays_of(item)
    found = [order for order in permutations(stays) if verify(item, plan(order))]
    assert found == [tuple(stays)]


@settings(deadline=None, max_examples=40)
@given(item=items(1, 2, 3, 4, 5))
def test_the_item_is_that_of_its_prompt(item):
    stays = stays_of(item)
    prompt = item["prompt_0shot"]
    total = sum(days for _, days in stays) - len(stays) + 1
    assert item["num_cities"] == str(len(stays))
    assert 3 <= len(stays) <= 10
    assert f" {len(stays)} European cities for {total} days" in prompt
    assert all(
        f"{a} and {b}" in prompt or f"{b} and {a}" in prompt or f"from {a} to {b}" in prompt
        for (a, _), (b, _) in pairwise(stays)
    )
    # an event on the first or the last day
    assert "between day 1 and" in prompt or f"and day {total}" in prompt
    assert item["golden_plan"].split("\n")[2].startswith(f"**Day 1-{stays[0][1]}:** Arriving in")


def mutants(item):
    """The gold plan with one field changed, and whether the published code reads that field."""
    lines = item["golden_plan"].split("\n")
    cities = [city for city, _ in stays_of(item)]
    for i, line in enumerate(lines[2:], 2):
        head, _, tail = line.partition(":**")
        numbers = [int(n) for n in head.removeprefix("**Day ").split("-")]
        flight, last = len(numbers) == 1, i == len(lines) - 1
        for k, number in enumerate(numbers):
            for other in (number - 1, number + 1, number + 2, number + 10):
                days = "-".join(map(str, [*numbers[:k], other, *numbers[k + 1 :]]))
                read = flight or (last and k == 1)
                yield [*lines[:i], f"**Day {days}:**{tail}", *lines[i + 1 :]], read
        words = tail.rstrip(".").split(" ")
        # The first stay names its city twice; careful is content with one of them.
        for k in [k for k, word in enumerate(words) if word in cities and i > 2]:
            # Of a flight the published code reads where it goes to; of the first also where from.
            read = flight and (words[k - 1] == "to" or i == 3)
            for other in (cities[0], cities[-1], "Elsewhere"):
                if other != words[k]:
                    text = f"{head}:**{' '.join([*words[:k], other, *words[k + 1 :]])}."
                    yield [*lines[:i], text, *lines[i + 1 :]], read
        if flight:
            yield [*lines[:i], *lines[i + 1 :]], True
    for a, b in pairwise(cities):
        swapped = item["golden_plan"].replace(a, "#").replace(b, a).replace("#", b)
        yield swapped.split("\n"), True


@settings(deadline=None, max_examples=10)
@given(item=items(1, 2, 3, 4, 5))
def test_what_the_verifier_rejects_scores_zero(naturalplan, item):
    careful, official = naturalplan(), naturalplan(scorer="official")
    task = careful.task_from_data({**item, "task": "trip_planning"})

    def value(benchmark, response):
        return benchmark.score(benchmark.parse(task.prompt, response), task).value

    gold = item["golden_plan"]
    assert verify(item, gold)
    assert value(careful, gold) == value(official, gold) == 1.0
    for lines, read in mutants(item):
        response = "\n".join(lines)
        valid = verify(item, response)
        assert value(careful, response) == float(valid), response
        assert valid or not read or value(official, response) == 0.0, response

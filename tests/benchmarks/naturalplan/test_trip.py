"""The plan of most cases: Rome days 1-3, Riga 3-4, Oslo 4-7, so stays of 3, 2 and 4 days."""

import pytest

from sero.benchmarks.naturalplan.trip import answer_text, read, total_days

HEADER = "Here is the trip plan for visiting the 3 European cities for 7 days:\n\n"
PLAN = (
    "**Day 1-3:** Arriving in Rome and visit Rome for 3 days.\n"
    "**Day 3:** Fly from Rome to Riga.\n"
    "**Day 3-4:** Visit Riga for 2 days.\n"
    "**Day 4:** Fly from Riga to Oslo.\n"
    "**Day 4-7:** Visit Oslo for 4 days.\n"
)
OTHER = (
    "**Day 1-2:** Arriving in Riga and visit Riga for 2 days.\n"
    "**Day 2:** Fly from Riga to Rome.\n"
    "**Day 2-4:** Visit Rome for 3 days.\n"
    "**Day 4:** Fly from Rome to Oslo.\n"
    "**Day 4-7:** Visit Oslo for 4 days.\n"
)
GOLD = "Rome 3, Riga 2, Oslo 4"


def answer(text, total=7):
    return answer_text(read(text, total)[0])


@pytest.mark.parametrize(
    "text",
    [
        HEADER + PLAN,
        PLAN,
        (HEADER + PLAN).replace("*", ""),
        (HEADER + PLAN).replace("**", "__"),
        (HEADER + PLAN).replace("**", "_"),
        PLAN.replace("**", "__").replace("Riga", "__Riga__"),
        (HEADER + PLAN).replace("-", "–"),
        (HEADER + PLAN).replace("-", " - "),
        (HEADER + PLAN).replace("\n", "\r\n"),
        (HEADER + PLAN).replace("**Day", "- **Day"),
        "```\n" + HEADER + PLAN + "```\nEnjoy!",
        PLAN.replace("Day 3", "Day 03").replace("-4", "-04"),
        PLAN.replace("Fly from", "Take the morning train to the airport, then fly from"),
        PLAN.replace("for 3 days", "for 99 days"),  # prose is not read
        HEADER.replace("7 days", "99 days") + PLAN,
        HEADER + PLAN + "\nAlternative plan:\n" + OTHER,
        HEADER + PLAN + "\n" + HEADER + OTHER,  # the first whole plan counts
        HEADER + OTHER[:60] + "\nNo, that fails.\n" + HEADER + PLAN,
        OTHER[:160] + "\nStart again.\n" + PLAN,
        "The wedding is on Day 3-4 in Riga.\n" + PLAN,
        PLAN + "The wedding on Day 3-4 in Riga is covered.",
        PLAN + "**Day 7:** Fly from Oslo to Rome to return home.",
        # stays first, then all flights
        "".join(sorted(PLAN.splitlines(keepends=True), key=lambda line: "Fly" in line)),
        # a stay and the flight to it on one line
        "Day 1-3: Rome\nDay 3-4: Fly from Rome to Riga and visit Riga\n"
        "Day 4-7: Fly from Riga to Oslo and explore it",
        # ranges may leave out the travel days
        PLAN.replace("Day 4-7", "Day 5-7").replace("Day 1-3", "Day 1-2"),
        # stays between flights need no line of their own
        PLAN.replace("**Day 3-4:** Visit Riga for 2 days.\n", ""),
        "| 1-3 | Rome |\n| Day 3 | from Rome to Riga |\n| 3-4 | Riga |\n"
        "| Day 4 | from Riga to Oslo |\n| 4-7 | Oslo |",
        "SOLUTION: not yet\nDraft:\n" + OTHER + "SOLUTION:\n" + PLAN,
        PLAN.replace("Riga", "Ríga"),
    ],
)
def test_the_gold_plan_in_many_clothes(text):
    assert answer(text) == GOLD


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        (HEADER + OTHER, "Riga 2, Rome 3, Oslo 4"),
        # Rome 1-4 is 4 days, Riga 4-4 one
        (PLAN.replace("Day 3", "Day 4").replace("1-3", "1-4"), "Rome 4, Riga 1, Oslo 4"),
        # a city more: Oslo 4-7 is 4 days, Bonn 7-9 three
        (
            HEADER + PLAN + "**Day 7:** Fly from Oslo to Bonn.\n**Day 7-9:** Visit Bonn.",
            "Rome 3, Riga 2, Oslo 4, Bonn 3",
        ),
        # cut after half: the last range ends on day 4
        (HEADER + PLAN[:140], "Rome 3, Riga 2"),
    ],
)
def test_other_plans_are_read_as_they_are(text, stays):
    assert answer(text) == stays


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no flight line"),
        ("I cannot find a trip plan.", "no flight line"),
        (PLAN.replace("from Rome to Riga", "Rome to Riga").replace("from Riga", "Riga"), "flight"),
        ("Day 3: Fly from Rome to Riga.", "no stay"),
        (PLAN.lower(), "no flight line"),
        (PLAN.replace("Visit Oslo", "Visit Rome"), "days 4-7 name another city"),
        (PLAN.replace("Visit Oslo", "Visit Atlantis"), "days 4-7 name another city"),
        (PLAN.replace("Visit Riga", "Visit Oslo"), "days 3-4 name another city"),
        (PLAN.replace("in Rome and visit Rome", "in Rome and visit Oslo"), "days 1-3 name"),
        (PLAN.replace("Day 3-4", "Day 3-6"), "days 3-6 fit no stay"),
        (PLAN.replace("Day 1-3", "Day 2-3"), "days 2-3 fit no stay"),
        (PLAN.replace("from Riga to Oslo", "from Rome to Oslo"), "day 4 does not leave from Riga"),
        ("Day 2: from A to A\n" * 300 + "Day 2-7: A", "more than 200 flights"),
    ],
)
def test_what_is_no_plan_has_a_reason(text, reason):
    stays, why = read(text, 7)
    assert stays == ()
    assert reason in why


@pytest.mark.parametrize(
    ("prompt", "days"),
    [
        (
            "Visit 3 European cities for 7 days in total. Not European cities for 9 days",
            7,
        ),
        ("nothing", None),
    ],
)
def test_the_trip_length_is_the_first_stated(prompt, days):
    assert total_days(prompt) == days

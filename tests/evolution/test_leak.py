"""What a card may not take over from a task: proper names and long numbers."""

import time

import pytest

from sero.evolution.leak import leaks, proper_names

TASK = (
    "Plan a trip for Nadia. On Friday Nadia flies from Oslo to Bergen with flight 4711, "
    "pays 12 or 250 crowns and stays 3 nights. Hotels in Bergen are full."
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We meet Anna in Paris.", {"Anna", "Paris"}),
        ("Paris is far. Anna waits.", set()),  # both only begin sentences
        ("Paris is far from Lyon. Lyon is near.", {"Lyon"}),
        ("- Paris\n- Lyon\n1. Nice", set()),  # list items begin like sentences
        ("Cities: Paris, Lyon", {"Lyon"}),  # so does what follows a colon
        ('She said "Stop here" to Anna', {"Anna"}),
        ("The Plan is a plan.", set()),  # in lower case elsewhere: a word, no name
        ("Ask Al and Bo at IBM.", {"IBM"}),  # two letters are no name, three are
        ("Is I a name?", set()),
        ("You know Jean-Luc well.", {"Jean", "Luc"}),
        ("You know O'Brien well.", {"Brien"}),
        ("Take Anna's car to Anna’s house.", {"Anna"}),
        ("From Zürich to Ålesund, past Łódź", {"Zürich", "Ålesund", "Łódź"}),
        ("Из Москвы в город Тверь", {"Москвы", "Тверь"}),
        ("今日はParisへ", set()),  # no capitals of its own; the run of letters begins the text
        ("", set()),
    ],
)
def test_proper_names(text, names):
    assert proper_names(text) == names


@pytest.mark.parametrize(
    ("card", "leaking"),
    [
        ("Plan flights between two cities.", ()),
        ("Nadia asks you to plan.", ("Nadia",)),  # a name stays one at the head of a sentence
        ("Serve Nadia's wishes, NADIA first.", ("Nadia", "NADIA")),
        ("An Oslo-based planner", ("Oslo",)),
        ("Fly from Bergen to Oslo; Bergen is wet.", ("Bergen", "Oslo")),  # each once, in order
        ("Check flight 4711.", ("4711",)),
        ("Prices are about 250 crowns.", ("250",)),
        ("Allow 12 crowns and 3 nights.", ()),  # fewer than three digits
        ("The code is 47112 or 471.", ()),  # other numbers
        ("Plan for Friday.", ("Friday",)),
        ("the nadia method", ()),  # no name in lower case
        ("Hotels are full.", ()),  # in the task it only begins a sentence
    ],
)
def test_leaks(card, leaking):
    assert leaks(card, TASK, ()) == leaking


def test_known_texts_are_free_in_any_case():
    card = "Plan for Friday, flight 4711, for Nadia."
    assert leaks(card, TASK, ("Answer with a day such as friday or flight 4711",)) == ("Nadia",)
    assert leaks(card, TASK, ("FRIDAY", "nadia", "4711")) == ()
    assert leaks(card, TASK, ("Fridays", "47110")) == ("Friday", "4711", "Nadia")


def test_a_task_without_names_and_numbers_leaks_nothing():
    assert leaks("Anything, Anna, 12345", "Add the two numbers 3 and 17.", ()) == ()


def test_spellings_that_look_alike_are_the_same():
    combining, composed = "Zu\u0308rich", "Z\u00fcrich"
    assert leaks(f"Fly to {combining}.", f"Go to {composed} now", ()) == ("Zürich",)
    assert leaks(f"Fly to {composed}.", f"Go to {combining} now", ()) == ("Zürich",)
    assert leaks("Bus １２３４", "Take bus 1234 now", ()) == ("1234",)


def test_numbers_of_other_scripts_are_numbers():
    assert leaks("Bus ٤٧١١", "Take bus ٤٧١١ now", ()) == ("٤٧١١",)


def test_separators_do_not_hide_a_number():
    assert leaks("About 1,250 crowns", "It costs 1,250 crowns", ()) == ("250",)


@pytest.mark.parametrize(
    "text", ["A" * 200_000, "Aa-" * 60_000, "'" * 200_000, "Anna " * 40_000, " " * 200_000]
)
def test_long_texts_cost_linear_time(text):
    begun = time.process_time()
    leaks(text, text, (text,))
    assert time.process_time() - begun < 5.0

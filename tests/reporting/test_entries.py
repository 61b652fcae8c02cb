import pytest
from pydantic import TypeAdapter

from sero.errors import UserError
from sero.reporting.entries import Contracts, Episode, Prediction, checked


def test_contracts_name_what_is_broken():
    found = Contracts(
        capability=True, communication=True, validation=False, aggregation=True, output=False
    )
    assert found.broken == ("validation", "output")


def test_unknown_fields_are_left_out_and_lists_become_tuples():
    raw = {"id": "a", "group": "g", "score": None, "later": 1}
    assert checked(raw, TypeAdapter(Prediction), "p").score is None
    raw = {"episode": 1, "phase": "main", "task": "t", "action": "noop", "verdict": "unchanged"}
    found = checked({**raw, "reasons": ["no_gain"]}, TypeAdapter(Episode), "e")
    assert found.reasons == ("no_gain",)


def test_every_fault_is_named():
    raw = {"episode": "one", "phase": "main", "task": "t", "action": "add", "verdict": "maybe"}
    with pytest.raises(UserError, match=r"episodes:3: episode: got 'one'.*verdict: got 'maybe'"):
        checked(raw, TypeAdapter(Episode), "episodes:3")

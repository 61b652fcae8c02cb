"""What a roster may not hold: names nobody can type or read, keys, sizes, numbers in disguise."""

import pytest
import yaml

from sero.assignment.load import load_candidates, load_roster, roster_from_data
from sero.assignment.names import RESERVED, name_fault
from sero.assignment.options import MAX_OPTION_CHARS
from sero.assignment.players import DECIDERS
from sero.errors import RosterError

ROLE = {"name": "advocate", "description": "Argues for the proposal."}


def roster(first, *more, **changes):
    rows = [{"name": "A", **first}, {"name": "B"}, *more]
    return {"roles": [ROLE], "candidates": rows, **changes}


def refused(data, *, roles_wanted=True):
    with pytest.raises(RosterError) as error:
        roster_from_data(data, where="r.yaml", roles_wanted=roles_wanted)
    return list(error.value.faults)


@pytest.mark.parametrize("field", ["tools", "request"])
class TestOptions:
    @pytest.mark.parametrize("inner", [{1: 2, "b": 3}, [{"y": [{None: 1}]}], {True: 1}])
    def test_keys_are_texts_at_any_depth(self, field, inner):
        (fault,) = refused(roster({field: {"x": inner}}))
        assert fault.startswith(f"candidates.A.{field}: keys must be texts at any depth; quote ")

    def test_so_are_those_on_top(self, field):
        (fault,) = refused(roster({field: {1: 2, "b": 3}}))
        assert fault.startswith(f"candidates.A.{field}")
        assert "valid string" in fault

    @pytest.mark.parametrize(
        "value", ["\ud800", ["a", "b\udfff"], {"\ud800": 1}, [[{"k": "\udc00"}]]]
    )
    def test_half_a_character_is_refused(self, field, value):
        assert refused(roster({field: {"x": value}})) == [
            f"candidates.A.{field}: half a character (a lone surrogate) is in it; take it out"
        ]

    def test_the_last_that_fits_and_the_first_that_does_not(self, field):
        fits = MAX_OPTION_CHARS - len('{"x":""}')
        found = roster_from_data(roster({field: {"x": "é" * fits}}), where="r").roster
        assert len(getattr(found.candidates[0], field)["x"]) == fits
        assert refused(roster({field: {"x": "é" * (fits + 1)}})) == [
            f"candidates.A.{field}: more than 8,000 characters of JSON; say less"
        ]

    def test_aliases_of_a_long_text_are_not_written_out(self, field, tmp_path):
        text = "x" * 100_000
        again = ", ".join(["*t"] * 50_000)
        (tmp_path / "r.yaml").write_text(
            f"candidates: [{{name: A, {field}: {{t: &t {text}, u: [{again}]}}}}]"
        )
        with pytest.raises(RosterError, match="more than 8,000 characters of JSON"):
            load_candidates(tmp_path / "r.yaml")

    def test_nested_without_end(self, field):
        value = []
        for _ in range(3000):
            value = [value]
        (fault,) = refused(roster({field: {"x": value}}))
        assert "JSON has no form for" in fault


@pytest.mark.parametrize(
    "key",
    [
        "n",
        "Messages",
        "MAX_TOKENS",
        "max_completion_tokens",
        "stream_options",
        "guided_json",
        "guided_regex",
        "guided_choice",
        "Guided_Grammar",
    ],
)
def test_keys_that_compete_with_those_of_sero(key):
    assert refused(roster({"request": {key: 1, "top_p": 0.5}})) == [
        f"candidates.A.request: {key} are set by Sero and cannot be set"
    ]


@pytest.mark.parametrize("value", [True, False, "0.5", "0"])
def test_a_temperature_is_a_number(value):
    (fault,) = refused(roster({"temperature": value}))
    assert fault.startswith(f"candidates.A.temperature: got {value!r}. ")


def test_whole_temperatures_are_numbers_too():
    found = roster_from_data(roster({"temperature": 1}), where="r").roster
    assert found.candidates[0].temperature == 1.0


WORDS = ["null", "NULL", "~", "true", "False", "none", "None", "Yes", "off", "???"]
NUMBERS = ["1", "1.5", "-2", "1e3", "1_000", "0x10", "nan", "-Inf", ".inf", "2024-01-01", "1:30"]
SYNTAX = ["[a]", "{a}", "'a'", '"a"', "*a", "a: b", "a #b", "- a"]
SYNTAX += ["${seed}", "range(1)", "glob(*)"]


class TestNames:
    @pytest.mark.parametrize("name", WORDS + NUMBERS + SYNTAX)
    def test_what_yaml_or_hydra_take_for_something_else(self, name):
        assert "reads it as something other than a name" in name_fault(name)
        prefix = f"candidates.{name}.name: "
        (fault,) = refused(roster({"name": name}))
        assert fault.startswith(prefix)

    @pytest.mark.parametrize("name", ["a,b", ",", "a, b"])
    def test_a_comma(self, name):
        assert name_fault(name).startswith("assign.by takes a comma")

    @pytest.mark.parametrize("name", ["Random", "META_DEBATE", "oRacle"])
    def test_what_differs_from_a_reserved_one_by_case(self, name):
        assert name_fault(name) == f"too like assign.by={name.lower()}; choose another one"

    def test_the_reserved_ones_are_left_to_a_run(self):
        assert RESERVED == DECIDERS
        assert [name_fault(name) for name in RESERVED] == [None] * 3

    @pytest.mark.parametrize(
        "char", ["\x85", "\x9b", "\u2028", "\u2029", "\u202e", "\u2066", "\u200f", "\u061c"]
    )
    def test_control_characters_are_refused_and_escaped(self, char):
        with pytest.raises(RosterError) as error:
            roster_from_data(roster({"name": f"so{char}lver"}), where="r.yaml")
        (fault,) = error.value.faults
        code = char.encode("unicode_escape").decode()
        assert fault.startswith(f"candidates.so{code}lver.name: control characters")
        assert char not in str(error.value)

    @pytest.mark.parametrize("name", ["\u200b", "\u200d\u2060", "\ufeff", "\u3164", "\u00ad\ufe0f"])
    def test_what_does_not_show(self, name):
        (fault,) = refused(roster({"name": name}))
        assert fault.endswith(".name: nothing of it shows; use letters")
        assert name not in fault

    @pytest.mark.parametrize(
        "name",
        [
            "solver",
            "gpt-4o",
            "GPT 4o (strict)",
            "R&D",
            "naïve",
            "日本",
            "👩\u200d🔬",
            "n",
            "a.b",
            "7b",
        ],
    )
    def test_what_a_name_may_be(self, name):
        assert name_fault(name) is None

    def test_composed_and_decomposed_letters_are_one_name(self):
        one, two = "caf\u00e9", "cafe\u0301"
        twice = [{"name": one}, {"name": two}]
        assert f"candidates: 2 of them are called '{one}'" in refused(roster({}, *twice))
        other = roster({"name": one}, evaluators=[{"name": two}, "B"])
        (fault,) = refused(other)
        assert "is a candidate's name and says something else" in fault
        called = roster({"name": one}, evaluators=[two, "B"])
        found = roster_from_data(called, where="r").roster
        assert found.evaluators == found.candidates

    def test_evaluators_follow_the_same_rule(self):
        (fault,) = refused(roster({}, evaluators=["A", {"name": "null"}]))
        assert fault.startswith("evaluators.null.name: YAML or assign.by reads it")

    def test_a_file_of_the_assign_command_does_too(self, tmp_path):
        (tmp_path / "r.yaml").write_text(yaml.safe_dump(roster({"name": "true"})))
        with pytest.raises(RosterError, match=r"candidates\.true\.name"):
            load_roster(tmp_path / "r.yaml")


@pytest.mark.parametrize("key", [1, None, True, 16**9000, "\ud800"], ids=range(5))
def test_odd_keys_are_unknown_fields(key):
    (fault,) = refused(roster({}) | {key: 1})
    assert fault.endswith(": unknown field")
    assert fault.isprintable()


class TestSizes:
    @pytest.mark.parametrize("key", ["roles", "candidates", "evaluators"])
    def test_at_most_64_of_each(self, key):
        rows = [{**(ROLE if key == "roles" else {}), "name": f"x{i}"} for i in range(65)]
        fits = roster_from_data(roster({}, **{key: rows[:64]}), where="r").roster
        assert len(getattr(fits, key)) == 64
        assert refused(roster({}, **{key: rows})) == [f"{key}: 65 of them; at most 64 are allowed"]

    def test_the_first_twenty_faults_and_how_many_more(self):
        rows = [{"name": "x" * 5000, "temprature": 1}] * 3000
        with pytest.raises(RosterError) as error:
            roster_from_data({"candidates": rows}, where="r", roles_wanted=False)
        assert error.value.faults[0] == "candidates: 3000 of them; at most 64 are allowed"
        assert error.value.faults[20] == "... and 109 more"  # 1 + 2 * 64 - 20
        assert len(error.value.faults) == 21
        assert len(str(error.value)) < 3000

    def test_twenty_are_shown_whole(self):
        found = refused({f"key{i:02}": 1 for i in range(18)})  # and no roles, no candidates
        assert len(found) == 20
        assert not any(fault.startswith("...") for fault in found)

    def test_a_long_key_and_a_long_reference_are_cut(self):
        found = refused(roster({}, evaluators=["y" * 10_000, "B"], **{"k" * 10_000: 1}))
        assert max(map(len, found)) < 200


@pytest.mark.parametrize("data", [None, "x", 3, [], [{"name": "A"}]])
def test_a_run_asks_for_candidates_alone(data):
    (fault,) = refused(data, roles_wanted=False)
    assert fault.startswith("candidates: missing; a run's roster has 'candidates:'")
    assert refused(data) == ["roles: missing; a roster has 'roles:' and 'candidates:'"]

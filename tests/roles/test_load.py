"""The two doors: every fault at once from people, bounded and harmless from a model."""

import json
import re
import time

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.errors import CardError
from sero.roles.card import RoleType
from sero.roles.load import (
    add_card_schema,
    card_faults,
    card_from_json,
    card_to_data,
    first_json_object,
    json_objects,
    load_pool,
    load_yaml,
    pool_from_data,
)

MAX = 4000
MANY = 1_000_000


def faults_of_file(tmp_path, text):
    path = tmp_path / "pool.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CardError) as caught:
        load_pool(path)
    return caught.value


class TestYamlDoor:
    def test_a_pool_file(self, tmp_path, plain):
        path = tmp_path / "pool.yaml"
        agg = plain(name="scribe", role_type="aggregator", protected=True, temperature=0.2)
        path.write_text(yaml.safe_dump({"comment": "mine", "roles": [plain(), agg]}))
        pool = load_pool(path)
        assert pool.names == ("solver", "scribe")
        assert pool["solver"].system_prompt == ("You plan trips.", "Fly direct.")
        assert pool["scribe"].role_type is RoleType.AGGREGATOR
        assert pool["scribe"].protected
        assert pool["scribe"].temperature == 0.2

    def test_every_fault_of_every_card_at_once(self, tmp_path):
        error = faults_of_file(
            tmp_path,
            """
            roles:
              - name: unit_checker
                role_type: critic
                protcted: true
                capability_family: Unit Checks
                capability_tags: [ok, "NOT ok"]
                communication_protocol: " "
                system_prompt: ["", "  "]
                temperature: 2
              - name: solver
                role_type: specialist
                communication_protocol: One line.
                system_prompt: [You solve., 3]
              - just a text
              - role_type: specialist
                capability_family: f
                communication_protocol: p
                system_prompt: s
            rols: []
            """,
        )
        assert error.where.endswith("pool.yaml")
        label = r"String should match pattern '^[a-z0-9]+(?:-[a-z0-9]+)*$'"
        assert sorted(error.faults) == sorted(
            [
                "rols: unknown field; did you mean 'roles'?",
                "unit_checker.role_type: got 'critic'. "
                "Input should be 'router', 'specialist', 'validator' or 'aggregator'",
                "unit_checker.protcted: unknown field; did you mean 'protected'?",
                f"unit_checker.capability_family: got 'Unit Checks'. {label}",
                f"unit_checker.capability_tags[1]: got 'NOT ok'. {label}",
                r"unit_checker.communication_protocol: got ' '. String should match pattern '\S'",
                "unit_checker.temperature: got 2. Input should be less than or equal to 1",
                "unit_checker.system_prompt: empty; write what the role reads and produces",
                "solver.capability_family: missing",
                "solver.system_prompt[1]: got 3. Input should be a valid string",
                "roles[2]: got str; a role card is a mapping",
                "roles[3].name: missing",
            ]
        )
        assert "12 problem(s) in the role cards\n" in str(error)

    def test_names_that_repeat_are_found_beside_other_faults(self, plain):
        cards = [plain(), plain(temperature=-1), plain(name="a"), plain(name="a")]
        with pytest.raises(CardError) as caught:
            pool_from_data(cards, where="here")
        assert caught.value.faults == (
            "solver.temperature: got -1. Input should be greater than or equal to 0",
            "solver: 2 cards share this name",
            "a: 2 cards share this name",
        )

    @pytest.mark.parametrize("name", ["", " ", "x" * 65])
    def test_a_name_that_is_none_does_not_stand_in_a_path(self, plain, name):
        with pytest.raises(CardError) as caught:
            pool_from_data([plain(name=name)], where="here")
        (fault,) = caught.value.faults
        assert fault.startswith("roles[0].name: got ")

    @pytest.mark.parametrize("raw", [None, {}, {"roles": []}, {"roles": None}, [], "text", 3])
    def test_a_file_without_cards(self, raw):
        with pytest.raises(CardError, match=r"pool file is a list of cards under 'roles:'"):
            pool_from_data(raw, where="here")

    def test_a_bare_list_and_a_prompt_in_one_text(self, plain):
        pool = pool_from_data([plain(system_prompt="One.\nTwo.\n")], where="here")
        assert pool["solver"].system_prompt == ("One.", "Two.")

    def test_a_credit_block_is_left_to_others(self, plain):
        pool = pool_from_data([{**plain(), "credit": {"ema": 0.5}}], where="here")
        assert pool.names == ("solver",)

    def test_a_prompt_that_is_too_long(self, plain):
        lines = ["x" * 10, "y" * 9]  # 10 + 1 + 9 = 20 characters
        assert pool_from_data([plain(system_prompt=lines)], where="h", max_prompt_chars=20)
        with pytest.raises(CardError, match=r"solver.system_prompt: 20 characters; at most 19"):
            pool_from_data([plain(system_prompt=lines)], where="h", max_prompt_chars=19)

    @pytest.mark.parametrize("key", [1, None, True, 2.5])
    def test_a_key_that_is_no_text(self, plain, key):
        with pytest.raises(CardError, match=r"Keys should be strings"):
            pool_from_data([{**plain(), key: 1}], where="here")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("roles: [", "not readable as YAML: "),
            ("a: 1\n---\nb: 2", "not readable as YAML: "),
            ("roles: !!python/object:os.system {}", "not readable as YAML: "),
            ("roles: " + "[" * 20_000, "not readable as YAML: "),
            ("roles: " + "9" * 5000, "not readable as YAML: "),
        ],
        ids=["torn", "two documents", "code", "deep", "long number"],
    )
    def test_what_is_not_yaml(self, tmp_path, text, message):
        (fault,) = faults_of_file(tmp_path, text).faults
        assert fault.startswith(message)

    def test_bytes_that_are_not_text(self, tmp_path):
        (tmp_path / "p.yaml").write_bytes(b"\xff\xfe\x00")
        with pytest.raises(CardError, match="not readable as YAML"):
            load_pool(tmp_path / "p.yaml")

    def test_a_document_that_unfolds_without_end(self, tmp_path):
        lines = ["a0: &a0 [x, x]"]
        lines += [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 50)]
        start = time.perf_counter()
        error = faults_of_file(tmp_path, "\n".join([*lines, "roles: [{name: *a49}]"]))
        assert time.perf_counter() - start < 5
        assert error.faults == (
            "its aliases (*name) stand for more than 100000 values; write them out",
        )

    def test_no_file_and_no_file_but_a_folder(self, tmp_path):
        with pytest.raises(CardError, match="no such file"):
            load_pool(tmp_path / "none.yaml")
        with pytest.raises(CardError, match="a directory; name a YAML file"):
            load_pool(tmp_path)
        (tmp_path / "f").write_text("")
        with pytest.raises(CardError, match="cannot be read: Not a directory"):
            load_pool(tmp_path / "f" / "pool.yaml")

    def test_aliases_that_stand_for_millions_are_a_fault(self, tmp_path):
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
        (tmp_path / "f").write_text("\n".join(lines))
        with pytest.raises(
            CardError, match=r"aliases \(\*name\) stand for more than 100000 values"
        ):
            load_yaml(tmp_path / "f")

    def test_few_aliases_and_many_values_are_none(self, tmp_path):
        (tmp_path / "f").write_text("a: &a {b: 1}\nc: *a\nd: {<<: *a, b: 2}\n")
        assert load_yaml(tmp_path / "f") == {"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 2}}

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("a: 1\nb: 2\na: 3\n", "a: stands twice, in lines 1 and 3; keep one"),
            ("r:\n- {x: 1, 'x': 2}\n", "x: stands twice, in lines 2 and 2; keep one"),
            ("a: &a [*a]\n", r"line 1: an alias \(\*name\) inside what it stands for"),
            ("a: !!timestamp x\n", "not readable as YAML: a value does not fit its tag"),
            ("a: !!bool x\n", "not readable as YAML: a value does not fit its tag"),
            ("a: {\n", "not readable as YAML: while parsing a flow node"),
        ],
    )
    def test_what_a_yaml_reader_passes_over(self, tmp_path, text, fault):
        (tmp_path / "f").write_text(text)
        with pytest.raises(CardError, match=fault):
            load_yaml(tmp_path / "f")

    def test_an_empty_file_is_nothing(self, tmp_path):
        (tmp_path / "f").write_text("")
        assert load_yaml(tmp_path / "f") is None

    def test_files_of_the_package_by_name(self):
        assert set(load_yaml("package:shared/message_layout.yaml")) >= {"system", "user"}
        with pytest.raises(CardError, match=r"package:shared/none\.yaml: 1 problem"):
            load_yaml("package:shared/none.yaml")

    def test_a_card_there_and_back(self, plain):
        full = plain(
            protected=True,
            capability_tags=["a", "b-1"],
            temperature=0.25,
            parent="other",
            created_at=0,
            backbone="small",
        )
        for data in (plain(), full):
            card, faults = card_faults(data, prefix="card", max_prompt_chars=MAX)
            assert faults == []
            assert card_to_data(card) == data


class TestJsonDoor:
    def test_a_card(self, plain):
        card, faults = card_from_json(json.dumps(plain()), max_prompt_chars=MAX)
        assert faults == ()
        assert card.name == "solver"
        assert card.capability_family == "trip-routing"

    def test_what_only_people_and_the_editor_say_is_dropped(self, plain):
        said = plain(protected=True, parent="x" * 99, created_at="soon", backbone="gpt")
        card, faults = card_from_json(json.dumps(said), max_prompt_chars=MAX)
        assert faults == ()
        assert not card.protected
        assert (card.parent, card.created_at, card.backbone) == (None, None, None)

    @pytest.mark.parametrize(
        "around",
        [
            "```json\n%s\n```",
            "```\n%s\n```\nI hope this helps {:-)}.",
            "Here is the card {as asked}:\n%s",
            "[%s]",
            "\ufeff%s",
            "%s {}",
        ],
    )
    def test_the_first_object_wherever_it_stands(self, plain, around):
        card, faults = card_from_json(around % json.dumps(plain()), max_prompt_chars=MAX)
        assert faults == ()
        assert card.name == "solver"

    def test_every_fault_with_its_path(self, plain):
        said = plain(role_type="critic", capability_famly="x", system_prompt=[], name=3)
        card, faults = card_from_json(json.dumps(said), max_prompt_chars=MAX)
        assert card is None
        assert sorted(faults) == sorted(
            [
                "card.name: got 3. Input should be a valid string",
                "card.role_type: got 'critic'. "
                "Input should be 'router', 'specialist', 'validator' or 'aggregator'",
                "card.capability_famly: unknown field; did you mean 'capability_family'?",
                "card.system_prompt: empty; write what the role reads and produces",
            ]
        )

    @pytest.mark.parametrize(
        "reply", ["", "I cannot.", "{", "[1, 2]", '"text"', "{'name': 1}", "{}}"]
    )
    def test_a_reply_without_a_card_is_a_reason(self, reply):
        card, faults = card_from_json(reply, max_prompt_chars=MAX)
        assert card is None
        assert faults

    @pytest.mark.parametrize(
        "change",
        [
            {"name": {"a": [{"b": []}]}},
            {"system_prompt": [["nested"]]},
            {"system_prompt": [[[[[[[["deep"]]]]]]]]},
            {"capability_tags": [{"a": 1}]},
            {"temperature": float("nan")},
            {"temperature": float("inf")},
            {"temperature": [0]},
            {"system_prompt": ["half a character \ud83d"]},
            {"system_prompt": ["a\0b"]},
            {"name": "\ud83d"},
            {"name": "line\nend"},
            {"role_type": None, "x[y]": 1},
            {"function-wrap[x]": {}},
            {"": 1},
            {"a.b": 1},
        ],
        ids=repr,
    )
    def test_nested_and_broken_values_are_reasons(self, plain, change):
        data = {**plain(), **change}
        card, faults = card_from_json(json.dumps(data), max_prompt_chars=MAX)
        assert card is None
        assert all(fault.startswith("card") for fault in faults)
        assert sum(map(len, faults)) < 2000
        "\n".join(faults).encode("utf-8")  # can be written and sent on

    def test_a_reply_of_faults_gives_the_first_and_a_count(self, plain):
        data = {**plain(), **{f"k{i}": i for i in range(1000)}}
        card, faults = card_from_json(json.dumps(data), max_prompt_chars=MAX)
        assert card is None
        assert len(faults) == 17
        assert faults[-1] == "card: 984 more problem(s) of this kind"

    @pytest.mark.parametrize(
        "text",
        [
            "{" * MANY,
            '{"a":' * (MANY // 5),
            "[" * MANY,
            '{"a":[' * (MANY // 6),
            '{"name": "' + "x" * MANY,
            '{"a": "{' * (MANY // 8),
            "{}" * (MANY // 2),
            '{"a": ' + "9" * MANY + "}",
            '{"' + "k" * MANY + '": 1}',
            '{"a": [' + "{}," * (MANY // 3),
            '{"name": ' + "[" * 900 + "]" * 900 + "}",
        ],
        ids=lambda text: text[:9],
    )
    def test_a_megabyte_of_junk_in_bounded_time(self, text):
        start = time.perf_counter()
        card, faults = card_from_json(text, max_prompt_chars=MAX)
        assert time.perf_counter() - start < 5
        assert card is None
        assert 0 < sum(map(len, faults)) < 3000

    @given(text=st.text())
    def test_any_text_is_a_card_or_reasons(self, text):
        card, faults = card_from_json(text, max_prompt_chars=MAX)
        assert (card is None) is bool(faults)

    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=8,
        ),
        st.sampled_from(
            [
                "name",
                "role_type",
                "capability_family",
                "capability_tags",
                "system_prompt",
                "communication_protocol",
                "temperature",
                "other",
            ]
        ),
    )
    def test_any_value_in_any_field_is_a_card_or_reasons(self, value, field):
        good = {
            "name": "solver",
            "role_type": "specialist",
            "capability_family": "f",
            "communication_protocol": "p",
            "system_prompt": ["s"],
        }
        card, faults = card_from_json(json.dumps({**good, field: value}), max_prompt_chars=MAX)
        assert (card is None) is bool(faults)
        if card is not None:
            data = json.loads(json.dumps(card_to_data(card), allow_nan=False))
            assert card_faults(data, prefix="c", max_prompt_chars=MAX) == (card, [])

    def test_the_first_object_is_not_the_largest(self):
        assert first_json_object('x {"a": {"b": 1}} {"c": 2}') == {"a": {"b": 1}}
        assert first_json_object('{"torn": {"b": 1}') == {"b": 1}
        assert first_json_object("{no} " * 63 + '{"a": 1}') == {"a": 1}
        assert first_json_object("{no} " * 64 + '{"a": 1}') is None  # tried 64 times
        assert list(json_objects('x {"a": {"b": 1}} {"c": 2}')) == [{"a": {"b": 1}}, {"c": 2}]

    @pytest.mark.parametrize(
        "text",
        ["{}" * 500_000, '{"a":[' * 64 + '{"b":1},' * 125_000, '{"a":' * 64 + "[" + "1," * 500_000],
    )
    def test_a_long_reply_is_read_in_bounded_time(self, text):
        started = time.process_time()
        assert len(list(json_objects(text))) <= 64
        assert time.process_time() - started < 2.0


def obeying(schema):
    """Values of a JSON Schema, of the few kinds `add_card_schema` uses."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "string" if "pattern" in schema:
            text = st.from_regex(re.compile(schema["pattern"], re.ASCII), fullmatch=True)
            return text.map(lambda t: t[: schema["maxLength"]].rstrip("-_ "))
        case "string":
            # what the schema cannot say: not blank, no NUL, whole characters
            letters = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
            return st.builds(
                lambda text, at: text[:at] + "x" + text[at:],
                st.text(letters, max_size=min(schema["maxLength"] - 1, 40)),
                st.integers(0, 40),
            )
        case "number":
            return st.floats(schema["minimum"], schema["maximum"])
        case "array":
            longest = min(schema["maxItems"], 12)
            return st.lists(
                obeying(schema["items"]), min_size=schema.get("minItems", 0), max_size=longest
            )
        case "object":
            properties = {key: obeying(value) for key, value in schema["properties"].items()}
            required = {key: properties.pop(key) for key in schema["required"]}
            return st.fixed_dictionaries(required, optional=properties)
    raise AssertionError(schema)


class TestSchema:
    @settings(deadline=None)
    @given(data=st.data(), max_prompt_chars=st.sampled_from([1, 2, 30, 200, 4000]))
    def test_what_obeys_the_schema_is_a_card(self, data, max_prompt_chars):
        schema = add_card_schema(max_prompt_chars=max_prompt_chars)
        reply = data.draw(obeying(schema))
        card, faults = card_from_json(json.dumps(reply), max_prompt_chars=max_prompt_chars)
        assert faults == ()
        said = card_to_data(card)
        assert all(said[key] == reply[key] for key in schema["required"])

    @pytest.mark.parametrize("max_prompt_chars", [1, 2, 3, 24, 25, 100, 1200, 4000, 100_000])
    def test_the_longest_prompt_it_allows_fits(self, max_prompt_chars, plain):
        prompt = add_card_schema(max_prompt_chars=max_prompt_chars)["properties"]["system_prompt"]
        lines = ["x" * prompt["items"]["maxLength"]] * prompt["maxItems"]
        data = plain(system_prompt=lines)
        assert card_faults(data, prefix="c", max_prompt_chars=max_prompt_chars)[1] == []

    def test_the_longest_names_and_labels_fit(self, plain):
        properties = add_card_schema(max_prompt_chars=MAX)["properties"]
        label, name = properties["capability_family"], properties["name"]
        longest = {
            "name": "-".join(["x" * 30] * 3)[: name["maxLength"]],
            "capability_family": "-".join(["x" * 20] * 4)[: label["maxLength"]],
            "capability_tags": ["x"] * properties["capability_tags"]["maxItems"],
            "communication_protocol": "x" * properties["communication_protocol"]["maxLength"],
        }
        assert re.fullmatch(name["pattern"], longest["name"])
        assert re.fullmatch(label["pattern"], longest["capability_family"])
        assert card_faults(plain(**longest), prefix="c", max_prompt_chars=MAX)[1] == []

    @pytest.mark.parametrize("blank", [{"communication_protocol": " "}, {"system_prompt": [" "]}])
    def test_what_no_schema_says_is_refused_with_a_reason(self, plain, blank):
        card, faults = card_from_json(json.dumps(plain(**blank)), max_prompt_chars=MAX)
        assert card is None
        assert len(faults) == 1

    def test_it_is_closed_and_every_text_and_list_bounded(self):
        def bounded(schema):
            match schema.get("type"):
                case "string":
                    return "maxLength" in schema
                case "array":
                    return "maxItems" in schema and bounded(schema["items"])
                case "object":
                    return schema["additionalProperties"] is False and all(
                        map(bounded, schema["properties"].values())
                    )
            return "enum" in schema or schema["type"] == "number"

        schema = add_card_schema(max_prompt_chars=MAX)
        assert bounded(schema)
        assert not {"protected", "parent", "created_at", "backbone"} & set(schema["properties"])

    def test_a_pattern_bounds_itself(self):
        """A decoder that reads a pattern and then no maxLength still comes to an end."""
        properties = add_card_schema(max_prompt_chars=MAX)["properties"]
        for schema in (properties["name"], properties["capability_family"]):
            assert not re.search(r"[*+]", schema["pattern"])


@pytest.mark.parametrize("name", ["\x1bc", "\x00", "a\x07", "\x7f", " a", "a ", ""])
def test_a_name_shows_on_a_terminal_as_it_is(plain, name):
    card, faults = card_faults(plain(name=name), prefix="roles[0]", max_prompt_chars=MAX)
    assert card is None
    assert len(faults) == 1


def test_a_number_of_thousands_of_digits_is_a_fault_like_any_other(tmp_path):
    huge = "0x" + "f" * 6000  # has no decimal form within Python's limit
    error = faults_of_file(tmp_path, f"roles: [{{name: a, temperature: {huge}}}]")
    assert "a.temperature: got a huge int" in str(error)

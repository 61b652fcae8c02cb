import math

import pytest

from sero.benchmarks.olympiadbench import items
from sero.benchmarks.olympiadbench.items import (
    FIELDS,
    asking_faults,
    canonical,
    group_of,
    left_out,
    read_item,
)

BASE = {"final_answer": ["2"], "answer_type": "Numerical"}


def read(**changes):
    item, faults = read_item({**BASE, **changes})
    assert item is not None, faults
    return item


def faults(**changes):
    item, found = read_item({**BASE, **changes})
    assert item is None
    return found


# Schema


def test_gold_and_type_are_enough():
    item = read()
    assert (item.final_answer, item.answer_type) == (("2",), ("Numerical",))
    assert all(
        getattr(item, name) is None
        for name in FIELDS
        if name not in ("final_answer", "answer_type")
    )


@pytest.mark.parametrize("nothing", [None, math.nan, "", "  "])
def test_nothing_may_be_null_nan_or_blank(nothing):
    empty = dict.fromkeys(("id", "subject", "subfield", "context", "question", "unit"), nothing)
    assert read(**empty, error=nothing, is_multiple_answer=nothing) == read()


@pytest.mark.parametrize(
    ("given", "types"),
    [
        ("Tuple", ("Tuple",)),
        ("Numerical,Numerical", ("Numerical", "Numerical")),
        ("Expression, Equation", ("Expression", "Equation")),
        ("Interval,", ("Interval",)),
        (["Numerical", "Interval"], ("Numerical", "Interval")),
    ],
)
def test_answer_types_are_one_or_a_comma_list(given, types):
    assert read(answer_type=given).answer_type == types


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("1e-1", "1e-1"),
        ("1e-1,1e-2", "1e-1,1e-2"),
        ("1e-2,,5", "1e-2,,5"),
        (0.1, "0.1"),
        (1, "1"),
        ("0", "0"),
    ],
)
def test_tolerances_are_one_or_a_comma_list(given, kept):
    assert read(error=given).error == kept


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"final_answer": []}, "final_answer: got []"),
        ({"final_answer": "2"}, "final_answer: got '2'"),
        ({"final_answer": [" "]}, "final_answer[0]: got ' '"),
        ({"final_answer": [2]}, "final_answer[0]: got 2"),
        ({"answer_type": "Numeric"}, "answer_type[0]: got 'Numeric'"),
        ({"answer_type": ""}, "answer_type: got"),
        ({"answer_type": None}, "answer_type: got None"),
        ({"error": "small"}, "Entry 'small' is not a tolerance"),
        ({"error": "1e-1,-2"}, "Entry '-2' is not a tolerance"),
        ({"error": "nan"}, "Entry 'nan' is not a tolerance"),
        ({"error": "inf"}, "Entry 'inf' is not a tolerance"),
        ({"error": True}, "error: got True"),
        ({"unit": 3}, "unit: got 3"),
        ({"is_multiple_answer": "perhaps"}, "is_multiple_answer: got 'perhaps'"),
        ({"subject": "Physic"}, "subject: got 'Physic'; accepted are Math, Physics; did you mean"),
        ({"id": []}, "id: got []"),
    ],
)
def test_a_fault_names_its_field(changes, told):
    assert any(told in fault for fault in faults(**changes)), faults(**changes)


def test_every_fault_is_told():
    item, found = read_item({"final_answer": [], "error": "x", "unit": 3})
    assert item is None
    assert [fault.partition(":")[0] for fault in found] == [
        "final_answer",
        "answer_type",
        "unit",
        "error",
    ]


def test_solutions_and_pictures_are_never_read():
    assert read(solution=3, image_1=object()) == read()
    assert "solution" not in FIELDS


# Mathematics or physics


@pytest.mark.parametrize(
    ("raw", "group"),
    [
        *(({"subfield": label}, "maths") for label in items.SUBFIELDS["maths"]),
        *(({"subfield": label}, "physics") for label in items.SUBFIELDS["physics"]),
        ({"subfield": " number theory "}, "maths"),
        ({"subject": "Math", "subfield": "Mechanics"}, "maths"),
        ({"subject": "maths"}, "maths"),
        ({"subject": "Physics", "subfield": None}, "physics"),
        ({"subject": None, "subfield": "Optics"}, "physics"),
        ({"subject": "Chemistry", "subfield": "Optics"}, None),
        ({"subfield": "Topology"}, None),
        ({"subfield": None}, None),
        ({"subfield": 3}, None),
        ({}, None),
    ],
)
def test_the_subject_or_else_the_subfield_tells_the_group(raw, group):
    assert group_of(raw) == group


def test_the_subfields_of_the_groups_share_no_label():
    assert not set(items.SUBFIELDS["maths"]) & set(items.SUBFIELDS["physics"])


def test_what_is_asked_needs_an_id_a_question_and_a_group():
    assert asking_faults({"id": 0, "question": "q", "subfield": "Algebra"}) == []
    assert asking_faults({"id": 1, "question": " ", "subject": "Math"}) == ["question: missing"]
    assert asking_faults({"question": "q", "subject": "Math"}) == ["id: missing"]
    (fault,) = asking_faults({"id": 1, "question": "q", "subfield": "Topology"})
    assert fault.startswith("subfield: got 'Topology'; without a column `subject` it is one of")
    assert "Modern Physics" in fault


# Text-only


@pytest.mark.parametrize(
    ("text", "hit"),
    [
        ("In the figure, find x.", True),
        ("FIGURE 2 is a square.", True),
        ("Take two images of it.", True),
        ("The circuit shown below has", True),
        ("The circuit Shown Below has", True),
        ("See the table below.", False),
        ("It is shown  below.", False),
        ("Imagine a triangle.", False),
        ("Consider a configuration of points.", False),
        ("", False),
    ],
)
def test_the_guard_searches_the_question(text, hit):
    for label in ("Algebra", "Optics"):
        why = left_out({"question": text, "subfield": label, "solution": ["see the figure"]})
        assert bool(why) == hit


def test_the_guard_searches_the_context_in_physics_alone():
    raw = {"context": "As in the figure.", "question": "How heavy is it?"}
    assert left_out({**raw, "subfield": "Algebra"}) == ""
    assert left_out({**raw, "subfield": "Mechanics"}) == ("physics, the text points to a picture")
    assert left_out({"question": None, "context": None, "subfield": "Mechanics"}) == ""


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"language": "Chinese"}, "not in English"),
        ({"modality": "Multimodal"}, "not text-only"),
        ({"question_type": "Theorem proof"}, "not open-ended"),
        ({"difficulty": "CEE"}, "not from a competition"),
        ({"image_3": {"bytes": "iVBOR", "path": None}}, "it comes with a picture"),
        ({"image_1": "3.png"}, "it comes with a picture"),
        ({"image_1": {"bytes": None, "path": None}}, ""),
        ({"image_1": True}, "it comes with a picture"),
        ({"image_2": math.nan, "image_3": "", "image_4": [], "image_5": False}, ""),
        ({"language": "English", "modality": "Text-only", "question_type": "Open-ended"}, ""),
        ({"difficulty": "Competition", "language": None}, ""),
    ],
)
def test_other_parts_of_the_dataset_are_left_out(changes, why):
    assert left_out({"question": "q", "subject": "Math", **changes}) == why


# One spelling


def test_both_layouts_have_one_spelling():
    kit = {
        "id": 7,
        "subfield": "Optics",
        "context": math.nan,
        "question": "q",
        "solution": ["s"],
        "final_answer": ["1,2"],
        "is_multiple_answer": True,
        "unit": "",
        "answer_type": "Numerical, Numerical",
        "error": "1e-1,1e-1",
    }
    dataset = {**kit, "subject": "Physics", "context": None, "unit": None, "image_1": None}
    dataset |= {"answer_type": "Numerical,Numerical", "language": "English"}
    assert canonical(kit) == canonical(dataset)
    assert canonical(kit) == {
        "final_answer": ["1,2"],
        "answer_type": "Numerical,Numerical",
        "id": 7,
        "subject": "Physics",
        "subfield": "Optics",
        "context": None,
        "question": "q",
        "is_multiple_answer": True,
        "unit": None,
        "error": "1e-1,1e-1",
    }
    assert canonical(canonical(kit)) == canonical(kit)


def test_an_item_with_faults_is_cut_to_its_fields():
    assert canonical({"id": 1, "final_answer": 3, "solution": []}) == {"id": 1, "final_answer": 3}

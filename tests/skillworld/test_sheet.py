import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sero.roles.card import RoleType
from sero.skillworld.sheet import SHEET_LETTERS, UNKNOWN, Kind, Truth, read_sheet, write_sheet

KEY, OTHER = b"a key", b"another key"
TRUTHS = [
    *(
        Truth(kind=kind, family=k)
        for kind in (Kind.GOOD, Kind.MEDIUM, Kind.HARMFUL)
        for k in range(8)
    ),
    Truth(kind=Kind.DISTRACTOR, family=0),
    Truth(kind=Kind.ROUTER),
    Truth(kind=Kind.VALIDATOR),
    Truth(kind=Kind.AGGREGATOR),
]


@pytest.mark.parametrize("truth", TRUTHS)
def test_a_sheet_is_read_back(truth):
    for i in range(20):
        code = write_sheet(KEY, truth, nonce=str(i).encode())
        assert read_sheet(KEY, code) == truth


def test_a_sheet_is_twelve_lower_case_letters():
    code = write_sheet(KEY, TRUTHS[0], nonce=b"x")
    assert len(code) == SHEET_LETTERS == 12
    assert set(code) <= set(string.ascii_lowercase)


def test_the_nonce_decides_the_sheet():
    codes = {write_sheet(KEY, TRUTHS[0], nonce=str(i).encode()) for i in range(500)}
    assert len(codes) == 500
    assert write_sheet(KEY, TRUTHS[0], nonce=b"1") in codes


def test_every_damaged_letter_is_noticed():
    code = write_sheet(KEY, TRUTHS[0], nonce=b"x")
    for i in range(len(code)):
        for letter in string.ascii_lowercase.replace(code[i], ""):
            assert read_sheet(KEY, code[:i] + letter + code[i + 1 :]) is UNKNOWN


def test_another_world_reads_nothing():
    for i in range(200):
        assert read_sheet(OTHER, write_sheet(KEY, TRUTHS[i % 8], nonce=bytes([i]))) is UNKNOWN


@pytest.mark.parametrize("truth", [TRUTHS[0], TRUTHS[17], Truth(kind=Kind.ROUTER)])
def test_letters_give_nothing_away(truth):
    """Over many nonces every position is uniform over the alphabet, whatever the sheet hides.

    chi-square with 25 degrees of freedom: mean 25, standard deviation sqrt(50) = 7.1; the bound
    is five of them.
    """
    n = 5200
    codes = [write_sheet(KEY, truth, nonce=str(i).encode()) for i in range(n)]
    for i in range(SHEET_LETTERS):
        column = [code[i] for code in codes]
        counts = [column.count(letter) for letter in string.ascii_lowercase]
        assert sum((c - n / 26) ** 2 / (n / 26) for c in counts) < 25 + 5 * 7.1


@given(st.text(max_size=14))
def test_other_texts_are_unknown(text):
    assert read_sheet(KEY, text) is UNKNOWN


@pytest.mark.parametrize("truth", [UNKNOWN, Truth(kind=Kind.GOOD, family=25)])
def test_what_no_sheet_can_say(truth):
    with pytest.raises(ValueError, match="write_sheet got"):
        write_sheet(KEY, truth, nonce=b"")


@pytest.mark.parametrize(
    ("kind", "role_type"),
    [
        (Kind.GOOD, RoleType.SPECIALIST),
        (Kind.MEDIUM, RoleType.SPECIALIST),
        (Kind.HARMFUL, RoleType.SPECIALIST),
        (Kind.DISTRACTOR, RoleType.SPECIALIST),
        (Kind.UNKNOWN, RoleType.SPECIALIST),
        (Kind.ROUTER, RoleType.ROUTER),
        (Kind.VALIDATOR, RoleType.VALIDATOR),
        (Kind.AGGREGATOR, RoleType.AGGREGATOR),
    ],
)
def test_role_type_of_a_kind(kind, role_type):
    assert kind.role_type is role_type

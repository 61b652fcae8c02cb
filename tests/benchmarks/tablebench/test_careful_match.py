"""What a careful analyst calls the same answer: neighbours of every kind, in both directions."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sero.benchmarks.tablebench.careful_match import (
    EXACT,
    WITHIN_TENTH,
    canonical,
    list_recall,
    matches,
    sentence_score,
)

# Exact match: gold, answers that are it, answers that are not.
EXACT_TABLE = [
    # thousands separators, brackets, quotes, marks and currency signs say nothing
    ("1062", ["1,062", "1 062", "1'062", "1_062", "+1062", "(1062)", '"1062".', "'1062'"], []),
    ("1062", ["€1,062", "£1062.00", "1062 $", "$1062$", "1062!", "1062?", "= 1062", "~1062"], []),
    ("1062", ["[1062]", "1062**", "_1062_", "`1062`", "1062;", "1062,", "１０６２", "0001062"], []),
    # other ways to write the same value
    ("1062", ["1062.0", "1062,0", "1.062e3", "10620e-1", "1.062 x 10^3", "1.062×10^3"], []),
    ("1062", [r"1.062 \times 10^{3}", "1062.4", "1061.5"], ["1062.5", "1061.49", "1.062e4"]),
    # words, hedges, further values and broken grouping make it another answer
    ("1062", [], ["1062 films", "1062 km", "USD 1062", "about 1062", "approximately 1062"]),
    ("1062", [], ["≈1062", ">1062", "<1062", "≥1062", "1062+", "1062±1", "1062 or 1063"]),
    ("1062", [], ["1062/1063", "1062-1063", "1062 1062", "1062, 1062", "1062, 7", "1062 (or 7)"]),
    ("1062", [], ["1,0,62", "1, 062", "10,62", "1.062", "106.2", "106,2", "1.062,0", "10620"]),
    ("1062", [], ["-1062", "−1062", "–1062", "minus 1062", "not 1062", "121+322+619=1062"]),
    ("1062", [], ["one thousand sixty-two", "N/A", "unknown", "nan", "inf", "0x426", "1061", ""]),
    ("-5.5", ["−5.5", "–5.5", "- 5.5", "-5.50", "(-5.5)", "-$5.5", "$-5.5", "-5,5", "-5.54"], []),
    ("-5.5", [], ["5.5", "+5.5", "(5.5)", "minus 5.5", "--5.5", "-55", "55", "-5.55", "-6"]),
    ("10.6", ["10.60", "10.600", "10.64", "10.55", "010.6", "10,6", "1.06e1", "10.6."], []),
    ("10.6", [], ["106", "1.06", "10.65", "10.5", "11", "10", "10, 6", "10 6", "10:6", "10/6"]),
    ("0.5", [".5", "0.50", "50%", "0,5"], ["5", "05", "1/2", "0.05", "half"]),
    ("0", ["0.0", "-0", "0%", "0.00"], ["0.4", "-0.4", "40%", "none", "zero", "no"]),
    ("0.00", ["0", "0.004"], ["0.005", "0.01"]),
    ("2014.0", ["2014", "2014.00"], ["2014.1", "20140"]),
    ("1,062", ["1062", "1062.0", "1,062"], ["1, 062", "1.062"]),
    # a percent sign that one side leaves out, and the fraction that stands for it
    ("12.5%", ["12.5", "12.50%", "12.5 %", "12.5 percent", "12.5 per cent", "0.125", "12,5%"], []),
    ("12.5%", [], ["125%", "0.125%", "1.25", "125", "-12.5%", "12.6%", "12.5 points", "0.13"]),
    ("12.5%", ["12.5 %"], ["0.125 %", "1.25 %"]),
    ("100%", ["100 %", "1", "1.0"], ["1.0 %", "1 %", "1.00%"]),
    ("1062", ["1062%"], ["1062 percent"]),
    # a currency or a percent sign in the place of another
    ("12.5%", ["$12.5$"], ["$12.5", "12.5$", "12.5 €"]),
    ("$5", ["5", "$5.00", "5 $"], ["€5", "5%", "5 £"]),
    ("$1.2 million", ["1.20 million"], ["€1.2 million", "-$1.2 million", "−$ 1.2 million"]),
    # European separators where the gold has as many decimals
    ("12345.67", ["12.345,67", "€12.345,67", "12.345,67."], ["12.345,76", "1.234,67"]),
    ("12345.67", [], ["12,345,67", "123.45,67", "-12.345,67", "12.345.67"]),
    ("-1062.5", ["-1.062,5", "−1.062,5"], ["1.062,5", "-1.062,50", "-1.062,6"]),
    ("1234567.5", ["1.234.567,5"], ["1.234.567", "1.234.56,5"]),
    ("0.85", ["85%", "85.4%", "0.85%"], ["8.5%", "86%", "85"]),
    ("85", ["85%", "8500%"], ["0.85", "850%"]),
    ("1", ["100%"], ["85%", "101%"]),
    # lists: order and number count, the separator does not
    (
        "2002, 2003",
        ["2002,2003", "2002; 2003", "2002 and 2003", "2002, and 2003", "2002 & 2003"],
        [],
    ),
    ("2002, 2003", ["[2002, 2003]", "2002, 2003,", "2002 2003", "2002, 2003."], []),
    ("2002, 2003", [], ["2003, 2002", "2002", "2002, 2003, 2004", "2002-2003", "20022003"]),
    ("100, 200", ["100,200", "100; 200"], ["200, 100", "100.200"]),
    ("100200", ["100,200"], ["100, 200"]),
    ("1, 62", ["1,62"], ["1,062", "1062", "62, 1"]),
    ("Ovar, 5", ["ovar, 5", "Ovar,5", "Ovar ; 5", "Ovar, 5.0", "the Ovar, 5", "'Ovar', '5'"], []),
    ("Ovar, 5", ["Ovar (5)", "Ovar: 5", "Ovar - 5", "Ovar and 5", "Ovar 5"], []),
    ("Ovar, 5", [], ["5, Ovar", "Ovar", "5", "Ovar, 6", "Ovar, -5", "Nelt, 5", "Ovar, five"]),
    ("Ovar, 5", [], ["Ovar, 5 times", "Ovar, 5 (or 6)", "Ovar, 1,005", "Ovar or Nelt, 5"]),
    ("Ovar, 1005", ["Ovar, 1,005", "Ovar,1,005"], ["Ovar, 1, 005"]),
    ("gold, silver", ["Gold, Silver", "gold and silver", "gold & silver", "gold / silver"], []),
    ("gold, silver", [], ["silver, gold", "gold", "gold, silver, bronze", "goldsilver"]),
    ("Pim, Nelt and Ovar", ["pim, nelt and ovar"], ["Pim, Nelt, Ovar, Sand"]),
    ("Nelt and Ovar", ["Nelt and Ovar", "nelt and ovar."], ["Nelt, Ovar", "Ovar and Nelt"]),
    ("Nelt, Sandor", ["Nelt, Sandor"], ["Nelt, S or"]),
    # names: letter case, articles and quotes say nothing, words do
    (
        "The Red Kiosk",
        ["Red Kiosk", "a red kiosk", '"The Red Kiosk"', "“Red Kiosk”", "*Red Kiosk*"],
        [],
    ),
    (
        "The Red Kiosk",
        [],
        ["The Red-Kiosk", "RedKiosk", "Redder Kiosk", "Red", "not the Red Kiosk"],
    ),
    ("Ovar", ["« Ovar »", "**Ovar**", "ovar."], ["Ovar (PT)", "Ovar or Nelt", "Ovra", "Ovar town"]),
    ("Group A", ["group a", "the Group A"], ["Group", "Group B", "A"]),
    ("A", ["A", "a."], ["B", "the", "an", "?"]),
    ("The", ["the"], ["a", "?"]),
    ("A+", ["a+"], ["A", "A-", "A++B"]),
    ("AA-", ["AA-"], ["AA", "AA+"]),
    ("C++", ["c++", "C++."], ["C+", "C", "C#"]),
    ("700+", ["700+"], ["700", "700-"]),
    ("U.S.A.", ["USA", "u.s.a"], ["US", "U.S. of A."]),
    ("St. Nelt", ["St Nelt"], ["Saint Nelt"]),
    ("são nelt", ["SÃO Nelt", "sa\u0303o nelt"], ["sao nelt"]),
    ("Nelt's", ["Nelt’s", "nelts"], ["Nelt s"]),
    # cells of tokenised pages: gaps around marks close
    ("vice - chair", ["vice-chair", "Vice – Chair", "vice chair"], ["vicechair"]),
    ("vice-chair", ["vice - chair", "vicechair"], ["vice chair"]),
    ("men 's doubles", ["men's doubles", "men’s doubles"], ["women's doubles"]),
    ("n / a", ["n/a", "N / A"], ["n", "0"]),
    ("may 9 - june 3 , 2011", ["May 9 – June 3, 2011", "May 9-June 3, 2011"], ["May 9, 2011"]),
    # marks inside a time, a score, a season or a code count
    ("1:45", ["01:45", "1:45."], ["145", "10:45", "0:45", "001:45", "01:46", "1:45:00"]),
    ("01:45:09", ["1:45:09"], ["1:45:9", "1:45"]),
    ("10:45, 1:05", ["10:45, 01:05", "10:45 and 01:05"], ["01:05, 10:45"]),
    ("6.6e-34", ["6.6 × 10⁻³⁴", "6.6·10⁻³⁴", r"6.6 \times 10⁻³⁴"], ["6.6 × 10³⁴", "6.6 × 10⁻³³"]),
    ("12", ["\u200e12", "1\u20602\u202c"], ["12²", "1\u200a2"]),
    ("1:45.61", ["1:45.61", "1:45.61."], ["14561", "145.61", "1:45.6", "1.45", "1:45"]),
    ("11-2", ["11–2", "11 - 2", "11/2"], ["1-12", "112", "2-11", "11, 2", "11.2"]),
    ("5-14 (29)", ["5–14 (29)"], ["514 (29)", "5-14", "5-1 (429)"]),
    ("2004-05", ["2004–05", "2004/05"], ["200405", "2004", "2005", "2004-06"]),
    (".22 long", ["0.22 long", ".22 Long"], ["22 long", ".2 long"]),
    ("pimt 75 13", ["PIMT 75 13"], ["pimt 7513", "pimt 75 14", "pimt 75"]),
    ("<5", ["<5", "< 5"], ["5", ">5", "<=5"]),
    ("< 5", ["<5", "< 5"], ["5", "> 5", "<=5"]),
    ("<=5", ["<=5", "<= 5"], ["5", "=5", "<5", ">=5"]),
    ("3rd", ["3rd"], ["3", "third"]),
    ("-", ["–", "-"], ["?", "0", "none"]),
    # a unit that the gold has
    (
        "5 years",
        ["5 years", "5.0 Years"],
        ["5", "6 years", "5 months", "five years", "5 years ago"],
    ),
    ("0.5 km", [".5 km", "0.50 km"], ["-.5 km", "-0.5 km", "5 km", ".05 km"]),
    ("-0.5 km", ["-.5 km", "−0.5 km"], [".5 km", "0.5 km"]),
    ("1942 km", ["1,942 km", "1942.0 km"], ["1942", "1942 m", "194.2 km"]),
    ("$1.2 million", ["1.2 million", "$1.20 million"], ["1.2", "$1200000", "12 million"]),
    # yes and no, and the fixed phrases
    ("Yes", ["yes", "YES.", "'yes'"], ["No", "True", "Y", "Yes, it does", "Yes/No", "not yes"]),
    ("No", ["no.", "NO"], ["None", "Not", "False", "No, it does not"]),
    ("True", ["true."], ["Yes", "False", "untrue"]),
    ("Positive impact", ["positive impact."], ["positive", "Negative impact", "No clear impact"]),
    ("Negative impact", ["Negtive impact"], ["negative", "Positive impact"]),
    ("Negtive impact", ["Negative impact"], ["impact"]),
    ("No clear impact", ["no clear impact"], ["clear impact", "no impact", "not clear impact"]),
]

# Exact match within 10 %.
TOLERANT_TABLE = [
    ("250", ["250", "275", "225", "$250", "2.5e2", "250.0", "247.123"], []),
    ("250", [], ["276", "275.01", "224", "224.99", "-250", "about 250", "250 people", "250-260"]),
    ("-250", ["-240", "−275"], ["240", "-276", "-200"]),
    ("12.41", ["12", "12.9", "12.90", "12,41", "1.241e1", "13.651", "12.9%"], []),
    ("12.41", [], ["1241", "124.1", "14.00", "13.652", "1.241", "-12.41"]),
    ("12.41%", ["12.41", "13%", "0.1241", "0.13"], ["0.5", "1.3%", "130%"]),
    ("0.85", ["0.9", "0.80", "85%", ".85", "93.5%"], ["0.5", "94%", "8.5", "-0.85"]),
    ("0", ["0", "-0", "0.0"], ["0.001", "-0.001", "1"]),
    ("0.0", ["0", "0.00"], ["0.04"]),
    ("-0.3", ["-0.31", "−0.33"], ["0.3", "-0.34", "0.31"]),
    ("3.5, 12.2", ["3.6, 12.0", "3.6,12", "3.6; 12", "3.6 and 12.0", "3.6 12.0"], []),
    ("3.5, 12.2", [], ["12.2, 3.5", "3.5", "3.6, 14.0", "3.6, 12.0, 1", "mean 3.6, sd 12.0"]),
    ("2010", [], ["2010,20", "2010,2011", "2010,2", "2009,75"]),  # a comma parts a list
    ("3", [], ["3,2", "2,9"]),
    ("2010, 1242.58", ["2010, 1,242.58", "2010, 1.24e3"], ["1242.58", "1242.58, 2010"]),
    # relation and coefficient
    ("Strong positive correlation, 0.97", ["Strong positive correlation, 0.96"], []),
    ("Strong positive correlation, 0.97", ["strong positive correlation,0.9"], []),
    ("Strong positive correlation, 0.97", ["Strong positive correlation (0.96)"], []),
    ("Strong positive correlation, 0.97", ["Strong positive correlation: 0.96"], []),
    ("Strong positive correlation, 0.97", [], ["Strong positive correlation, 0.60", "0.97"]),
    ("Strong positive correlation, 0.97", [], ["Strong positive correlation, -0.97"]),
    ("Strong positive correlation, 0.97", [], ["Weak positive correlation, 0.97"]),
    ("Strong positive correlation, 0.97", [], ["Strong negative correlation, 0.97"]),
    ("Strong positive correlation, 0.97", [], ["0.97, Strong positive correlation"]),
    ("Strong positive correlation, 0.97", [], ["Strong positive correlation"]),
    ("Strong positive correlation, 0.97", [], ["Strong positive correlation, r = 0.97"]),
    ("No correlation, -0.09", ["No correlation, −0.09", "no correlation, - 0.09"], []),
    ("No correlation, -0.09", ["No correlation (-0.09)"], ["No correlation, 0.09", "-0.09"]),
    ("No correlation, 0.09", ["No correlation - 0.09"], ["No correlation, - 0.09"]),
    ("No correlation, 0.01", ["No correlation, 0.010"], ["No correlation, 0.02"]),
    ("No correlation, 0.01", ["No correlation, 0.0101"], ["No correlation, 0", "0.01"]),
    ("No correlation, 0.00", ["No correlation, 0", "No correlation, -0.00"], []),
    ("No correlation, 0.00", [], ["No correlation, 0.001", "No correlation"]),
    # trends
    ("Increasing trend", ["increasing trend."], ["Increasing", "Decreasing trend", "trend"]),
    ("No clear trend", ["no clear trend"], ["clear trend", "No trend"]),
    ("Increasing trend, 13.5", ["Increasing trend, 14"], ["Decreasing trend, 13.5", "13.5"]),
    # numbers inside a name are part of the name
    ("nelt 747, 12.5", ["Nelt 747, 12"], ["Nelt 737, 12.5", "Nelt 747, 14"]),
    ("May 2005", ["may 2005"], ["May 2006", "June 2005"]),
    ("250 people", ["260 people"], ["250", "300 people", "260 women"]),
]


def rows(table):
    return [
        (gold, answer, value)
        for gold, right, wrong in table
        for value, answers in ((True, right), (False, wrong))
        for answer in answers
    ]


@pytest.mark.parametrize(("gold", "answer", "same"), rows(EXACT_TABLE))
def test_exact_match(gold, answer, same):
    assert matches(gold, answer, EXACT) is same


@pytest.mark.parametrize(("gold", "answer", "same"), rows(TOLERANT_TABLE))
def test_exact_match_within_ten_percent(gold, answer, same):
    assert matches(gold, answer, WITHIN_TENTH) is same


def test_enough_neighbours():
    assert len(rows(EXACT_TABLE)) + len(rows(TOLERANT_TABLE)) > 400


@pytest.mark.parametrize(
    ("gold", "answer", "recall"),
    [
        ("7", "7", None),
        ("gold, silver", "silver, gold", 1.0),
        ("gold, silver", "gold", 0.5),
        ("gold, silver, 5", "5.0; iron", 1 / 3),
        ("gold, gold", "gold, silver", 0.5),  # each part of the answer counts once
        ("gold, silver", "", 0.0),
    ],
)
def test_the_share_of_a_list(gold, answer, recall):
    assert list_recall(gold, answer, EXACT) == recall


@pytest.mark.parametrize(
    ("gold", "answer", "score"),
    [
        ("Yes, the kiosk sells more.", "Yes, the kiosk sells more.", 1.0),
        ("Yes, the kiosk sells more.", "yes kiosk sells more", 1.0),  # as published
        ("Nelt's sales rose by 5.", "Nelt’s sales rose by 5", 1.0),
        ("sales rose by 0.5 points", "sales rose by 05 points", 1.0),  # the published faults stay
        ("sales rose", "sales fell", 0.5),
        ("売上は増加", "売上は増加", 1.0),
        ("売上は増加", "売上は減少", 0.0),
        ("sales rose", "", 0.0),
    ],
)
def test_sentences(gold, answer, score):
    assert sentence_score(gold, answer) == pytest.approx(score)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (["1,062", "1062.0", "$1062", "1.062e3", "1062."], "1062"),
        (["10.60", "10.6", "+10.6"], "10.6"),
        (["-0", "0", "0.00"], "0"),
        (["12.5%", "12.50 %", "12.5 percent"], "12.5%"),
        (["The Red Kiosk", "red kiosk.", "“Red Kiosk”"], "red kiosk"),
        (["Ovar, 5", "ovar;5", "Ovar, 5.0", "Ovar, and 5"], "ovar, 5"),
        (["No correlation, −0.09", "no correlation, -0.090"], "no correlation, -0.09"),
        (["Yes", "YES."], "yes"),
        (["-", "–"], "-"),
        (["A", "a."], "a"),
    ],
)
def test_equal_answers_vote_together(answers, expected):
    assert {canonical(answer) for answer in answers} == {expected}


@pytest.mark.parametrize(
    ("a", "b"),
    [("10.6", "106"), ("5.5", "-5.5"), ("1:45", "145"), ("a, b", "b, a"), ("A+", "A"), ("5", "5%")],
)
def test_different_answers_do_not(a, b):
    assert canonical(a) != canonical(b)


shown = st.text(min_size=1, max_size=80).filter(lambda text: any(c.isalnum() for c in text))


@settings(deadline=None, max_examples=300)
@given(gold=shown)
def test_the_gold_is_right(gold):
    for agrees in (EXACT, WITHIN_TENTH):
        assert matches(gold, gold, agrees)
        assert list_recall(gold, gold, agrees) in (None, 1.0)
    assert canonical(gold)


TOKENS = ["1", "062", ".", ",", " ", "-", "%", "and", "or", "Ovar", "the", "(", ")", "$", "e3"]
TOKENS += ["x10^2", "−", ";", "/", ":", "'", "é", "²", "+", "<", "percent", "\\"]
noise = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(TOKENS)).map("".join))


@settings(deadline=None, max_examples=300)
@given(gold=noise, answer=noise)
def test_total(gold, answer):
    for agrees in (EXACT, WITHIN_TENTH):
        assert matches(gold, answer, agrees) in (True, False)
        recall = list_recall(gold, answer, agrees)
        assert recall is None or 0.0 <= recall <= 1.0
    assert 0.0 <= sentence_score(gold, answer) <= 1.0
    assert isinstance(canonical(answer), str)


@settings(deadline=None, max_examples=200)
@given(gold=st.integers(-9999, 9999), answer=st.integers(-9999, 9999), places=st.integers(0, 2))
def test_numbers_agree_as_numbers_do(gold, answer, places):
    """Against arithmetic on scaled integers: both are shown with the same decimals."""

    def shown_as(units: int) -> str:
        return f"{units / 10**places:.{places}f}"

    assert matches(shown_as(gold), shown_as(answer), EXACT) is (gold == answer)
    near = abs(gold - answer) * 10 <= abs(gold)
    assert matches(shown_as(gold), shown_as(answer), WITHIN_TENTH) is near


HOSTILE = ["a", "1", " ", "-", ",", ".", "1,", "1,111", "1,11", "1.", "and ", "a and ", "- ", "10^"]
HOSTILE += ["1 000 ", "１", "٣", "ﷺ", "—", "\u0301", " (,", "1-", "(1", "5 films, ", "%", "\\", "+"]
HOSTILE += ["++", "- $", "1 %", "< ", "1.111", "$5"]


@pytest.mark.parametrize("gold", ["3.5, gold", "word " * 80])
@pytest.mark.parametrize("unit", HOSTILE)
def test_an_answer_of_100_kb_takes_no_time(gold, unit):
    answer = (unit * (100_000 // len(unit) + 1))[:100_000]
    start = time.process_time()
    matches(gold, answer, EXACT)
    list_recall(gold, answer, WITHIN_TENTH)
    sentence_score(gold, answer)
    canonical(answer)
    assert time.process_time() - start < 1.0

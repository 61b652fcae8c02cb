"""What is said to set, for flips of every size."""

from dataclasses import replace

import pytest

from sero.doctor import Level
from sero.doctor.flips import Flips, Share
from sero.doctor.gate_advice import gate_advice
from sero.evolution.gate_noise import chances
from sero.evolution.sections import GateConfig

GATE = GateConfig(kind="published", warmup="nonharmful", tasks=1, repeats=1)


def flips(k, n=100, scores=None):
    return Flips(
        texts=Share(k=k, n=n),
        scores=scores,
        again=0,
        crowd=2 * n,
        failures=(),
        alone_s=1.0,
        alone_tokens_s=1.0,
        crowd_tokens_s=1.0,
    )


def advise(found, gate=GATE, level=0.05):
    return gate_advice(found, gate, level=level, effect=0.1, mend="fewer flips")


def test_without_flips_there_is_no_table_but_a_bound():
    found = advise(flips(0, 8))
    assert (found.level, found.mend, found.details) == (Level.OK, "", ())
    # 1 - (0.05 / 2)^(1/8)
    assert "up to 0.37" in found.said


def test_a_gate_that_commits_everything_has_nothing_to_tune():
    assert advise(flips(10), replace(GATE, kind="none")).level is Level.OK


def test_few_flips_leave_one_task_and_only_warm_up_is_mended():
    # f = 0.08: an edit without effect is committed with 0.04
    found = advise(flips(8))
    assert found.said.startswith(
        "at gate.tasks=1 gate.repeats=1 an edit without effect is committed with 0.040 "
    )
    assert (found.level, found.mend) == (Level.WARN, "gate.warmup=strict")
    assert advise(flips(8), replace(GATE, warmup="strict")).mend == ""
    assert advise(flips(8), replace(GATE, warmup="strict")).level is Level.OK


def test_averaging_that_raises_false_commits_is_taken_back():
    found = advise(flips(8), replace(GATE, warmup="strict", tasks=8))
    # eight tasks: far above 0.05. One task sees a gain with 0.9 · 0.04 + 0.1 · (1 - 0.0417)²
    assert found.mend == "gate.tasks=1 gate.repeats=1"
    assert any("It sees a gain of 0.1 with 0.128" in line for line in found.details)


def test_the_setting_that_sees_most_within_the_level_is_named_beside_the_cheapest():
    # f = 0.03: two tasks commit 0.0291 of the edits without effect, four 0.056
    found = advise(flips(3))
    assert found.mend == "gate.warmup=strict"
    (line,) = [line for line in found.details if line.startswith("Of the settings under")]
    assert "gate.tasks=2 gate.repeats=1 (+2 rollouts) sees most gains, 0.206" in line
    assert "commits 0.029" in line


def test_many_flips_cannot_be_averaged_away_and_it_is_said():
    found = advise(flips(20))
    assert (found.level, found.mend) == (Level.WARN, "fewer flips")
    assert found.figures["recommended"] is None
    (line,) = [line for line in found.details if line.startswith("No gate.tasks")]
    assert "the least is 0.100, of one task once, and averaging raises it towards 0.5" in line
    assert "Only fewer flips help." in line


def test_a_level_that_is_above_is_met():
    assert advise(flips(20), level=0.11, gate=replace(GATE, warmup="strict")).mend == ""


def test_the_intervals_ends_are_shown_and_checked():
    found = advise(flips(8))
    low, high = Share(k=8, n=100).interval
    ends = [chances(end, tasks=1, repeats=1).strict for end in (low, high)]
    assert f"({ends[0]:.3f} to {ends[1]:.3f})" in found.said
    assert any(f"not at the interval's upper end, with {ends[1]:.3f}" in d for d in found.details)


@pytest.mark.parametrize(
    ("scores", "of", "rate", "bound"),
    [
        (None, "texts", 0.3, True),
        # a score that was not seen to flip says less than texts that were
        (Share(k=0, n=10), "texts", 0.3, True),
        (Share(k=1, n=10), "scores", 0.1, False),
    ],
)
def test_score_flips_count_where_some_were_seen(scores, of, rate, bound):
    found = advise(flips(30, scores=scores))
    assert (found.figures["of"], found.figures["flip_rate"]) == (of, rate)
    assert ("an upper bound" in found.details[0]) is bound


def test_the_table_holds_every_setting_with_its_chances():
    found = advise(flips(10))
    _, _, _, names, *rows = found.details[: 4 + 12]
    assert names.split() == [
        *("tasks", "repeats", "extra", "rollouts|", "none", "+0.1", "-0.1|", "none", "-0.1"),
    ]
    assert len(found.figures["settings"]) == 12
    cells = rows[0].replace("|", " ").split()
    # f = 0.1, ε = (1 - √0.8) / 2 = 0.0528: a gain of 0.1 is seen with 0.9 · 0.05 + 0.1 · 0.9472²
    assert cells == ["1", "1", "0", "0.050", "0.135", "0.045", "0.950", "0.865"]
    assert [row.replace("|", " ").split()[:3] for row in rows[1:4]] == [
        ["2", "1", "2"],
        ["1", "2", "2"],
        ["4", "1", "6"],
    ]


def test_more_than_half_counts_as_half():
    assert advise(flips(90)).figures["flip_rate"] == 0.5

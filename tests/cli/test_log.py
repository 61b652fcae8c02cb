from sero.cli.log import line_of
from sero.reporting.entries import Episode


def test_one_line_per_episode(sero, run_directory):
    found = sero("log", run_directory)
    lines = found.out.splitlines()
    assert found.code == 0
    assert lines[0].split() == [
        *("episode", "phase", "action", "verdict", "before", "after", "R", "pool"),
        *("what", "and", "why"),
    ]
    assert lines[1].split() == [
        *("1", "warmup", "noop", "unchanged", "0.500", "–", "+0.000", "4"),
    ]
    assert lines[2].startswith("     2*  warmup  add     committed   0.500   0.750  +0.250     4")
    assert lines[2].endswith("from solver gate +0.250")
    assert lines[3].endswith("-checker [validators_too_few, no_gain] broken: validation")
    assert lines[4] == "3 episodes: 1 committed, 1 rejected, 1 unchanged; state completed"


def test_only_commits_and_only_the_last(sero, run_directory):
    lines = sero("log", run_directory, "--commits-only").out.splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == ["2*"]
    lines = sero("log", run_directory, "--last", 2).out.splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == ["2*", "3"]
    assert lines[-1].startswith("3 episodes")  # the counts are of the whole run


def test_details_stand_below_their_line(sero, run_directory):
    lines = sero("log", run_directory, "--details").out.splitlines()
    assert lines[4].strip().startswith("0 validator(s)")
    assert lines[5].strip() == "not better"


def test_model_text_cannot_steer_the_terminal(sero, run_directory):
    out = sero("log", run_directory, "--details").out
    assert not set(out) & {"\x1b", "\x07", "\u202e"}
    assert "newcomer\\x1b]0;owned\\x07\\u202e[bold]" in out


def test_a_run_without_training_says_so(sero, run_directory):
    (run_directory / "episodes.jsonl").unlink()
    found = sero("log", run_directory)
    assert found.code == 0
    assert "no training episodes" in found.out


def test_an_add_without_a_card_is_shown():
    episode = Episode(
        episode=9, phase="main", task="t", action="add", verdict="rejected", reasons=("leak",)
    )
    assert line_of(episode).endswith("+(no card) [leak]")

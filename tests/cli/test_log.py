import json

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


def test_learned_edges_have_scores_and_steps_and_no_verdict(sero, run_directory):
    drawn = {"phase": "edges", "action": "sample", "verdict": "unchanged", "task": "t"}
    lines = [
        {"episode": 1, **drawn, "score_before": 0.25, "reward": 0.25},
        {"episode": 2, **drawn, "score_before": 0.5, "reward": 0.5}
        | {"edge_probabilities": {"a": {"b": 0.75, "c": 0.25}, "b": {"c": 0.62}}},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (run_directory / "episodes.jsonl").write_text(text)
    out = sero("log", run_directory).out.splitlines()
    assert out[0].split() == ["episode", "phase", "action", "score", "gradient", "step"]
    assert out[1].split() == ["1", "edges", "sample", "0.250"]
    assert out[2].endswith("0.500  mean probability 0.540, 2 of 3 edges above .5")
    assert out[3] == "2 episodes: 2 graphs drawn, 1 gradient steps; state completed"
    assert out[4] == "edges kept, probability above 0.5: a → b 0.750, b → c 0.620"

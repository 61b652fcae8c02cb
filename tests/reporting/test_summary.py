import io

import pytest
import yaml
from rich.console import Console

from sero.errors import UserError
from sero.reporting.rows import read_row
from sero.reporting.summary import print_summary


def printed(directories, width=100):
    out = io.StringIO()
    print_summary(directories, Console(file=out, width=width))
    return out.getvalue()


@pytest.fixture
def pair(make_run):
    """sero and static on the same three items: differences .5, 0, 0 and one item apart."""
    theirs = {"a": ("g1", 0.5), "b": ("g1", 0.0), "c": ("g2", 0.5), "e": ("g2", 1.0)}
    ours = {"a": ("g1", 1.0), "b": ("g1", 0.0), "c": ("g2", 0.5), "d": ("g2", None)}
    return make_run(method="sero", scores=ours), make_run(method="static", scores=theirs)


def test_read_row_excludes_failures(pair):
    row = read_row(pair[0])
    assert (row.interval.n, row.failures) == (3, 1)
    assert row.interval.mean == pytest.approx(0.5)


def test_the_last_line_of_an_item_counts(make_run):
    directory = make_run(scores={"a": ("g", None)})
    with (directory / "predictions.jsonl").open("a") as file:
        file.write('{"id":"a","group":"g","score":1.0}\n')
    row = read_row(directory)
    assert (row.interval.mean, row.failures) == (1.0, 0)


def test_table_difference_and_warnings(pair):
    text = printed(list(pair))
    flat = " ".join(text.split())
    assert "quickstart · variant base" in text
    assert "skillworld · backbone skillworld-1 · SIMULATED" in text
    # 3 scored items, 1 failed, 1,234 calls, 1.2 M + 30 k tokens
    assert "sero 42 3 0.500" in flat
    assert "1 1,234 1.23M completed" in flat
    # (.5 + 0 + 0) / 3; item e was scored by static only
    assert "sero minus static, seed 42: +0.167, 95 % CI +0.000 to +0.333, n = 3" in flat
    assert "left out because only one of the two scored them: 1" in flat
    assert "Warning: one seed only" in flat
    assert "Failed items are left out" in flat
    assert f"(none yet) sero view {pair[0]}" in flat
    table = text.split("sero minus static")[0]
    assert max(len(line) for line in table.splitlines()) <= 80


def test_report_paths_are_shown(make_run):
    directory = make_run()
    (directory / "report.html").write_text("")
    assert f"report sero seed 42: {directory / 'report.html'}" in printed([directory])


def test_no_difference_between_different_data(make_run):
    runs = [make_run(method="sero"), make_run(method="static", data="other")]
    assert "minus" not in printed(runs)


def test_variants_and_seeds_get_their_column(make_run):
    runs = [
        make_run(seed=1, variant="gate.tasks=8-ab12cd"),
        make_run(seed=2, variant="gate.tasks=8-ab12cd"),
        make_run(seed=1),
        make_run(seed=2),
    ]
    text = printed(runs)
    assert "variant" in text
    assert "gate.tasks=8-ab12cd" in text
    assert "one seed only" not in text
    assert "sero (base) minus sero (gate.tasks=8-ab12cd), seed 1: +0.000" in text


def test_simulated_and_real_runs_never_share_a_table(make_run):
    text = printed([make_run(), make_run(method="static", simulated=False)])
    assert text.count("backbone skillworld-1") == 2
    assert text.count("SIMULATED") == 1


def test_a_backbones_note_stands_under_the_table_once(make_run):
    runs = [make_run(method="static"), make_run(method="sero")]
    assert "Note:" not in printed(runs)
    for run in runs:
        (run / "config.yaml").write_text(r'backbone: {name: local, note: "Small. [b]x[/b]\e"}')
    text = printed(runs)
    assert text.count("\nNote: Small. [b]x[/b]") == 1
    assert "\x1b" not in text


def test_text_from_files_is_printed_as_text(make_run, evil):
    text = printed([make_run(variant="[red]x[/red]"), make_run(method="\x1b[2Jm")])
    assert "\x1b" not in text
    assert "[red]x[/red]" in text


def test_unfinished_run_has_dashes(make_run):
    flat = " ".join(printed([make_run(result=False, scores={}, state="interrupted")]).split())
    assert "sero 42 0 – – 0 – – interrupted" in flat


def test_wrong_directory(tmp_path):
    with pytest.raises(UserError, match="no such directory"):
        printed([tmp_path / "none"])


def test_runs_that_differ_in_who_plays_are_told_apart_by_it(make_run):
    """Four assignments of one method on the same items, their means 1, .5, .25 and 0."""
    runs = []
    for by, value in (("meta_debate", 1.0), ("ann", 0.25), ("random", 0.5), ("bob", 0.0)):
        items = {"a": ("g1", value), "b": ("g2", value)}
        runs.append(make_run(method="static", variant=f"assign.by-{by}-abcdef", scores=items))
        config = yaml.safe_load((runs[-1] / "config.yaml").read_text())
        (runs[-1] / "config.yaml").write_text(yaml.safe_dump({**config, "assign": {"by": by}}))
    text = printed(runs)
    flat = " ".join(text.split())
    assert "played by" in text
    assert "variant" not in text
    assert "static meta_debate 42 2 1.000" in flat
    assert "static · by meta_debate minus static · by random, seed 42: +0.500" in flat
    assert "static · by ann minus static · by random, seed 42: -0.250" in flat
    assert "static · best uniform, in hindsight: 0.250" in flat
    assert "n = 2 items (ann, chosen knowing these scores of 2 items, anew" in flat
    assert "static · by meta_debate minus static · best uniform, in hindsight: +0.750" in flat
    assert "report static · by ann seed 42: " in flat
    assert "abcdef)" not in flat


def test_where_they_differ_in_more_the_variant_stands_there(make_run):
    runs = []
    for mode in ("argmax", "greedy"):
        variant = f"assign.by-random+assign.mode-{mode}-abcdef"
        runs.append(make_run(method="mad", variant=variant))
        config = yaml.safe_load((runs[-1] / "config.yaml").read_text())
        (runs[-1] / "config.yaml").write_text(
            yaml.safe_dump({**config, "assign": {"by": "random", "mode": mode}})
        )
    text = printed(runs)
    assert "variant" in text
    assert "mad · by random (assign.by-random+assign.mode-greedy-abcdef)" in text


def test_a_method_file_that_says_who_plays_is_compared_with_its_own_host(make_run):
    runs = []
    for method, by, value in (("meta_debate_mad", "meta_debate", 1.0), ("random_mad", "random", 0)):
        runs.append(make_run(method=method, scores={"a": ("g", value), "b": ("g", value)}))
        config = yaml.safe_load((runs[-1] / "config.yaml").read_text())
        config |= {"assign": {"by": by}}
        (runs[-1] / "config.yaml").write_text(yaml.safe_dump(config))
    other = make_run(method="cot", scores={"a": ("g", 0.5), "b": ("g", 0.5)})
    flat = " ".join(printed([other, *runs]).split())
    assert "meta_debate_mad minus random_mad, seed 42: +1.000" in flat
    assert "report meta_debate_mad seed 42" in flat.replace(" (base)", "")
    assert "· by meta_debate" not in flat

import json
import re
from html.parser import HTMLParser

from sero.reporting.html import write_report


class Tags(HTMLParser):
    """Collects element names and visible text."""

    def __init__(self):
        super().__init__()
        self.names, self.text, self.links = [], "", []

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.links += [value for key, value in attrs if key in ("href", "src")]

    def handle_data(self, data):
        self.text += data + " "


def parsed(path):
    tags = Tags()
    tags.feed(path.read_text(encoding="utf-8"))
    return tags


def test_page_holds_the_figures_of_the_run(make_run):
    path = write_report(make_run())
    page = parsed(path)
    text = re.sub(r"\s+", " ", page.text)
    assert path.name == "report.html"
    assert "sero on skillworld SIMULATED" in text
    assert "Every score here comes from a simulated world" in text
    assert "all 3 0.500" in text
    assert "3 episodes: 1 committed, 1 rejected, 1 unchanged" in text
    assert "rejected family_lost 1" in text
    assert "1234 logical calls" in text
    assert "state completed" in text
    assert page.names.count("svg") == 1


def test_text_of_models_is_never_markup(make_run, evil):
    scores = {"a": ("g" + evil, 1.0), "b": ("g", None)}
    path = write_report(make_run(scores=scores))
    raw = path.read_text(encoding="utf-8")
    assert "script" not in parsed(path).names
    assert "alert(1)" in raw  # shown, as text
    assert "\x1b" not in raw
    assert "\u202e" not in raw


def test_page_is_self_contained(make_run):
    links = parsed(write_report(make_run())).links
    assert "episodes.jsonl" in links
    local = [link for link in links if not link.startswith("#")]
    assert not [link for link in local if ":" in link or link.startswith("/")]


def test_page_is_deterministic_and_names_no_directory(make_run, tmp_path):
    directory = make_run()
    first = write_report(directory).read_bytes()
    assert write_report(directory).read_bytes() == first
    assert str(tmp_path).encode() not in first


def test_real_backbones_carry_no_badge(make_run):
    text = parsed(write_report(make_run(simulated=False))).text
    assert "SIMULATED" not in text
    assert "simulated" not in text


def test_a_backbones_note_is_shown_as_text(make_run, evil):
    run = make_run(simulated=False)
    (run / "config.yaml").write_text(json.dumps({"backbone": {"note": "A small model." + evil}}))
    page = parsed(write_report(run))
    assert "A small model." in page.text
    assert "script" not in page.names


def test_long_runs_stay_small_and_say_what_is_left_out(make_run, add_episodes):
    path = write_report(make_run(episodes=add_episodes(300)))
    assert path.stat().st_size < 520_000
    assert "100 more not shown." in path.read_text(encoding="utf-8")


def test_unfinished_and_bare_runs_have_a_page(make_run, tmp_path):
    page = parsed(write_report(make_run(result=False, scores={}, state="running")))
    assert "No held-out item has been scored." in page.text
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "status.json").write_text('{"state": "failed", "reason": "disk <full>"}')
    assert "disk <full>" in parsed(write_report(bare)).text

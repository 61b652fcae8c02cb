"""A bar on a terminal, plain lines elsewhere, and no way to break a run."""

import io

import pytest

from sero.running.progress import BarProgress, NoProgress, PlainProgress, make_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Gone(io.StringIO):
    def write(self, text):
        raise BrokenPipeError


@pytest.mark.parametrize(
    ("kind", "stream", "expected"),
    [
        ("auto", Terminal(), BarProgress),
        ("auto", io.StringIO(), PlainProgress),
        ("bar", io.StringIO(), BarProgress),
        ("plain", Terminal(), PlainProgress),
        ("none", Terminal(), NoProgress),
    ],
)
def test_the_kind_follows_the_choice_and_the_stream(kind, stream, expected):
    assert type(make_progress(kind, stream)) is expected


def test_standard_error_is_the_default(capsys):
    progress = make_progress("plain")
    progress.start(1, "train")
    progress.advance()
    progress.close()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("train: 0/1 start\n")


def test_plain_lines_in_full():
    # 41 steps make a line every ceil(41 / 20) = 3 steps; the clock gives one second a reading.
    stream, seconds = io.StringIO(), iter(range(100))
    progress = PlainProgress(stream, clock=lambda: float(next(seconds)))
    progress.start(41, "train")
    for i in range(7):
        progress.advance(f"commit {i}")
    progress.close()
    assert stream.getvalue().splitlines() == [
        "train: 0/41 start",
        "train: 3/41 1.0 s commit 2",
        "train: 6/41 2.0 s commit 5",
        "train: 7/41 3.0 s stopped",
    ]


@pytest.mark.parametrize("total", [0, 1, 19, 20, 21, 300, 1000])
def test_plain_lines_are_few_and_end_with_done(total):
    stream = io.StringIO()
    progress = PlainProgress(stream)
    progress.start(total, "eval")
    for _ in range(total):
        progress.advance()
    progress.close()
    progress.close()
    lines = stream.getvalue().splitlines()
    assert len(lines) <= 22
    assert lines[-1].startswith(f"eval: {total}/{total} ")
    assert lines[-1].endswith(" done")


def test_a_resumed_phase_starts_where_it_stood_and_a_new_phase_ends_the_old():
    stream = io.StringIO()
    progress = PlainProgress(stream, clock=lambda: 0.0)
    progress.start(3, "train", done=2)
    progress.advance()
    progress.start(1, "eval")
    progress.close()
    assert stream.getvalue().splitlines() == [
        "train: 2/3 start",
        "train: 3/3 0.0 s done",
        "eval: 0/1 start",
        "eval: 0/1 0.0 s stopped",
    ]


@pytest.mark.parametrize("stream", [Gone(), "closed"])
def test_a_stream_that_breaks_ends_the_lines_not_the_run(stream):
    if stream == "closed":
        stream = io.StringIO()
        stream.close()
    progress = PlainProgress(stream)
    progress.start(2, "train")
    progress.advance()
    progress.close()


@pytest.mark.parametrize("make", [PlainProgress, BarProgress])
def test_text_from_a_model_cannot_steer_the_terminal(make):
    stream = io.StringIO()
    progress = make(stream)
    progress.start(2, "[b]t[/b]")
    progress.advance("\x1b[2Jadd [bold]x[/bold]\nsecond\r" + "y" * 500)
    progress.close()
    text = stream.getvalue()
    assert "\x1b[2J" not in text
    assert "\r" not in text
    assert "[b]t[/b]" in text
    assert "y" * 81 not in text


def test_the_bar_counts_and_survives_calls_out_of_turn():
    stream = io.StringIO()
    progress = BarProgress(stream)
    progress.advance("too early")
    progress.close()
    progress.start(3, "train", done=1)
    progress.advance("commit")
    progress.close()
    assert "2/3" in stream.getvalue()
    assert "commit" in stream.getvalue()


def test_none_says_nothing(capsys):
    progress = make_progress("none")
    progress.start(2, "train")
    progress.advance("x")
    progress.close()
    assert capsys.readouterr() == ("", "")

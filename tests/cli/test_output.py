import io
import sys

from sero.cli.output import complain, prepare_streams, say


def test_a_line_stays_one_line(capsys):
    say("a\nb\x1b[0m")
    assert capsys.readouterr().out == "a\\nb\\x1b[0m\n"


def test_errors_keep_their_lines(capsys):
    complain("first\n  second\x07")
    assert capsys.readouterr().err == "error: first\n  second\\x07\n"


def test_a_terminal_of_another_encoding_is_no_error(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="latin-1"))
    prepare_streams()
    say("before – after")
    sys.stdout.flush()
    assert raw.getvalue() == b"before \\u2013 after\n"

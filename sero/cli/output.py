"""How verbs write: plain text, whatever came from a model or a file with its controls escaped."""

from __future__ import annotations

import io
import sys

import typer

from sero.reporting.text import printable


def prepare_streams() -> None:
    """A terminal that cannot show a character gets its escape instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(line: str) -> None:
    """Write one line to standard output; a line feed inside it is escaped too."""
    typer.echo(printable(line))


def announce(line: str) -> None:
    """Write one line on what goes on to standard error, so that it is in no piped output."""
    typer.echo(printable(line), err=True)


def complain(message: str) -> None:
    """Write an error to standard error."""
    typer.echo(f"error: {printable(message, keep_lines=True)}", err=True)

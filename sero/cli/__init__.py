"""The `sero` console command: verbs that inspect pools and runs."""

from sero.cli.app import main

__all__ = ["main"]

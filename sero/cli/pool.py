"""`sero pool lint FILE`: every fault of a pool file, then the contracts of the pool it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sero.cli.output import say
from sero.errors import CardError


def build_app() -> typer.Typer:
    """The verbs about pool files."""
    app = typer.Typer(help="Check role-pool files.", no_args_is_help=True, rich_markup_mode=None)
    app.command("lint")(lint)
    # A group with one command would otherwise become that command.
    app.callback()(_group)
    return app


def _group() -> None:
    """Check role-pool files."""


def lint(
    file: Annotated[Path, typer.Argument(help="A YAML file of role cards.", show_default=False)],
    max_prompt_chars: Annotated[
        int, typer.Option(min=1, help="Longest system prompt, as schema.max_prompt_chars.")
    ] = 4000,
) -> None:
    """Check a pool file, cards and contracts.

    Every fault of every card, else of the credit blocks; then the contracts of the pool by itself:
    what depends on a benchmark or a seed pool is checked when a run starts.

    Example: sero pool lint my_pool.yaml
    """
    from sero.evolution.contracts import static_contracts
    from sero.running.saved import load_pool_state

    pool = load_pool_state(file, max_prompt_chars=max_prompt_chars).pool
    say(f"{file}: {len(pool)} cards, families {', '.join(pool.families)}, pool {pool.hash}")
    faults = []
    for contract in static_contracts(pool):
        say(f"  {contract.name}: {'ok' if contract.holds else 'broken'}")
        faults += [
            f"{contract.name}: {reason}" for reason in contract.reasons if not contract.holds
        ]
        if not contract.holds and not contract.reasons:
            faults.append(f"{contract.name}: does not hold")
    if faults:
        raise CardError(str(file), faults)

"""Who answers and who plays: what can be told to be wrong before any run directory exists."""

from __future__ import annotations

from sero.assignment.load import load_candidates
from sero.assignment.players import choice_faults
from sero.backbones.server_config import OpenAIServerConfig, template
from sero.config.sections import RunConfig
from sero.errors import RosterError


def playing_faults(config: RunConfig, *, trains: bool) -> list[str]:
    """Lines on a run's method, roster and backbones that cannot go together.

    Args:
        trains: the run fits the method before it evaluates it.
    """
    method, faults = config.method, _doubles(config)
    if not trains and method.target.needs_training:
        faults.append(
            f"method: {method.choice} answers with what its training finds, and no pool carries "
            "that. Run scripts/train.py, which evaluates it as well"
        )
    if config.assign.by is None:
        return faults
    if not method.target.takes_players:
        faults.append(
            f"assign.by: method={method.choice} has no roles that candidates could play. Leave it "
            "out, or choose a method with named roles: mad, dmad, static_dag, static, sero ..."
        )
    try:
        roster = load_candidates(config.assign.roster)
    except RosterError as error:
        return [*faults, *(f"{error.where}: {fault}" for fault in error.faults)]
    found = choice_faults(config.assign, roster, tuple(config.backbones))
    where = config.assign.roster
    return [*faults, *(f if f.startswith("assign.") else f"{where}: {f}" for f in found)]


def _doubles(config: RunConfig) -> list[str]:
    """Two servers whose replies the call cache would take for one model's."""
    parts = {"backbone": config.backbone}
    parts.update({f"backbones.{name}": part for name, part in config.backbones.items()})
    first: dict[tuple[str, str, str], tuple[str, str]] = {}
    faults = []
    for key, part in parts.items():
        section = part.config
        if not isinstance(section, OpenAIServerConfig):
            continue
        called = (section.model, section.revision, template(section))
        other, url = first.setdefault(called, (key, section.base_url))
        if url != section.base_url:
            faults.append(
                f"{key}: a second server beside {other} with one model, '{section.model}', and one "
                f"revision, so a reply of one would stand for the other's. Set {key}.model to what "
                f"it serves, or {key}.revision to a name of its own"
            )
    return faults

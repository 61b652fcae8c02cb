"""The configuration of a seat: a backbone, and the further fields of a candidate's requests."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping

from sero.assignment.roster import Seat
from sero.config.sections import Component
from sero.errors import UserError

OPTIONS_FIELD = "extra_body"
"""Where a backbone's configuration holds further fields of its requests."""


def part_of(seat: Seat, backbones: Mapping[str | None, Component]) -> Component:
    """The backbone of a seat, its request options added.

    Raises:
        UserError: this kind of backbone takes no options.
    """
    part = backbones[seat.backbone]
    if not seat.options:
        return part
    given = getattr(part.config, OPTIONS_FIELD, None)
    if not isinstance(given, Mapping):
        raise UserError(
            f"the backbone {part.choice} takes no request options, and a candidate on it has some "
            "under 'request'"
        )
    options = {**given, **json.loads(seat.options)}
    config = dataclasses.replace(part.config, **{OPTIONS_FIELD: options})
    return dataclasses.replace(part, config=config)

r"""Where notation leaves a choice: `1/2n`, `\sin x/2`, `\log 5`, and `2e-3` outside programs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sero.benchmarks.olympiadbench.careful_tokens import FUNCTIONS, SIGNED_POWER_OF_TEN

_BARE_LOG = re.compile(r"log(?! ?_)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A choice where notation leaves one.

    Attributes:
        tight_product: in `1/2n` the product binds first.
        slash_in_argument: in `\\sin x/2` the division belongs to the argument.
        signed_power_of_ten: `2e-3` is 0.002.
        natural_log: `\\log` without a base is the natural one, else the one of base 10.
    """

    tight_product: bool
    slash_in_argument: bool
    signed_power_of_ten: bool
    natural_log: bool


def readings(text: str) -> Iterator[Reading]:
    """The choices that a plain text leaves open, most usual first."""
    slash = (True, False) if "/" in text else (True,)
    argument = (False, True) if "/" in text and any(f in text for f in FUNCTIONS) else (False,)
    power = (True, False) if SIGNED_POWER_OF_TEN.search(text) else (True,)
    log = (False, True) if _BARE_LOG.search(text) else (False,)
    for tight, inside, signed, natural in itertools.product(slash, argument, power, log):
        yield Reading(
            tight_product=tight,
            slash_in_argument=inside,
            signed_power_of_ten=signed,
            natural_log=natural,
        )

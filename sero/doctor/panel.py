"""Every backbone of some jobs, their further ones and those of candidates included, each once."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sero.config import Component, RunConfig
from sero.doctor.bounding import one_line
from sero.doctor.data import Data
from sero.doctor.finding import Finding, fail, ok
from sero.errors import UserError
from sero.running.build import Inputs, further_backbones, inputs_of

_KEY = re.compile(r"(?<![\w.~])\+?backbone\.(?=[\w.]+(=?))")
_TAKEN_OUT = re.compile(r"'~backbone\.([^']+)'")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """One backbone, and the first job that uses it.

    Attributes:
        name: that cards and candidates know it by; None is the run's own.
        part: its configuration.
        config: of the job, this backbone in the place of the run's own.
        data: of the job.
    """

    name: str | None
    part: Component
    config: RunConfig
    data: Data

    @property
    def subject(self) -> str:
        """`backbone=qwen3_8b`, `backbones.strong=qwen3_32b`."""
        key = "backbone" if self.name is None else f"backbones.{self.name}"
        return f"{key}={self.part.choice}"

    def about(self, finding: Finding) -> Finding:
        """The finding under this backbone's name, its keys where this one has them."""
        return dataclasses.replace(
            finding,
            subject=self.subject,
            said=self._placed(finding.said),
            mend=self._placed(finding.mend),
        )

    def _placed(self, text: str) -> str:
        """Keys of the run's own backbone as those of this one.

        With request options it is another use of one whose keys stand before the `#`. What starts
        a server takes that server's file for its own backbone.
        """
        name = (self.name or "").partition("#")[0]
        if not name or "scripts/serve_backbone.py" in text:
            return text
        text = _TAKEN_OUT.sub(
            lambda found: (
                f"conf/backbone/FILE.yaml without {found[1]}, and ++backbones.{name}.file=FILE"
            ),
            text,
        )
        return _KEY.sub(lambda found: f"{'++' if found[1] else ''}backbones.{name}.", text)


def seats(configs: Iterable[RunConfig], loaded: Iterable[tuple[Component, Data]]) -> list[Seat]:
    """Each backbone of the jobs once, those that a run calls its own first.

    Args:
        configs: of the jobs.
        loaded: their benchmarks with their data.
    """
    known = list(loaded)
    own: list[Seat] = []
    others: list[Seat] = []
    for config in configs:
        data = next(data for part, data in known if part == config.benchmark)
        own.append(Seat(name=None, part=config.backbone, config=config, data=data))
        for name, part in _further(config, data).items():
            with_it = dataclasses.replace(config, backbone=part)
            others.append(Seat(name=name, part=part, config=with_it, data=data))
    found: list[Seat] = []
    for seat in (*own, *others):
        if all((seat.name, seat.part) != (other.name, other.part) for other in found):
            found.append(seat)
    return found


def check_roles(
    configs: Iterable[RunConfig], loaded: Iterable[tuple[Component, Data]]
) -> Iterator[Finding]:
    """Whether the starting pool and the candidates for its roles can be used, where that is open.

    Pools without further backbones or candidates are no matter of the panel, unless they cannot
    be read.
    """
    known = list(loaded)
    seen: list[Finding] = []
    for config in configs:
        data = next(data for part, data in known if part == config.benchmark)
        finding = _roles(config, data)
        if finding is not None and finding not in seen:
            seen.append(finding)
            yield finding


def _roles(config: RunConfig, data: Data) -> Finding | None:
    subject = f"method={config.method.choice}"
    try:
        inputs = _inputs(config, data)
    except UserError as error:
        mend = "mend the file, or these keys, as it says"
        return dataclasses.replace(fail("roles", one_line(str(error)), mend), subject=subject)
    if inputs is None or inputs.roster is None:
        return None
    roster = inputs.roster
    said = (
        f"{len(inputs.seed_state.pool)} roles for {len(roster.candidates)} candidate(s), "
        f"{len(roster.evaluators)} evaluator(s), by {config.assign.by}"
    )
    return dataclasses.replace(ok("roles", said), subject=subject)


def _further(config: RunConfig, data: Data) -> dict[str, Component]:
    """Those of the configuration, and where the candidates can be read also theirs."""
    try:
        inputs = _inputs(config, data)
    except UserError:
        inputs = None  # `check_roles` says why
    return further_backbones(config, None if inputs is None else inputs.roster)


def _inputs(config: RunConfig, data: Data) -> Inputs | None:
    if data.benchmark is None or data.split is None:
        return None
    return inputs_of(config, data.benchmark, data.split)

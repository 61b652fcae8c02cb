"""How thoroughly to look."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line asks for.

    Attributes:
        probes: requests that are asked alone and in a crowd; 0 leaves that out.
        tokens: bound on each of their answers.
        deadline_s: of each call and of each other check.
        deep: also load the encoder and send the longest prompt.
        false_commit: the highest chance at which an edit without effect may be committed.
        effect: the gain and loss, on the score, that the gate's table looks at.
    """

    probes: int
    tokens: int
    deadline_s: float
    deep: bool
    false_commit: float
    effect: float

    @property
    def fillers(self) -> int:
        """Other calls that make the crowd twice the probes."""
        return self.probes

"""Which roles were asked in which training episodes, and newcomers that never were."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sero.reporting.entries import Episode


@dataclass(slots=True)
class Retrievals:
    """In which episodes each role was in the pre-edit team, noted while traces stream by."""

    seen: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    known: bool = False

    def watch(self, traces: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Hand the traces on, one at a time."""
        for trace in traces:
            rollout, episode = trace.get("rollout"), trace.get("episode")
            if trace.get("phase") == "pre" and isinstance(rollout, Mapping):
                team = rollout.get("team")
                if isinstance(team, list) and isinstance(episode, int):
                    self.known = True
                    for name in team:
                        self.seen[str(name)].append(episode)
            yield trace

    def between(self, name: str, after: int, until: int) -> bool:
        """The role was in a team after one episode and up to another."""
        return any(after < episode <= until for episode in self.seen.get(name, ()))


def unseen_newcomers(episodes: Sequence[Episode], retrievals: Retrievals) -> dict[str, int]:
    """Committed newcomers in no pre-edit team while they were in the pool, and how long that was.

    A newcomer stays until it is removed, or to the last episode. Without any trace nothing can be
    said of any.
    """
    found: dict[str, int] = {}
    if not retrievals.known:
        return found
    last = episodes[-1].episode if episodes else 0
    for added in episodes:
        if added.role is None or not added.committed:
            continue
        until = next(
            (
                e.episode
                for e in episodes
                if e.episode > added.episode
                and e.committed
                and e.action == "remove"
                and e.target == added.role
            ),
            last,
        )
        if not retrievals.between(added.role, added.episode, until):
            found[added.role] = until - added.episode
    return found

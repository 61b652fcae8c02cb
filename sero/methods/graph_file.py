"""A graph of roles written by hand: cards, edges and one terminal in a YAML file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sero.errors import CardError
from sero.roles.card import RoleCard, RoleType
from sero.roles.load import load_yaml, pool_from_data
from sero.roles.pool import RolePool
from sero.validation import did_you_mean

ACCEPTED = "accepted is [from, to], two names of roles in this file"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleGraph:
    """A fixed DAG over a pool.

    Attributes:
        pool: the cards in the order of the file; its terminal is the only one that answers.
        order: the other cards, predecessors first; ties by the order of the file.
        predecessors: for each of `order`, positions of its predecessors in it, ascending.
        feeding: positions of the terminal's predecessors, ascending.
    """

    pool: RolePool
    order: tuple[RoleCard, ...]
    predecessors: tuple[tuple[int, ...], ...]
    feeding: tuple[int, ...]

    @property
    def terminal(self) -> RoleCard:
        terminal = self.pool.terminal
        assert terminal is not None, "read_graph refuses a file without one"
        return terminal

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Every edge as (from, to), those to the terminal last."""
        names = [card.name for card in self.order]
        inner = [(names[i], names[j]) for j, into in enumerate(self.predecessors) for i in into]
        return (*inner, *((names[i], self.terminal.name) for i in self.feeding))


def load_graph(path: str, *, max_prompt_chars: int = 4000) -> RoleGraph:
    """Read a graph of the package or of the user's.

    Raises:
        CardError: every fault of the cards, or else of the graph.
    """
    return read_graph(load_yaml(path), where=path, max_prompt_chars=max_prompt_chars)


def read_graph(raw: Any, *, where: str, max_prompt_chars: int = 4000) -> RoleGraph:
    """A graph from plain data: `{roles: [cards], edges: [[from, to], ...]}`.

    Raises:
        CardError: as `load_graph`.
    """
    edges = raw.get("edges") if isinstance(raw, Mapping) else None
    cards = {k: v for k, v in raw.items() if k != "edges"} if isinstance(raw, Mapping) else raw
    pool = pool_from_data(cards, where=where, max_prompt_chars=max_prompt_chars)
    pairs, faults = _pairs(edges, pool.names)
    terminals = pool.of_type(RoleType.AGGREGATOR)
    if len(terminals) != 1 or not terminals[0].protected:
        faults.append(
            f"roles: {len(terminals)} aggregator(s); a graph has one terminal role, an aggregator "
            "with `protected: true`"
        )
    if faults:
        raise CardError(where, faults)
    return _ordered(pool, terminals[0], pairs, where)


def _pairs(edges: Any, names: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """The edges that can be read, and what is wrong with the others."""
    if not isinstance(edges, list):
        return [], ["edges: missing; a list of [from, to] is wanted"]
    pairs: list[tuple[str, str]] = []
    faults: list[str] = []
    for i, edge in enumerate(edges):
        where = f"edges[{i}]"
        if not isinstance(edge, list) or len(edge) != 2:
            faults.append(f"{where}: got {edge!r:.60}; {ACCEPTED}")
            continue
        unknown = [end for end in edge if end not in names]
        faults += [
            f"{where}: no role {end!r:.60}{did_you_mean(str(end), names)}" for end in unknown
        ]
        if not unknown:
            pairs.append((edge[0], edge[1]))
    twice = [pair for pair, n in Counter(pairs).items() if n > 1]
    faults += [f"edges: {a} -> {b} stands there {Counter(pairs)[a, b]} times" for a, b in twice]
    return pairs, faults


def _ordered(
    pool: RolePool, terminal: RoleCard, pairs: Sequence[tuple[str, str]], where: str
) -> RoleGraph:
    """The cards with predecessors first.

    Raises:
        CardError: a cycle, an edge out of the terminal, or a role nobody hears.
    """
    into = {name: [a for a, b in pairs if b == name] for name in pool.names}
    out = {name: [b for a, b in pairs if a == name] for name in pool.names}
    last = terminal.name
    faults = [f"edges: {last} -> {b}; the terminal speaks last" for b in out[last]]
    faults += [
        f"{name}: no edge leads from it; the terminal would never hear of it"
        for name in pool.names
        if name != last and not out[name]
    ]
    if not into[last]:
        faults.append(f"{last}: no edge leads to the terminal")
    order: list[str] = []
    left = [name for name in pool.names if name != last]
    while ready := next((n for n in left if all(p in order for p in into[n])), None):
        order.append(ready)
        left.remove(ready)
    if left and not faults:
        faults.append(f"edges: a cycle through {', '.join(left)}")
    if faults:
        raise CardError(where, faults)
    place = {name: i for i, name in enumerate(order)}
    return RoleGraph(
        pool=pool,
        order=tuple(pool[name] for name in order),
        predecessors=tuple(tuple(sorted(place[p] for p in into[name])) for name in order),
        feeding=tuple(sorted(place[p] for p in into[last])),
    )

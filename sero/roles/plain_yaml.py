"""YAML of people's as plain data, with the faults that a YAML reader passes over in silence."""

from __future__ import annotations

from typing import Any

import yaml

MAX_NODES = 100_000
"""Values that a text with aliases may stand for."""

MAX_SHOWN = 80
"""Characters of a key in a message."""


def parse_yaml(text: str) -> tuple[Any, list[str]]:
    """Plain data, and its faults; None beside faults.

    Raises:
        yaml.YAMLError: no YAML.
        ValueError: a value that is none of what its tag says.
        RecursionError: nested too deeply.
    """
    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return None, []
        faults = _Survey().faults(root)
        return (None, faults) if faults else (loader.construct_document(root), [])
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        # what the constructors raise of a scalar under a tag that does not fit it
        raise ValueError(f"a value does not fit its tag ({error})") from None
    finally:
        loader.dispose()


class _Survey:
    """One walk over the nodes, before anything is made of them."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}
        self._open: set[int] = set()
        self._faults: list[str] = []

    def faults(self, root: yaml.Node) -> list[str]:
        expanded = self._size(root)
        if expanded > max(MAX_NODES, len(self._sizes)):
            self._faults.append(
                f"its aliases (*name) stand for more than {MAX_NODES} values; write them out"
            )
        return self._faults

    def _size(self, node: yaml.Node) -> int:
        """Values the node stands for, with every alias written out."""
        if (known := self._sizes.get(id(node))) is not None:
            return known
        if id(node) in self._open:
            self._faults.append(f"line {_line(node)}: an alias (*name) inside what it stands for")
            return 1
        self._open.add(id(node))
        children: list[yaml.Node] = []
        if isinstance(node, yaml.MappingNode):
            self._find_twins(node)
            children = [child for pair in node.value for child in pair]
        elif isinstance(node, yaml.SequenceNode):
            children = node.value
        size = 1 + sum(self._size(child) for child in children)
        self._open.discard(id(node))
        self._sizes[id(node)] = size
        return size

    def _find_twins(self, node: yaml.MappingNode) -> None:
        first: dict[tuple[str, str], yaml.Node] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            twin = first.setdefault((key.tag, key.value), key)
            if twin is not key:
                lines = f"in lines {_line(twin)} and {_line(key)}"
                self._faults.append(f"{key.value[:MAX_SHOWN]}: stands twice, {lines}; keep one")


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1

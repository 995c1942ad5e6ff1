"""What runs today, in a TOML file: an arm for all nodes, a list, a table by node, or a file."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from edgewise.base.choice import instead
from edgewise.formats import read_joint_arm
from edgewise.network.graph import Graph
from edgewise.study.files.document import Document


def read_baseline(
    document: Document, graph: Graph, arms: Sequence[Hashable], *path: str
) -> list[int]:
    """The arm of every node, in the order of the nodes, from the key at ``path``."""
    value: Any = document.tree
    for key in path:
        value = value[key]
    return _Reader(document, graph, arms, path).read(value)


@dataclass(frozen=True, eq=False)
class _Reader:
    document: Document
    graph: Graph
    arms: Sequence[Hashable]
    """Their labels, or their numbers."""
    path: tuple[str, ...]

    def read(self, value: Any) -> list[int]:
        nodes = [str(label) for label in self.graph.labels]
        if isinstance(value, str) and value.lower().endswith(".csv"):
            file = self.document.path(value, *self.path)
            found: list[int] = read_joint_arm(
                file, nodes=self.graph.labels, arms=self.arms
            ).tolist()
            return found
        if isinstance(value, dict):
            self.document.refuse_unknown_keys(nodes, *self.path)
            lacking = [node for node in nodes if node not in value]
            if lacking:
                raise self._wrong(f"has no arm for node {lacking[0]!r}; add it")
            value = [value[node] for node in nodes]
        if not isinstance(value, list):
            value = [value] * len(nodes)
        if len(value) != len(nodes):
            raise self._wrong(
                f"has {len(value)} arms; there are {len(nodes)} nodes: give each its arm, in their "
                "order, or all of them one",
            )
        return [self._arm(arm) for arm in value]

    def _arm(self, value: Any) -> int:
        """An arm by its label, or by its number."""
        names = [str(label) for label in self.arms]
        if str(value) in names and not isinstance(value, bool):
            return names.index(str(value))
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(names):
            return value
        remedy = instead(value, names, "their numbers from 0, or a .csv file")
        raise self._wrong(f"names no arm {value!r}; {remedy}")

    def _wrong(self, message: str) -> Exception:
        return self.document.wrong(f"{self.path[-1]} {message}", *self.path)

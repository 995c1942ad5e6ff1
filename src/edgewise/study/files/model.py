"""How the rewards of a study are modelled, as a TOML file says it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from edgewise.base.arrays import Indices
from edgewise.formats import read_node_kinds
from edgewise.formats.names import encode
from edgewise.network.graph import Graph
from edgewise.study.files.document import Document, is_number, shown

_AS_WRITTEN = (
    "node_term",
    "interaction",
    "project",
    "measured",
    "levels",
    "pooling",
    "own_term",
    "average",
)


def read_model(document: Document, graph: Graph) -> dict[str, Any]:
    """The options of the problem, but for its graph, arms and candidates."""
    tree = document.tree
    options = {name: tree[name] for name in _AS_WRITTEN if name in tree}
    options["noise"] = _noise(document, graph)
    if "node_kinds" in tree:
        options["node_kinds"] = _node_kinds(document, graph)
    return options


def read_covariates(document: Document) -> list[str]:
    """The names of the known numbers of each edge."""
    names = document.tree.get("covariates", [])
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise document.wrong(
            f"covariates is {shown(names)}; it must be a list of different names, columns of the "
            'graph: covariates = ["distance", "angle"]',
            "covariates",
        )
    return list(names)


def _noise(document: Document, graph: Graph) -> Any:
    """A number, "estimate", a list, or a table: by kind, or by node where nodes are measured."""
    noise = document.tree["noise"]
    if not isinstance(noise, dict):
        return noise
    by_node = document.tree.get("measured") == "node"
    kinds: Sequence[Hashable] = range(graph.n_kinds)
    if graph.kind_labels is not None:
        kinds = graph.kind_labels
    names = [str(name) for name in (graph.labels if by_node else kinds)]
    document.refuse_unknown_keys(names, "noise")
    what = "node" if by_node else "kind"
    for name in names:
        if name not in noise:
            raise document.wrong(f"noise has no number for {what} {name!r}; add it", "noise")
        if not is_number(noise[name]):
            raise document.wrong(
                f"the noise of {what} {name!r} is {shown(noise[name])}; it must be a number",
                "noise",
                name,
            )
    return [noise[name] for name in names]


def _node_kinds(document: Document, graph: Graph) -> Indices:
    """From a list in the order of the nodes, a table by node, or a file: node,kind."""
    kinds = document.tree["node_kinds"]
    nodes = [str(label) for label in graph.labels]
    if isinstance(kinds, str):
        return read_node_kinds(document.path(kinds, "node_kinds"), nodes=graph.labels)
    if isinstance(kinds, dict):
        document.refuse_unknown_keys(nodes, "node_kinds")
        lacking = [node for node in nodes if node not in kinds]
        if lacking:
            raise document.wrong(
                f"node_kinds has no kind for node {lacking[0]!r}; add it", "node_kinds"
            )
        kinds = [kinds[node] for node in nodes]
    if len(kinds) != len(nodes) or any(isinstance(kind, list | dict) for kind in kinds):
        raise document.wrong(
            f"node_kinds has {len(kinds)} entries for {len(nodes)} nodes; give each node the name "
            "of its kind, in their order",
            "node_kinds",
        )
    codes: Indices = np.asarray(encode([str(kind) for kind in kinds])[0])
    return codes

"""What the user names on the command line, a file or a built-in, as values."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from pathlib import Path

import edgewise as ew
from edgewise import formats
from edgewise.base.arrays import Array, Mask
from edgewise.base.choice import pick
from edgewise.cli.terminal.shell import note
from edgewise.errors import InvalidArgument
from edgewise.formats import ArmTable
from edgewise.network.families import FAMILIES, graph_of


def graph_from(source: Path) -> ew.Graph:
    """A family member such as ``circle:156``, or a graph file."""
    built_in = _built_in("graph family", source, FAMILIES)
    graph = formats.read_graph(source) if built_in is None else _member(*built_in)
    note(_described(graph))
    return graph


def _member(family: str, size: str) -> ew.Graph:
    if not size.isdecimal():
        raise InvalidArgument(
            f"{family}:{size} is not a graph; a family is followed by its number of observed "
            f"directions, the paper's m: write for instance {family}:156"
        )
    return graph_of(family, int(size))


def _described(graph: ew.Graph) -> str:
    kinds = f" of {graph.n_kinds} kinds" if graph.n_kinds > 1 else ""
    direction = "directed" if graph.directed else "undirected"
    weighted = ", weighted" if graph.weights is not None else ""
    return (
        f"{graph.n_nodes} nodes, {len(graph.edges)} {direction} edges{kinds}{weighted}; "
        f"{graph.n_arcs} rewards per round"
    )


def arms_from(source: Path) -> ArmTable:
    """The paper's arms, ``paper:d:omega``, or an arms file."""
    instance = _paper(source)
    if instance is None:
        return formats.read_arms(source)
    arms = instance[0]
    basis = [f"e{i + 1}" for i in range(len(arms) - 1)]
    return ArmTable(arms, (*basis, "rival"))


def matrix_from(source: Path, graph: ew.Graph, arms: ArmTable) -> Array:
    """The paper's matrix, ``paper:d:omega``, or a matrix file: one matrix, or one per kind."""
    instance = _paper(source)
    if instance is not None:
        return instance[1]
    return formats.read_matrix(source, kinds=_kinds(graph), features=arms.features)


def beta_from(file: Path | None, graph: ew.Graph, arms: ArmTable) -> Array | None:
    """The node term, if there is one."""
    if file is None:
        return None
    return formats.read_node_term(file, kinds=_kinds(graph), features=arms.features)


def candidates_from(file: Path | None, graph: ew.Graph, arms: ArmTable) -> Mask | None:
    """The arms each node may be given, if not all."""
    if file is None:
        return None
    return formats.read_candidates(file, nodes=graph.labels, arms=arms.labels)


def _built_in(what: str, source: Path, names: Collection[str]) -> tuple[str, str] | None:
    """Name and rest of a text such as ``circle:156``; None for a file."""
    name, colon, rest = str(source).partition(":")
    if not colon or (name not in names and source.exists()):
        return None
    pick(what, name, dict.fromkeys(names), own="the path of a file")
    return name, rest


def _kinds(graph: ew.Graph) -> Sequence[Hashable]:
    if graph.kinds is None:
        return ()
    return range(graph.n_kinds) if graph.kind_labels is None else graph.kind_labels


def _paper(source: Path) -> tuple[Array, Array] | None:
    built_in = _built_in("instance", source, ["paper"])
    if built_in is None:
        return None
    size, _, angle = built_in[1].partition(":")
    try:
        dimension, omega = int(size), float(angle or 0.1)
    except ValueError:
        raise InvalidArgument(
            f"{source} is not an instance; the paper's has a dimension and an angle: "
            "write for instance paper:5:0.1"
        ) from None
    return ew.simulation.paper_instance(dimension, omega)

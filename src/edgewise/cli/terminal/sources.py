"""What the user names on the command line, a file or a built-in, as values."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from pathlib import Path

import edgewise as ew
from edgewise import formats
from edgewise.base.arrays import Array, Mask
from edgewise.cli.terminal.shell import note
from edgewise.errors import InvalidArgument
from edgewise.formats import ArmTable

FAMILIES = ("circle", "star", "complete", "matching")

_FAMILY = re.compile(rf"({'|'.join(FAMILIES)}):(.*)")
_INSTANCES = "the built-in instance is the paper's: write for instance paper:5:0.1"
_PAPER = re.compile(r"paper:([^:]*)(?::([^:]*))?")


def graph_from(source: Path) -> ew.Graph:
    """A family member such as ``circle:156``, or a graph file."""
    family = _FAMILY.fullmatch(str(source))
    if family is None:
        _refuse_unknown(
            source, f"families are {', '.join(FAMILIES)}: write for instance circle:156"
        )
        graph = formats.read_graph(source)
    elif not family[2].isdecimal():
        raise InvalidArgument(
            f"{source} is not a graph; a family is followed by its number of observed "
            f"directions, the paper's m: write for instance {family[1]}:156"
        )
    else:
        graph = getattr(ew.Graph, family[1])(n_edges=int(family[2]))
    note(_described(graph))
    return graph


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
        _refuse_unknown(source, _INSTANCES)
        return formats.read_arms(source)
    arms = instance[0]
    basis = [f"e{i + 1}" for i in range(len(arms) - 1)]
    return ArmTable(arms, (*basis, "rival"))


def matrix_from(source: Path, graph: ew.Graph, arms: ArmTable) -> Array:
    """The paper's matrix, ``paper:d:omega``, or a matrix file: one matrix, or one per kind."""
    instance = _paper(source)
    if instance is not None:
        return instance[1]
    _refuse_unknown(source, _INSTANCES)
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


def _refuse_unknown(source: Path, remedy: str) -> None:
    """Raise if the text looks like a built-in and there is no such file."""
    if ":" in str(source) and not source.exists():
        raise InvalidArgument(f"{source} is neither a file nor built in; {remedy}")


def _kinds(graph: ew.Graph) -> Sequence[Hashable]:
    if graph.kinds is None:
        return ()
    return range(graph.n_kinds) if graph.kind_labels is None else graph.kind_labels


def _paper(source: Path) -> tuple[Array, Array] | None:
    match = _PAPER.fullmatch(str(source))
    if match is None:
        return None
    try:
        dimension, omega = int(match[1]), float(match[2] or 0.1)
    except ValueError:
        raise InvalidArgument(
            f"{source} is not an instance; the paper's has a dimension and an angle: "
            "write for instance paper:5:0.1"
        ) from None
    return ew.simulation.paper_instance(dimension, omega)

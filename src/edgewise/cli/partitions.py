"""Networks in Parquet partitions: ``edgewise allocate --dask``, and what identify shares."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgewise.base.arrays import Indices
from edgewise.cli.terminal.shell import Output, emit, note
from edgewise.cli.terminal.sources import arms_from, beta_from, matrix_from
from edgewise.errors import InvalidArgument, InvalidFile
from edgewise.formats import write_rows

if TYPE_CHECKING:
    from edgewise.cluster import PartitionedGraph

PREPARED = "_edgewise"
"""Where a folder of partitions keeps what was checked and sorted."""


def allocate_partitions(
    edges: Path,
    arms: Path,
    matrix: Path,
    beta: Path | None,
    dask: str,
    relabel: bool,
    unused: Mapping[str, object],
    method: str,
    bound: str | None,
    seed: int,
    out: Path | None,
    output: str,
) -> None:
    """Prepare the partitions unless that was done, and allocate; progress goes to stderr."""
    given = [name for name, value in unused.items() if value is not None]
    if given:
        raise InvalidArgument(f"{given[0]} needs the graph in memory; leave it out with --dask")
    from edgewise import cluster

    table = arms_from(arms)
    with cluster.working_on(dask) as engine:
        client = engine.client  # type: ignore[attr-defined]
        graph = prepared(edges, edges / PREPARED, client, relabel=relabel)
        found = cluster.allocate(
            graph,
            table.arms,
            matrix_from(matrix, graph, table),
            beta=beta_from(beta, graph, table),
            method=method,
            bound="fast" if bound is not None else None,
            rng=seed,
            dask=client,
            progress=lambda what, value: note(f"{what}: {value:.6g}"),
        )
    facts = {
        "n_nodes": graph.n_nodes,
        "n_arcs": graph.n_arcs,
        "value": found.value,
        "upper_bound": found.upper_bound,
        "gap": found.gap,
        "method": found.method,
        "bound": found.bound,
    }
    emit(Output(facts, "nodes", ("node", "arm"), []), output)
    if out is not None:
        write_plan(out, graph, found.arms, table.labels)


def write_plan(
    out: Path, graph: PartitionedGraph, arms: Indices, labels: Sequence[Hashable]
) -> None:
    """The joint arm, a line per node, by the ids that the files have."""
    numbering = graph.numbering
    nodes = range(graph.n_nodes) if numbering is None else numbering.all_ids().tolist()
    chosen = (labels[arm] for arm in arms.tolist())
    write_rows(out, ("node", "arm"), list(zip(nodes, chosen, strict=True)))
    note(f"joint arm in {out}")


def prepared(
    edges: Path, folder: Path, client: Any, *, directed: bool = False, relabel: bool = False
) -> PartitionedGraph:
    """What an earlier command has stored in a folder, unless the files have changed since."""
    from edgewise.cluster import PartitionedGraph

    try:
        graph = PartitionedGraph.open(folder)
        same = graph.directed == directed and (graph.numbering is not None) == relabel
        if same and graph.is_made_of(edges):
            return graph
        note(f"{edges} or its options have changed: preparing it anew")
    except InvalidFile:
        note(f"preparing {edges}")
    return PartitionedGraph.from_parquet(
        edges, folder, directed=directed, relabel=relabel, dask=client
    )

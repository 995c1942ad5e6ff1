"""The one job that makes a graph of partitions: check, store, sort by node, sum up."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from edgewise.cluster.engine import Engine
from edgewise.cluster.partitions.columns import Facts, Partition, store_columns
from edgewise.cluster.partitions.ranges import NodeRange, forget_ends, sort_ends, store_range
from edgewise.cluster.partitions.relabelling import Renumbered
from edgewise.cluster.partitions.relabelling import relabel as number_ids
from edgewise.cluster.partitions.sources import Source
from edgewise.errors import InvalidFile, InvalidGraph
from edgewise.writing import write_text

SUMMARY = "edgewise-graph.json"
"""The file that says what is in the folder; written last."""
_FEWEST_ENDS, _ENDS = 1 << 15, 1 << 24
"""Edge ends that a range of nodes has, about: fewer are not worth a task."""


@dataclass(frozen=True)
class Summary:
    """What is known of a partitioned graph without reading its edges."""

    n_nodes: int
    directed: bool
    names: tuple[str, ...]
    """Of the partitions."""
    sizes: tuple[int, ...]
    """Edges in each partition."""
    digests: tuple[str, ...]
    """Of each partition's columns."""
    has_weights: bool
    negative: bool
    """Whether some weight is below 0."""
    weights: tuple[float, ...]
    """(q,) sum of the weights of the edges of each kind."""
    squares: tuple[float, ...]
    """(q,) sum of their squares."""
    width: int
    """Nodes in a range."""
    squared_degrees: int
    """Sum over the nodes."""
    largest_degree: int
    isolated: int
    """Nodes without edges."""
    id_starts: tuple[int, ...] | None = None
    """First number of each shard of ids; None if nodes came numbered."""

    def partitions(self, folder: str) -> list[Partition]:
        """The edges, in their order."""
        found, first = [], 0
        for number, (name, size) in enumerate(zip(self.names, self.sizes, strict=True)):
            options = self.directed, len(self.weights) > 1, self.has_weights
            found.append(Partition(folder, number, name, first, size, *options))
            first += size
        return found

    def ranges(self, folder: str) -> list[NodeRange]:
        """The nodes, in their order."""
        n_kinds = len(self.weights)
        shift = n_kinds if self.directed else 0
        return [
            NodeRange(
                folder,
                number,
                first,
                min(first + self.width, self.n_nodes),
                n_kinds + shift,
                shift,
                self.has_weights,
            )
            for number, first in enumerate(range(0, self.n_nodes, self.width))
        ]

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Summary:
        """From what JSON makes of one."""
        values: dict[str, Any] = {field.name: tree[field.name] for field in fields(cls)}
        for name, value in values.items():
            values[name] = tuple(value) if isinstance(value, list) else value
        return cls(**values)


def prepare(
    engine: Engine,
    sources: Sequence[Source],
    folder: Path,
    *,
    n_nodes: int | None,
    directed: bool,
    relabel: bool,
) -> Summary:
    """Store the columns, the neighbour lists and the summary of a graph; no edge comes here."""
    _make_folder(folder)
    numbering = number_ids(engine, sources, folder) if relabel else None
    if numbering is not None:
        n_nodes = numbering.n_nodes
        sources = [Renumbered(source, numbering) for source in sources]
    tasks = [
        engine.submit(store_columns, source, str(folder), number, n_nodes)
        for number, source in enumerate(sources)
    ]
    facts: list[Facts] = [engine.result(task) for task in tasks]
    summary = _summary(facts, [source.name for source in sources], n_nodes, directed)
    summary = _with_ranges(engine, summary, str(folder))
    if numbering is not None:
        summary = replace(summary, id_starts=numbering.starts)
    write_text(folder / SUMMARY, json.dumps(asdict(summary), indent=1))
    return summary


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidFile(
            f"{folder}: the folder cannot be made ({error.strerror}); name one that can be written"
        ) from error
    (folder / SUMMARY).unlink(missing_ok=True)


def _summary(
    facts: Sequence[Facts], names: Sequence[str], n_nodes: int | None, directed: bool
) -> Summary:
    size = sum(one.size for one in facts)
    if not size:
        raise InvalidGraph("the graph has no edge, so no reward can be observed; add one")
    for name, column in (("kind", "has_kinds"), ("weight", "has_weights")):
        without = [n for n, one in zip(names, facts, strict=True) if not getattr(one, column)]
        if 0 < len(without) < len(facts):
            raise InvalidGraph(
                f"{without[0]}: it has no column {name!r}, and other partitions have; give all of "
                "them one, or none"
            )
    n_kinds = max(one.n_kinds for one in facts)
    weights = [sum(one.weights[q] for one in facts if q < len(one.weights)) for q in range(n_kinds)]
    squares = [sum(one.squares[q] for one in facts if q < len(one.squares)) for q in range(n_kinds)]
    if 0.0 in squares:
        raise InvalidGraph(
            f"kinds go up to {n_kinds - 1} but no edge has kind {squares.index(0.0)}, so its "
            "matrix could not be learned; number the kinds 0 .. q - 1 without gaps"
        )
    nodes = max(one.largest for one in facts) + 1 if n_nodes is None else n_nodes
    n_ranges = max(min(len(facts), -(-2 * size // _FEWEST_ENDS)), -(-2 * size // _ENDS))
    n_ranges = min(n_ranges, nodes, 1 << 15)
    return Summary(
        n_nodes=nodes,
        directed=directed,
        names=tuple(names),
        sizes=tuple(one.size for one in facts),
        digests=tuple(one.digest for one in facts),
        has_weights=facts[0].has_weights,
        negative=any(one.negative for one in facts),
        weights=tuple(weights),
        squares=tuple(squares),
        width=-(-nodes // n_ranges),
        squared_degrees=0,
        largest_degree=0,
        isolated=0,
    )


def _with_ranges(engine: Engine, summary: Summary, folder: str) -> Summary:
    """Sort edge ends by range, then every range by node."""
    partitions, ranges = summary.partitions(folder), summary.ranges(folder)
    n_kinds = len(summary.weights)
    sorting = [
        engine.submit(sort_ends, one, n_kinds, summary.width, len(ranges)) for one in partitions
    ]
    for task in sorting:
        engine.result(task)
    storing = [engine.submit(store_range, one, partitions, summary.directed) for one in ranges]
    facts = [engine.result(task) for task in storing]
    for one in partitions:
        forget_ends(one)
    return replace(
        summary,
        squared_degrees=sum(one.squares for one in facts),
        largest_degree=max(one.largest for one in facts),
        isolated=sum(one.isolated for one in facts),
    )

"""Edge lists: one interaction per line of a CSV file, or per row of a Parquet file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.choice import instead
from edgewise.errors import InvalidFile
from edgewise.formats.large_csv import read_large_csv
from edgewise.formats.names import encode
from edgewise.formats.parquet import read_parquet
from edgewise.formats.table import Table, read_csv
from edgewise.network.graph import Graph

ENDS = (("source", "target"), ("from", "to"), ("u", "v"))
"""Names of the two columns that hold the ends of an edge."""

_TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


_NAMES = {"kind", *(name for pair in ENDS for name in pair)}
"""Columns that hold names, which may be whole numbers."""


def read_edge_csv(file: Path, covariates: Sequence[str] = ()) -> Graph:
    """A graph from a CSV edge list."""
    large = read_large_csv(file, _NAMES)
    if large is not None:
        try:
            return graph_of(large, covariates)
        except InvalidFile:  # read again, for the line of the mistake
            pass
    return graph_of(read_csv(file), covariates)


def read_edge_parquet(file: Path, covariates: Sequence[str] = ()) -> Graph:
    """A graph from a Parquet edge list, with the columns of the CSV one."""
    return graph_of(read_parquet(file), covariates)


def graph_of(table: Table, covariates: Sequence[str] = ()) -> Graph:
    """The graph that a table of edges describes; ``covariates`` are columns of numbers."""
    first, second = ends_of(table)
    edges, labels = _nodes(table, first, second)
    directed = _direction(table)
    refuse_loops(table, edges)
    refuse_repeats(table, edges, directed=directed)
    kinds, kind_labels = _kinds(table)
    numbers = _covariates(table, covariates)
    names = tuple(covariates) or None
    weights = weights_of(table)
    return Graph(len(labels), edges, directed, kinds, weights, labels, kind_labels, numbers, names)


def _covariates(table: Table, names: Sequence[str]) -> Array | None:
    """(E, k) the columns of those names; None if there are none."""
    if not names:
        return None
    for name in names:
        if name not in table.columns:
            raise InvalidFile(
                f"{table.file}: no column is called {name!r}, a covariate; "
                f"{instead(name, list(table.columns))}"
            )
    return np.column_stack([table.numbers(name) for name in names])


def ends_of(table: Table) -> tuple[str, str]:
    """The columns that hold the two ends of an edge."""
    for pair in ENDS:
        first, second = map(table.find, pair)
        if first and second:
            return first, second
    wanted = " or ".join(f"{a} and {b}" for a, b in ENDS)
    raise InvalidFile(
        f"{table.file}, {table.unit} 1: the columns are {', '.join(table.columns)}; two of them "
        f"must be called {wanted}, the ends of an edge: rename them"
    )


def _nodes(table: Table, first: str, second: str) -> tuple[Indices, tuple[Any, ...]]:
    columns = [table.columns[name] for name in (first, second)]
    if all(_holds_integers(column) for column in columns):
        names: Any = np.stack([np.asarray(column) for column in columns], axis=1).ravel()
    else:  # interleaved, so that names come in the order a reader of the file meets them
        pairs = zip(table.texts(first), table.texts(second), strict=True)
        names = [name for pair in pairs for name in pair]
    codes, labels = encode(names)
    return codes.reshape(-1, 2), labels


def _holds_integers(column: Any) -> bool:
    return isinstance(column, np.ndarray) and bool(np.issubdtype(column.dtype, np.integer))


def _direction(table: Table) -> bool:
    column = table.find("directed")
    if column is None:
        return False
    texts = [text.casefold() for text in table.texts(column)]
    for record, text in enumerate(texts):
        if text not in _TRUTH:
            raise InvalidFile(
                f"{table.at(record)}, column {column!r}: {text!r} is neither true nor false; "
                "write true (one direction is observed) or false (both are)"
            )
        if _TRUTH[text] != _TRUTH[texts[0]]:
            raise InvalidFile(
                f"{table.at(record)}, column {column!r}: {text}, but {texts[0]} on "
                f"{table.unit} {table.places[0]}; a graph is directed as a whole or not at all: "
                "write true everywhere, and each edge seen both ways as two lines"
            )
    return _TRUTH[texts[0]]


def refuse_loops(table: Table, edges: Indices) -> None:
    """Raise at the first edge from a node to itself."""
    loops = np.flatnonzero(edges[:, 0] == edges[:, 1])
    if len(loops):
        raise InvalidFile(
            f"{table.at(int(loops[0]))}: the edge joins a node to itself; a node does not interact "
            "with itself: remove the line (a node's own effect is the node term, --beta)"
        )


def refuse_repeats(table: Table, edges: Indices, *, directed: bool) -> None:
    """Raise at an edge that stands on an earlier line already."""
    first_end, second_end = edges.T
    if not directed:
        first_end, second_end = np.minimum(*edges.T), np.maximum(*edges.T)
    keys = first_end.astype(np.int64) * (int(edges.max(initial=0)) + 1)
    keys += second_end
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    same = np.flatnonzero(keys[1:] == keys[:-1])
    if len(same):
        first, again = (int(order[same[0] + i]) for i in (0, 1))
        remedy = "" if directed else ", or add a column 'directed' with the value true"
        raise InvalidFile(
            f"{table.at(again)}: the edge repeats {table.unit} {table.places[first]}; "
            f"list each edge once{remedy}"
        )


def _kinds(table: Table) -> tuple[Indices | None, tuple[Any, ...] | None]:
    column = table.find("kind")
    if column is None:
        return None, None
    cells = table.columns[column]
    return encode(np.asarray(cells) if _holds_integers(cells) else table.texts(column))


def weights_of(table: Table) -> Array | None:
    """The column ``weight``; None when there is none or all are 1."""
    column = table.find("weight")
    if column is None:
        return None
    weights = table.numbers(column)
    zero = np.flatnonzero(weights == 0.0)
    if len(zero):
        raise InvalidFile(
            f"{table.at(int(zero[0]))}, column {column!r}: the weight is 0; an edge without "
            "interaction is no edge: remove the line"
        )
    return None if (weights == 1.0).all() else weights

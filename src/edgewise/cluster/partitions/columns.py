"""The edges of a partition, checked and stored as columns that workers map into memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgewise.base.arrays import Array, Indices
from edgewise.cluster.partitions.sources import Rows, Source
from edgewise.core.evidence.cell_sums import Edges
from edgewise.errors import InvalidGraph
from edgewise.network.graph_checks import checked_edges, checked_weights, given_weights

_MOST_NODES = np.iinfo(np.int32).max
_MOST_KINDS = 1 << 15


@dataclass(frozen=True)
class Partition:
    """Some successive edges of a prepared graph."""

    folder: str
    number: int
    name: str
    first: int
    """Edges in the partitions before it."""
    size: int
    directed: bool
    has_kinds: bool
    has_weights: bool

    def edges(self) -> Edges:
        """Mapped, not read: only what is looked at is in memory."""
        kinds: Indices = np.broadcast_to(np.int64(0), self.size)
        weights: Array = np.broadcast_to(1.0, self.size)
        if self.has_kinds:
            kinds = self._column("kinds")
        if self.has_weights:
            weights = self._column("weights")
        return Edges(self._column("ends"), kinds, weights, self.directed)

    def _column(self, name: str) -> NDArray[Any]:
        return load(column_path(self.folder, self.number, name))


class Facts(NamedTuple):
    """What storing a partition has told."""

    size: int
    largest: int
    """The largest node number; -1 without edges."""
    n_kinds: int
    has_kinds: bool
    has_weights: bool
    negative: bool
    weights: list[float]
    """(q,) sum of the weights of each kind."""
    squares: list[float]
    """(q,) sum of the squared weights of each kind."""
    digest: str


def column_path(folder: str, number: int, name: str) -> Path:
    """Where a column of a partition lies."""
    return Path(folder) / f"{name}-{number:05d}.npy"


def load(path: Path) -> NDArray[Any]:
    """An array as it lies in its file; memory is used only where it is read."""
    array: NDArray[Any] = np.load(path, mmap_mode="r")
    return array.view(np.ndarray)


def save(path: Path, array: NDArray[Any]) -> None:
    """Under its name only when it is complete: a task may be done twice, by two workers."""
    draft = path.with_name(f".{path.name}.{np.random.SeedSequence().entropy:x}")
    with draft.open("wb") as stream:
        np.save(stream, array)
    draft.replace(path)


def store_columns(source: Source, folder: str, number: int, n_nodes: int | None) -> Facts:
    """Check the edges of one partition and store them; InvalidGraph names the partition."""
    with naming(source.name):
        rows = source.read()
        ends = _checked_ends(rows, n_nodes)
        kinds, weights = _checked_kinds(rows), _checked_weights(rows)
    save(column_path(folder, number, "ends"), ends)
    for name, column in (("kinds", kinds), ("weights", weights)):
        if column is not None:
            save(column_path(folder, number, name), column)
    return _facts(ends, kinds, weights)


def _facts(ends: Indices, kinds: Indices | None, weights: Array | None) -> Facts:
    digest = hashlib.sha256()
    for column in (ends, kinds, weights):
        digest.update(b"" if column is None else np.ascontiguousarray(column).data)
    codes = np.zeros(len(ends), np.int64) if kinds is None else kinds
    heavy = np.ones(len(ends)) if weights is None else weights
    return Facts(
        size=len(ends),
        largest=int(ends.max(initial=-1)),
        n_kinds=int(codes.max(initial=0)) + 1,
        has_kinds=kinds is not None,
        has_weights=weights is not None,
        negative=bool((heavy < 0).any()),
        weights=np.bincount(codes, heavy).tolist(),
        squares=np.bincount(codes, heavy**2).tolist(),
        digest=digest.hexdigest(),
    )


def _checked_ends(rows: Rows, n_nodes: int | None) -> Indices:
    """(E, 2) node numbers, without self loops."""
    if len(rows.source) != len(rows.target):
        raise InvalidGraph(
            f"{len(rows.source)} sources and {len(rows.target)} targets; every edge needs both"
        )
    for column in (rows.source, rows.target):
        if not np.issubdtype(column.dtype, np.integer):
            raise InvalidGraph(
                f"nodes are of type {column.dtype}; number them 0 .. n - 1, or pass relabel=True "
                "to have any ids numbered"
            )
    ends = np.column_stack([rows.source, rows.target])
    if len(ends):  # a partition may be empty
        checked_edges(ends, _MOST_NODES if n_nodes is None else n_nodes)
    return np.ascontiguousarray(ends, np.int32)


def _checked_kinds(rows: Rows) -> Indices | None:
    """(E,) kinds; whether some are absent everywhere shows when all partitions are known."""
    if rows.kind is None:
        return None
    kinds = np.asarray(rows.kind)
    wrong = kinds.shape != rows.source.shape or not np.issubdtype(kinds.dtype, np.integer)
    if wrong or ((kinds < 0) | (kinds >= _MOST_KINDS)).any():
        raise InvalidGraph(
            f"kinds are {kinds.dtype} of shape {kinds.shape}; give one whole number per edge, "
            f"0 .. {_MOST_KINDS - 1}"
        )
    return kinds.astype(np.int64)


def _checked_weights(rows: Rows) -> Array | None:
    weights = given_weights(rows.weight)
    return None if weights is None else checked_weights(weights, len(rows.source))


@contextmanager
def naming(partition: str) -> Iterator[None]:
    """Say of which partition an error speaks."""
    try:
        yield
    except InvalidGraph as error:
        raise InvalidGraph(f"{partition}: {error}") from error

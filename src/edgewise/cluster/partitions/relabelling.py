"""Arbitrary node ids become the numbers 0 .. n - 1, by a job whose result is stored.

Ids are dealt to shards by a hash of theirs; in a shard they are numbered in their order, and the
shards one after the other. So a number depends on the ids alone, not on who worked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgewise.base.arrays import Indices
from edgewise.base.extras import required
from edgewise.cluster.engine import Engine
from edgewise.cluster.partitions.columns import naming
from edgewise.cluster.partitions.sources import Rows, Source, read_table
from edgewise.errors import InvalidGraph


@dataclass(frozen=True)
class Numbering:
    """Which id has which number: row r of shard s is node ``starts[s] + r``."""

    folder: str
    starts: tuple[int, ...]

    @property
    def n_nodes(self) -> int:
        """N."""
        return self.starts[-1]

    def numbers(self, ids: NDArray[Any]) -> Indices:
        """The numbers of ids that are all known."""
        shard = _shards(ids, len(self.starts) - 1)
        found = np.empty(len(ids), np.int64)
        for one in np.unique(shard).tolist():
            here = shard == one
            found[here] = self.starts[one] + np.searchsorted(_known(self.folder, one), ids[here])
        return found

    def all_ids(self) -> NDArray[Any]:
        """(n,) the ids in the order of their numbers, in this process."""
        return np.concatenate([_known(self.folder, one) for one in range(len(self.starts) - 1)])

    def ids(self, number: int) -> Any:
        """The id of a node, as the user knows it."""
        shard = int(np.searchsorted(self.starts, number, side="right")) - 1
        return _known(self.folder, shard)[number - self.starts[shard]]


@dataclass(frozen=True)
class Renumbered:
    """A partition with numbers in place of ids."""

    source: Source
    numbering: Numbering

    @property
    def name(self) -> str:
        """The partition's."""
        return self.source.name

    def read(self) -> Rows:
        """Numbers for ids; all else as it is."""
        rows = self.source.read()
        source, target = (self.numbering.numbers(one) for one in rows[:2])
        return rows._replace(source=source, target=target)


def relabel(engine: Engine, sources: Sequence[Source], folder: Path) -> Numbering:
    """Number all ids of the partitions; the lists of ids are stored in the folder."""
    n_shards = len(sources)
    split = [engine.submit(_ids_by_shard, source, n_shards) for source in sources]
    sizes = [engine.submit(_store_shard, str(folder), number, *split) for number in range(n_shards)]
    starts = np.concatenate([[0], np.cumsum([engine.result(size) for size in sizes])])
    return Numbering(str(folder), tuple(starts.tolist()))


def _ids_by_shard(source: Source, n_shards: int) -> list[NDArray[Any]]:
    with naming(source.name):
        rows = source.read()
        if rows.source.dtype.kind not in "iuOUT" or rows.target.dtype != rows.source.dtype:
            raise InvalidGraph(
                f"ids are of type {rows.source.dtype} and {rows.target.dtype}; they are whole "
                "numbers or texts, the same in both columns"
            )
        if rows.source.dtype.kind == "O" and not _all_texts(rows):
            raise InvalidGraph("some ids are neither whole numbers nor texts, or are missing")
    ids = np.unique(np.concatenate(rows[:2]))
    shard = _shards(ids, n_shards)
    return [ids[shard == one] for one in range(n_shards)]


def _all_texts(rows: Rows) -> bool:
    return all(isinstance(one, str) for column in rows[:2] for one in column)


def _store_shard(folder: str, number: int, *split: list[NDArray[Any]]) -> int:
    arrow = required("pyarrow", "Parquet files need pyarrow", "dask")
    parquet = required("pyarrow.parquet", "Parquet files need pyarrow", "dask")
    ids = np.unique(np.concatenate([part[number] for part in split]))
    path = _shard_path(folder, number)
    draft = path.with_name(f".{path.name}.{np.random.SeedSequence().entropy:x}")
    parquet.write_table(arrow.table({"id": ids}), draft)
    draft.replace(path)
    return len(ids)


def _known(folder: str, shard: int) -> NDArray[Any]:
    return read_table(_shard_path(folder, shard), ["id"])["id"]


def _shard_path(folder: str, number: int) -> Path:
    return Path(folder) / f"ids-{number:05d}.parquet"


def _shards(ids: NDArray[Any], n_shards: int) -> Indices:
    """Which shard an id is dealt to: a function of the id alone, on every machine."""
    pandas = required("pandas", "relabelling needs pandas", "dask")
    hashed: NDArray[np.uint64] = pandas.util.hash_array(ids, categorize=False)
    return (hashed % np.uint64(n_shards)).astype(np.int64)

"""How rounds and rewards are exchanged with a live network: Parquet files, partition by partition.

A round goes out as ``round-00007/arms-00000.parquet`` and so on, with the columns node and arm; its
measurements come back as ``round-00007/`` with one file per partition of the edges, named like the
partition (``part-0.parquet``, else ``partition 0.parquet``), whose column reward has a number per
arc in the partition's order, NaN or null where missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.base.extras import required
from edgewise.cluster.identification.rounds import Draw, Share
from edgewise.cluster.partitions.sources import read_table
from edgewise.errors import InvalidFile


@dataclass(frozen=True)
class MeasuredRewards:
    """An environment: what a measuring system has delivered into a folder."""

    folder: str

    def __call__(self, share: Share, /) -> Array:
        """The rewards of one partition in one round."""
        path = self.path(share.partition, share.round)
        if not path.exists():
            raise InvalidFile(
                f"{path}: the measurements of {share.partition} in round {share.round} are not "
                "there; deliver one file per partition, with a column reward"
            )
        table = read_table(path, ["reward"])
        if "reward" not in table:
            raise InvalidFile(f"{path}: there is no column 'reward'; give one number per arc")
        return np.asarray(table["reward"], float)

    def path(self, partition: str, number: int) -> Path:
        """Where the measurements of a partition in a round are, or will be."""
        name = partition.removesuffix(".parquet") + ".parquet"
        return round_folder(self.folder, number) / name


@dataclass(frozen=True, eq=False)
class SimulatedRewards:
    """An environment: rewards by a table per kind, and Gaussian noise."""

    tables: Array
    """(q, K, K) expected reward of an arc of weight 1 by the arms at its ends."""
    noise: float = 1.0

    def __call__(self, share: Share, /) -> Array:
        """Drawn from the partition's own generator."""
        edges, arms = share.edges, share.arms
        n_arcs = len(edges.ends) * (1 if edges.directed else 2)
        rewards = share.rng.standard_normal(n_arcs)
        _add_means(*edges, self.tables, arms, self.noise, rewards)
        return rewards


def round_folder(folder: str | Path, number: int) -> Path:
    """Where the files of a round are."""
    return Path(folder) / f"round-{number:05d}"


def write_arms(draw: Draw, folder: str, number: int, first: int, last: int) -> None:
    """One part of a joint arm as a Parquet file."""
    arrow = required("pyarrow", "Parquet files need pyarrow", "dask")
    parquet = required("pyarrow.parquet", "Parquet files need pyarrow", "dask")
    path = round_folder(folder, draw.round) / f"arms-{number:05d}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = {"node": np.arange(first, last), "arm": draw.arms(first, last)}
    draft = path.with_name(f".{path.name}.{np.random.SeedSequence().entropy:x}")
    parquet.write_table(arrow.table(columns), draft)
    draft.replace(path)


@compiled
def _add_means(
    ends: Indices,
    kinds: Indices,
    weights: Array,
    directed: bool,
    tables: Array,
    arms: Indices,
    noise: float,
    rewards: Array,
) -> None:
    for e in range(len(ends)):
        k, l, table = arms[ends[e, 0]], arms[ends[e, 1]], tables[kinds[e]]
        if directed:
            rewards[e] = weights[e] * table[k, l] + noise * rewards[e]
        else:
            rewards[2 * e] = weights[e] * table[k, l] + noise * rewards[2 * e]
            rewards[2 * e + 1] = weights[e] * table[l, k] + noise * rewards[2 * e + 1]

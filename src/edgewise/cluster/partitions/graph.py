"""A graph whose edges lie in partitions on the disk, checked and summarised once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from edgewise.base.arrays import Indices
from edgewise.base.border import border
from edgewise.base.checks import reading, whole
from edgewise.cluster.engine import working_on
from edgewise.cluster.partitions.columns import Partition
from edgewise.cluster.partitions.preparing import SUMMARY, Summary, prepare
from edgewise.cluster.partitions.ranges import NodeRange
from edgewise.cluster.partitions.relabelling import Numbering
from edgewise.cluster.partitions.sources import FrameSource, MadeSource, Source, parquet_sources
from edgewise.errors import InvalidArgument, InvalidFile, InvalidGraph
from edgewise.network.graph import Graph


class PartitionedGraph(Graph):
    """Nodes and edges, as in :class:`~edgewise.Graph`, that no one machine needs to hold.

    Build one with :meth:`from_parquet`, :meth:`from_dataframe` or :meth:`from_function`; what they
    store in ``folder`` is opened again by :meth:`open`, in no time. It takes the place of a graph
    in :class:`~edgewise.Problem`; whatever would need all edges at once says so.
    """

    folder: str
    summary: Summary

    def __init__(self, folder: str | Path, summary: Summary) -> None:
        missing = dict.fromkeys(
            ("kinds", "weights", "node_labels", "kind_labels", "covariates", "covariate_names")
        )
        self.__dict__.update(missing)
        self.__dict__.update(
            n_nodes=summary.n_nodes,
            directed=summary.directed,
            folder=str(folder),
            summary=summary,
        )

    # -- what a graph knows of itself ------------------------------------------------------------

    @property
    def edges(self) -> NoReturn:
        """Not in memory."""
        raise InvalidGraph(
            f"the {self.n_interactions} edges of {self!r} lie in partitions, and this needs all of "
            "them at once; edgewise.cluster has what works on partitions, or load a part of them "
            "as an edgewise.Graph"
        )

    @property
    def n_interactions(self) -> int:
        """E: the number of edges, whatever their directions."""
        return sum(self.summary.sizes)

    @property
    def n_kinds(self) -> int:
        """How many kinds of edges, each with its own matrix."""
        return len(self.summary.weights)

    @property
    def has_negative_weights(self) -> bool:
        """Whether some edge turns a good pair of arms into a bad one."""
        return self.summary.negative

    @property
    def is_at_hand(self) -> bool:
        """They are not."""
        return False

    @property
    def total_weight(self) -> float:
        """Sum of the weights of all arcs: m if there are none."""
        return self.n_directions * sum(self.summary.weights)

    @property
    def content(self) -> tuple[NDArray[Any] | None, ...]:
        """What tells the graph from others of its size: digests of its partitions."""
        return np.array(self.summary.digests), None, None

    @property
    def second_moment(self) -> float:
        """Mean of the squared degrees: what the variance of the information depends on."""
        return self.summary.squared_degrees / self.n_nodes

    def meetings(self, groups: Indices, n_groups: int) -> tuple[Any, ...]:  # noqa: ARG002
        """Per kind, (1, 1): squared weights of all arcs."""
        from scipy.sparse import csr_array

        if n_groups > 1:
            raise InvalidGraph(
                "some nodes of a partitioned graph may not take all arms; candidates need a graph "
                "in one machine's memory"
            )
        return tuple(csr_array([[self.n_directions * w]]) for w in self.summary.squares)

    def shows(self, pairs: Indices, arms: Indices) -> bool:  # noqa: ARG002
        """Not looked at, so not claimed."""
        return False

    def __repr__(self) -> str:
        size = f"n_nodes={self.n_nodes}, n_arcs={self.n_arcs}"
        return f"PartitionedGraph({size}, {len(self.summary.sizes)} partitions in {self.folder!r})"

    def _repr_html_(self) -> str:
        return f"<code>{self!r}</code>"

    # -- its parts -------------------------------------------------------------------------------

    @property
    def partitions(self) -> list[Partition]:
        """The edges, in their order."""
        return self.summary.partitions(self.folder)

    @property
    def ranges(self) -> list[NodeRange]:
        """The nodes, in their order, with their neighbours."""
        return self.summary.ranges(self.folder)

    @property
    def numbering(self) -> Numbering | None:
        """Which id has which number; None if the nodes came numbered."""
        starts = self.summary.id_starts
        return None if starts is None else Numbering(self.folder, starts)

    # -- ways to get one -------------------------------------------------------------------------

    @classmethod
    @border(error=InvalidGraph)
    def from_parquet(
        cls,
        edges: str | Path,
        folder: str | Path,
        *,
        n_nodes: int | None = None,
        directed: bool = False,
        relabel: bool = False,
        dask: Any = None,
    ) -> PartitionedGraph:
        """From Parquet files with the columns source, target and perhaps kind, weight.

        Parameters
        ----------
        edges
            A folder with one file, or folder of files, per partition, taken in the order of names.
        folder
            Where to store the checked columns, the neighbour lists and the summary; it must be
            seen by all workers under this path. A folder with a summary of the same data is
            not written again: use :meth:`open`.
        n_nodes
            n; by default the largest number plus one.
        directed
            Whether edges are observed from source to target only.
        relabel
            Whether nodes have arbitrary ids (whole numbers or texts), to be numbered 0 .. n - 1.
        dask
            The address of a scheduler, ``"local"``, a client; None to work in this process.
        """
        return cls._from(parquet_sources(edges), folder, n_nodes, directed, relabel, dask)

    @classmethod
    @border(error=InvalidGraph)
    def from_dataframe(
        cls,
        frame: Any,
        folder: str | Path,
        *,
        n_nodes: int | None = None,
        directed: bool = False,
        relabel: bool = False,
        dask: Any = None,
    ) -> PartitionedGraph:
        """From a ``dask.dataframe`` with those columns; its partitions are ours."""
        if not hasattr(frame, "to_delayed"):
            raise InvalidGraph(
                f"frame is a {type(frame).__name__}; it must be a dask.dataframe with the columns "
                "source and target",
                argument="frame",
            )
        sources = [FrameSource(one, number) for number, one in enumerate(frame.to_delayed())]
        return cls._from(sources, folder, n_nodes, directed, relabel, dask)

    @classmethod
    @border(error=InvalidGraph)
    def from_function(
        cls,
        function: Callable[[int], Any],
        folder: str | Path,
        *,
        n_partitions: int,
        n_nodes: int | None = None,
        directed: bool = False,
        relabel: bool = False,
        dask: Any = None,
    ) -> PartitionedGraph:
        """From a function of the partition's number; it gives (E, 2), or a tuple of columns."""
        count = whole("n_partitions", n_partitions, least=1, most=10**6)
        sources = [MadeSource(function, number) for number in range(count)]
        return cls._from(sources, folder, n_nodes, directed, relabel, dask)

    @classmethod
    def _from(
        cls,
        sources: Sequence[Source],
        folder: str | Path,
        n_nodes: int | None,
        directed: bool,
        relabel: bool,
        dask: Any,
    ) -> PartitionedGraph:
        if relabel and n_nodes is not None:
            raise InvalidArgument("relabel=True counts the nodes itself; leave n_nodes out")
        with working_on(dask) as engine:
            summary = prepare(
                engine, sources, Path(folder), n_nodes=n_nodes, directed=directed, relabel=relabel
            )
        return cls(folder, summary)

    @classmethod
    @border(error=InvalidFile)
    def open(cls, folder: str | Path) -> PartitionedGraph:
        """What was stored before."""
        path = Path(folder) / SUMMARY
        if not path.is_file():
            raise InvalidFile(
                f"{path}: there is no prepared graph; make one with PartitionedGraph.from_parquet"
            )
        with reading("summary"):
            return cls(folder, Summary.from_tree(json.loads(path.read_text("utf-8"))))

    @border(error=InvalidFile)
    def is_made_of(self, edges: str | Path) -> bool:
        """Whether these Parquet files are what was stored: the same names, none written since."""
        stored = (Path(self.folder) / SUMMARY).stat().st_mtime
        sources = parquet_sources(edges)
        names = tuple(source.name for source in sources)
        return names == self.summary.names and all(one.written < stored for one in sources)

    def load(self) -> Graph:
        """All edges in this process, in the same order: for what fits one machine."""
        parts = [one.edges() for one in self.partitions]
        kinds = np.concatenate([one.kinds for one in parts]) if self.n_kinds > 1 else None
        has_weights = self.summary.has_weights
        weights = np.concatenate([one.weights for one in parts]) if has_weights else None
        ends = np.concatenate([one.ends for one in parts])
        return Graph(self.n_nodes, ends, directed=self.directed, kinds=kinds, weights=weights)

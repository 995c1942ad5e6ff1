"""Which arm for whom, on a partitioned graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edgewise.allocation.instance.objective import checked_joint_arm
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.instance.tables import checked_tables, tables_of
from edgewise.base.arrays import Indices
from edgewise.base.border import border
from edgewise.base.checks import one_of, whole
from edgewise.base.randomness import Rng, draw_seed
from edgewise.cluster.allocation.work import Work
from edgewise.cluster.engine import working_on
from edgewise.cluster.partitions.graph import PartitionedGraph
from edgewise.errors import InvalidArgument
from edgewise.network.arms import checked_arms

METHODS = ("auto", "bipartite", "two-arm", "greedy", "best-response", "anneal")
"""What :func:`allocate` knows."""


@border
def allocate(
    graph: Any,
    arms: ArrayLike,
    matrix: ArrayLike,
    *,
    beta: ArrayLike | None = None,
    method: str = "auto",
    sweeps: int = 40,
    bound: str | None = "fast",
    start: ArrayLike | None = None,
    rng: Rng = 0,
    dask: Any = None,
    progress: Callable[[str, float], None] | None = None,
) -> Allocation:
    """A good arm for every node of a partitioned graph, and what nobody can exceed.

    Parameters
    ----------
    graph
        A :class:`PartitionedGraph`.
    arms, matrix, beta
        As in :func:`edgewise.allocate`.
    method
        ``"bipartite"`` (Algorithm 1), ``"two-arm"``, ``"greedy"``: one pass. ``"best-response"``:
        sweeps from ``start``, or from the best of those and a common arm; they never lower the
        global reward. ``"anneal"``: from there, in most of the sweeps nodes draw arms by what they
        bring, the better the later, then best response. ``"auto"``: best response from ``start``
        if there is one, else annealing from random arms. None ends below the start, nor (without
        one) below the two-arm and the greedy allocation.
    sweeps
        How often every node looks, at most; 10 take a quarter of the time of 40 and reach some
        percent less.
    bound
        ``"fast"``: odd cycles packed inside partitions; ``"edge-by-edge"``: from the summary, in no
        time; None: the same.
    start
        (n,) a joint arm to start from.
    rng
        Seed: the result is the same for any number of workers.
    dask
        The address of a scheduler, ``"local"``, a client; None to work in this process.
    progress
        Called with what was done and the global reward so far.
    """
    _check_graph(graph)
    tables = tables_of(checked_arms(arms), matrix, beta, n_kinds=graph.n_kinds)
    return allocate_table(
        graph,
        tables,
        method=method,
        sweeps=sweeps,
        bound=bound,
        start=start,
        rng=rng,
        dask=dask,
        progress=progress,
    )


@border
def allocate_table(
    graph: Any,
    tables: ArrayLike,
    *,
    method: str = "auto",
    sweeps: int = 40,
    bound: str | None = "fast",
    start: ArrayLike | None = None,
    rng: Rng = 0,
    dask: Any = None,
    progress: Callable[[str, float], None] | None = None,
) -> Allocation:
    """The same from the rewards of an arc by the arms at its ends, (K, K) or (q, K, K)."""
    _check_graph(graph)
    one_of("method", method, METHODS)
    if bound is not None:
        one_of("bound", bound, ("fast", "edge-by-edge"))
    whole("sweeps", sweeps, least=1, most=10**6)
    checked = checked_tables(tables, graph.n_kinds)
    first = None if start is None else _checked_start(start, graph.n_nodes, checked.shape[-1])
    with working_on(dask) as engine:
        work = Work(engine, graph, checked, draw_seed(rng), progress)
        found, value, by = work.run(method, sweeps, first)
        return work.certified(found, value, by, cycles=bound == "fast")


def _check_graph(graph: Any) -> None:
    if not isinstance(graph, PartitionedGraph):
        raise InvalidArgument(
            f"graph is a {type(graph).__name__}; it must be a PartitionedGraph: graphs in memory "
            "are for edgewise.allocate",
            argument="graph",
        )


def _checked_start(start: ArrayLike, n_nodes: int, n_arms: int) -> Indices:
    return checked_joint_arm(start, n_nodes, n_arms).astype(np.uint8)

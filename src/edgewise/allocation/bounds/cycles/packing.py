"""Fractional packings of closed odd walks by column generation."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from edgewise.allocation.bounds.cycles.cycles import Cycles, Packing, edge_weights, repaired
from edgewise.allocation.bounds.cycles.greedy_cycles import greedy_packing
from edgewise.allocation.bounds.cycles.pricing import cheap_walks
from edgewise.allocation.instance.deadline import Deadline
from edgewise.allocation.instance.edge_sums import Network
from edgewise.allocation.instance.per_graph import per_graph
from edgewise.base.arrays import Array, Indices
from edgewise.network.graph import Graph

LONGEST = 15
"""Steps of the walks that are looked for; the greedy packing adds longer ones."""
LARGEST = 2 * 10**7
"""n E up to which column generation is tried: half a minute of pricing at most."""
_PIVOT = 1e-8
"""Seconds that HiGHS takes per walk and (number of edges)^1.5, measured."""
_STEP = 3e-9
"""Seconds per step of a walk that is priced, measured."""


_PATIENCE = 2
"""Rounds in a row with little gain; the first may have none because the start is degenerate."""


class Generated(NamedTuple):
    """What column generation found."""

    pool: Cycles
    """Every walk looked at, to start from another time."""
    packing: Packing
    """The walks used."""


class _Solved(NamedTuple):
    amounts: Array
    prices: Array
    value: float


def generate(
    graph: Graph,
    worth: Array,
    start: Cycles,
    *,
    seconds: float,
    deadline: Deadline | None = None,
) -> Generated:
    r"""Closed odd walks and amounts that maximise what they are worth together.

    .. math:: \max_{y \ge 0} \sum_c y_c \delta_{|c|} \quad \text{s.t.} \quad
              \sum_{c \ni e} y_c \le w_e \text{ for all edges } e

    The programme starts from given walks; as long as its prices make a walk worth more than it
    costs, such walks are added. Stops when rounds gain less than one in a thousand, or
    when the work done amounts to ``seconds`` on one core. The answer is a packing whatever the
    solver did: :func:`repaired`.

    Parameters
    ----------
    graph
        Its absolute weights are the capacities; directions and kinds do not matter here.
    worth
        (longest + 1,) :math:`\delta_l`, at least as long as the walks of ``start``.
    start
        Walks to begin with.
    seconds
        Work allowed. It is counted, not timed, so that the answer does not depend on the load.
    deadline
        When to stop at the latest.
    """
    network, weights = Network.of(graph), edge_weights(graph)
    cycles, packing = start, repaired(start, np.zeros(len(start.lengths)), weights)
    value, stalled = 0.0, 0
    while seconds > 0.0 and len(cycles.lengths):
        solved = _solve(cycles, worth[cycles.lengths], weights, seconds)
        if solved is None:
            break
        used = np.flatnonzero(solved.amounts > 0.0)
        packing = repaired(cycles.subset(used), solved.amounts[used], weights)
        seconds -= _PIVOT * len(weights) ** 1.5 * len(solved.amounts)
        seconds -= _STEP * graph.n_nodes * len(weights) * LONGEST
        stalled = stalled + 1 if solved.value <= 1.001 * value else 0
        value = solved.value
        if stalled == _PATIENCE or (deadline is not None and deadline.passed):
            break
        cycles = cycles.subset(_near_use(cycles, worth, solved.prices))
        new = cheap_walks(network, solved.prices, worth[: LONGEST + 1], 20 * len(weights))
        if len(new.lengths) == 0:
            break
        cycles = cycles.joined(new)
    return Generated(cycles, packing)


@per_graph
def odd_walks(graph: Graph) -> Generated:
    """The largest packing when all odd walks are worth the same, and the walks it took to find.

    It depends on the graph only: computed once, then the start for every table.
    """
    start = greedy_packing(graph)
    if not is_small(graph) or len(start.amounts) == 0:
        return Generated(start.cycles, start)
    longest = max(LONGEST, int(start.cycles.lengths.max()))
    alike = (np.arange(longest + 1) % 2).astype(float)
    alike[1] = 0.0  # no loops in a graph
    return generate(graph, alike, start.cycles, seconds=3.0)


def _near_use(cycles: Cycles, worth: Array, prices: Array) -> Indices:
    """Walks that cost at most a third more than their worth; others only slow things down."""
    costs = np.add.reduceat(prices[cycles.edges], cycles.starts[:-1])
    return np.flatnonzero(costs <= 1.34 * worth[cycles.lengths])


def is_small(graph: Graph) -> bool:
    """Whether column generation is worth a try."""
    return graph.n_nodes * len(graph.edges) <= LARGEST


def _solve(cycles: Cycles, worth: Array, weights: Array, seconds: float) -> _Solved | None:
    """The packing programme over given walks by HiGHS; None when it found no optimum."""
    from scipy.optimize import OptimizeWarning, linprog
    from scipy.sparse import csc_array

    scale = float(weights.max())  # HiGHS reads tiny capacities as zero
    usage = csc_array(
        (np.ones(len(cycles.edges)), cycles.edges, cycles.starts),
        shape=(len(weights), len(worth)),
        copy=True,  # the next line sorts in place
    )
    usage.sum_duplicates()
    unit = float(worth.max())
    if unit <= 0.0:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OptimizeWarning)
        found = linprog(
            -worth / unit,
            A_ub=usage,
            b_ub=weights / scale,
            method="highs-ds",
            options={"time_limit": max(1.0, 2.0 * seconds)},  # a last resort
        )
    if found.status != 0:
        return None
    prices = np.maximum(-found.ineqlin.marginals, 0.0) * unit
    return _Solved(found.x * scale, prices, -found.fun * unit * scale)

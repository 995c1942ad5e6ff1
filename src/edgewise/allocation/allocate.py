"""The entry points: choose a method, run it, return the allocation with its bounds."""

from __future__ import annotations

from numpy.typing import ArrayLike

from edgewise.allocation.exact import exact
from edgewise.allocation.improve.anneal import anneal
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.instance.search import Allocator
from edgewise.allocation.instance.tables import require_symmetric, tables_of
from edgewise.allocation.optimum.brute_force import brute_force
from edgewise.allocation.portfolio import automatic, improved_start
from edgewise.allocation.request import Progressing, Request, Start
from edgewise.allocation.starts.bipartite import bipartite
from edgewise.allocation.starts.greedy import greedy
from edgewise.allocation.starts.two_arm import two_arm
from edgewise.base.border import border
from edgewise.base.choice import pick
from edgewise.base.randomness import Rng
from edgewise.network.arms import checked_arms
from edgewise.network.graph import Graph


@border
def allocate(
    graph: Graph,
    arms: ArrayLike,
    matrix: ArrayLike,
    *,
    method: str | Allocator = "auto",
    beta: ArrayLike | None = None,
    candidates: ArrayLike | None = None,
    unary: ArrayLike | None = None,
    bound: str | None = "fast",
    start: Start = None,
    rng: Rng = 0,
    time_limit: float | None = None,
    progress: Progressing = False,
) -> Allocation:
    r"""An arm for every node, maximising the global reward of a known model.

    .. math:: F(a) = \sum_{\text{arcs } (i,j)} w_{ij} \,
              (x_{a_i}^\top M_{\kappa(ij)} x_{a_j} + x_{a_i}^\top \beta_{\kappa(ij)})
              + \sum_i u_i[a_i]

    Parameters
    ----------
    graph
        Who interacts with whom; an undirected edge counts in both directions.
    arms
        (K, d), one row per arm.
    matrix
        M: (d, d), or (q, d, d) with one matrix per edge kind.
    method
        ``"auto"``: optimal at once where that is easy, else the best of a portfolio, never below
        Algorithm 1.
        ``"bipartite"``: Algorithm 1 of the paper (undirected, one kind, no candidates).
        ``"two-arm"``: the best ordered pair of arms for the same cut (no candidates).
        ``"greedy"``: one pass by conditional expectations.
        ``"local-search"``: best response from ``start``, or from the best simple one.
        ``"anneal"``: simulated annealing with reheats.
        ``"exact"``: dynamic programming, else a frontier search; for wide graphs toulbar2 (extra
        ``exact``).
        ``"brute-force"``: every joint arm, exact, at most 10^7 of them.
        Or any function ``(objective, search) -> Allocation``.
    beta
        Node term: (d,), or (q, d); None when there is none.
    candidates
        (n, K) boolean, True where a node may take an arm; None when all may take all.
    unary
        (n, K) what each node earns by its own arm, u; None when nothing.
    bound
        ``"fast"``: the best upper bound that takes less time than the search; ``"tight"``: the
        best there is; None: every edge at its best, at no cost.
    start
        An earlier allocation, (n,) arms, or ``"greedy"``; the answer is never worse. Used by
        ``"auto"``, ``"local-search"``, ``"anneal"`` and ``"exact"``.
    rng
        A seed, a generator, or None for other random numbers in every call. By default a seed:
        the same call gives the same answer.
    time_limit
        Seconds: search until then if there is anything to gain. None: as many steps as the size
        of the problem asks for, a few seconds at 10^6 edges, so that the answer depends on
        ``rng`` alone.
    progress
        True: a line on standard error when a stage begins or something better is found. Or a
        function, called now and then with a :class:`Progress`.

    Returns
    -------
    Allocation
        Its ``method`` names what found the arms, so after ``"auto"`` it is the method chosen; its
        ``bound`` names what proved ``upper_bound``.

    Examples
    --------
    >>> allocate(Graph.circle(n_nodes=4), [[1, 0], [0, 1]], [[0, 1], [1, 0]])
    Allocation(n_nodes=4, value=8, upper_bound=8, proved optimal, method='two-colouring')
    """
    tables = tables_of(checked_arms(arms), matrix, beta, n_kinds=graph.n_kinds)
    objective = Objective.of(graph, tables, candidates, unary)
    return solve(objective, Request(method, bound, start, rng, time_limit, progress))


@border
def allocate_table(
    graph: Graph,
    tables: ArrayLike,
    *,
    unary: ArrayLike | None = None,
    candidates: ArrayLike | None = None,
    method: str | Allocator = "auto",
    bound: str | None = "fast",
    start: Start = None,
    symmetrise: bool = False,
    rng: Rng = 0,
    time_limit: float | None = None,
    progress: Progressing = False,
) -> Allocation:
    r"""An arm for every node, given the rewards themselves: colouring, Max-k-cut, Potts.

    .. math:: F(a) = \sum_{\text{arcs } (i,j)} w_{ij} \, W_{\kappa(ij)}[a_i, a_j] + \sum_i u_i[a_i]

    Parameters
    ----------
    graph
        Who interacts with whom; an undirected edge counts in both directions.
    tables
        W: (K, K), or (q, K, K) with one table per edge kind. On an undirected graph they must be
        symmetric: which end is the first is not known.
    symmetrise
        Replace W by (W + W')/2 on an undirected graph, which leaves F as it is.
    unary, candidates, method, bound, start, rng, time_limit, progress
        As for :func:`allocate`.

    Examples
    --------
    Three colours for a wheel with five spokes leave one edge between equal colours:

    >>> wheel = Graph.from_edges([(0, i) for i in range(1, 6)] +
    ...                          [(1, 2), (2, 3), (3, 4), (4, 5), (5, 1)])
    >>> allocate_table(wheel, [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    Allocation(n_nodes=6, value=18, upper_bound=18, proved optimal, method='dynamic-programming')
    """
    if not (symmetrise or graph.directed):
        require_symmetric(tables, graph.n_kinds)
    objective = Objective.of(graph, tables, candidates, unary)
    return solve(objective, Request(method, bound, start, rng, time_limit, progress))


def solve(objective: Objective, request: Request) -> Allocation:
    """The allocation that a request asks for; of a table only the symmetric part may matter."""
    method = _solver(request.method)
    search = request.search(objective)
    found = method(objective, request.before_bound(search))
    return request.bounded(objective, found, search)


def _solver(method: str | Allocator) -> Allocator:
    if callable(method) and not isinstance(method, str):
        return method
    return pick("allocation method", method, METHODS, own="a function of (objective, search)")


METHODS: dict[str, Allocator] = {
    "auto": automatic,
    "bipartite": lambda objective, _: bipartite(objective),
    "two-arm": lambda objective, _: two_arm(objective),
    "greedy": lambda objective, _: greedy(objective),
    "local-search": improved_start,
    "anneal": anneal,
    "exact": exact,
    "brute-force": lambda objective, _: brute_force(objective),
}
"""Every method by its public name."""

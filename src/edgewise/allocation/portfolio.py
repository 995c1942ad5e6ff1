"""The default: optimal at once where that is easy, else the best of everything tried."""

from __future__ import annotations

from collections.abc import Iterator

from edgewise.allocation.improve.anneal import improve
from edgewise.allocation.improve.local_search import ascend, local_search
from edgewise.allocation.instance.deadline import Deadline
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.instance.search import Search
from edgewise.allocation.instance.two_colouring import two_colouring
from edgewise.allocation.optimum.dynamic_programming import SMALL, dynamic_programming
from edgewise.allocation.optimum.separable import separable
from edgewise.allocation.starts.constant import constant
from edgewise.allocation.starts.greedy import decide, greedy
from edgewise.allocation.starts.mean_field import local_laws
from edgewise.allocation.starts.planted import shows_structure, spectral_start
from edgewise.allocation.starts.two_arm import best_pair, two_arm
from edgewise.base.arrays import Indices

_HUGE = 1e7
"""Links times arms beyond which only the best start is improved: half a second or more each."""
_SPECTRAL = 50, 15_000_000
"""Nodes from which a spectral embedding may show what annealing does not find, and the links
beyond which even a first look takes longer than all the rest."""


def automatic(objective: Objective, search: Search) -> Allocation:
    """The first start that is provably optimal, or dynamic programming, or the portfolio."""
    alone = separable(objective)
    if alone is not None:
        return alone
    simple = []
    for start in simple_starts(objective):
        if start.proved_optimal:
            return start
        simple.append(start)
    solved = dynamic_programming(objective, SMALL)
    return _portfolio(objective, search, simple) if solved is None else solved


def portfolio(objective: Objective, search: Search) -> Allocation:
    """The best of all starts, each improved by a local search, then annealed.

    Never below any of them, so never below Algorithm 1 where that is defined.
    """
    return _portfolio(objective, search, list(simple_starts(objective)))


def _portfolio(objective: Objective, search: Search, simple: list[Allocation]) -> Allocation:
    best: Allocation | None = None
    for start in starts(objective, search, simple):
        if best is None or start.value > best.value:
            best = start
            search.tell(start.method, best)
        if best.proved_optimal or search.deadline.passed:
            return best
    assert best is not None  # the constant start always is
    arms = best.arms.copy()
    annealed = improve(objective, arms, search, fresh=objective.n_arms == 2)
    return annealed if annealed.value > best.value else best


def simple_starts(objective: Objective) -> Iterator[Allocation]:
    """One or two arms for all nodes: cheap, and at times provably optimal."""
    yield constant(objective)
    if objective.candidates is not None:
        return  # the others give one pair of arms to all nodes
    sides = two_colouring(objective.graph)
    if sides is not None:
        yield objective.certify(best_pair(objective, sides), method="two-colouring")
    yield two_arm(objective)


def starts(objective: Objective, search: Search, simple: list[Allocation]) -> Iterator[Allocation]:
    """Local optima: of the given start and the best simple one, of several laws, spectral."""
    best = max(simple, key=lambda start: start.value)
    yield best
    if search.start is not None:
        yield local_search(objective, search.start)
    huge = len(objective.links.neighbours) * objective.n_arms > _HUGE
    laws = local_laws(objective, 4 if huge else 8)
    if huge:
        passes = _in_time((decide(objective, law) for law in laws), search.deadline)
        yield _ascended(objective, max(passes, key=objective.value), "greedy", search.deadline)
    else:
        yield local_search(objective, best.arms)
        for law in laws:
            yield _ascended(objective, decide(objective, law), "greedy", search.deadline)
    if _may_have_structure(objective) and shows_structure(objective.links, search.rng):
        yield _ascended(
            objective, spectral_start(objective, search.rng), "spectral", search.deadline
        )


def _may_have_structure(objective: Objective) -> bool:
    fewest, most = _SPECTRAL
    return objective.graph.n_nodes >= fewest and len(objective.links.neighbours) <= most


def improved_start(objective: Objective, search: Search) -> Allocation:
    """Best response from the given start, or from the best simple and greedy one."""
    if search.start is not None:
        return local_search(objective, search.start)
    found = [*simple_starts(objective), greedy(objective)]
    return local_search(objective, max(found, key=lambda start: start.value).arms)


def _in_time(passes: Iterator[Indices], deadline: Deadline) -> Iterator[Indices]:
    """The first, and those that begin before the deadline."""
    for arms in passes:
        yield arms
        if deadline.passed:
            return


def _ascended(objective: Objective, arms: Indices, method: str, deadline: Deadline) -> Allocation:
    """After a local search, under the name of the start."""
    ascend(objective, arms, deadline)
    return objective.certify(arms, method=method)

"""The optimum, proved: by dynamic programming where the graph is narrow, else by search."""

from __future__ import annotations

from dataclasses import replace

from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.instance.search import Search
from edgewise.allocation.optimum.conditioning import conditioned, has_narrow_frontiers
from edgewise.allocation.optimum.dynamic_programming import dynamic_programming
from edgewise.allocation.optimum.toulbar2 import branch_and_bound, require_toulbar2
from edgewise.allocation.portfolio import portfolio

_STARTS = 8
"""Runs of the portfolio: a better allocation to beat saves more time than they take."""


def exact(objective: Objective, search: Search) -> Allocation:
    """The best allocation; ``proved_optimal`` says whether the proof was finished in time.

    Without a time limit it always is, however long it takes. Dynamic programming if tables fit;
    else :func:`conditioned`, from the best of a few runs of the portfolio; where frontiers or
    odd cycles are too many for that, toulbar2.
    """
    solved = dynamic_programming(objective)
    if solved is not None:
        return solved
    if not has_narrow_frontiers(objective):
        require_toulbar2()  # before anything slow
    best = _start(objective, replace(search.shortened(0.5), patient=False))
    if best.proved_optimal:
        return best
    search.tell("frontier", best)
    found = conditioned(objective, best, search.deadline)
    if found is not None:
        return found
    search.tell("branch-and-bound", best)
    return branch_and_bound(objective, best, search.deadline)


def _start(objective: Objective, search: Search) -> Allocation:
    """The best of several runs of the portfolio, each from the best before."""
    best = portfolio(objective, search)
    for _ in range(1, _STARTS):
        if best.proved_optimal or search.deadline.passed:
            break
        again = portfolio(objective, replace(search, start=best.arms))
        best = again if again.value > best.value else best
    return best

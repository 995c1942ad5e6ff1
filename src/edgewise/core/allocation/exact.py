"""The optimum, proved: by dynamic programming where the graph is narrow, else by toulbar2."""

from __future__ import annotations

from dataclasses import replace

from edgewise.core.allocation.branch_and_bound import branch_and_bound, require_toulbar2
from edgewise.core.allocation.dynamic_programming import dynamic_programming
from edgewise.core.allocation.objective import Objective
from edgewise.core.allocation.portfolio import portfolio
from edgewise.core.allocation.result import Allocation
from edgewise.core.allocation.search import Search


def exact(objective: Objective, search: Search) -> Allocation:
    """The best allocation; ``proved_optimal`` says whether the proof was finished in time.

    Without a time limit it always is, however long it takes. The branch and bound starts from
    what the portfolio finds at its default effort, within half of the time.
    """
    solved = dynamic_programming(objective)
    if solved is not None:
        return solved
    require_toulbar2()  # before anything slow
    best = portfolio(objective, replace(search.shortened(0.5), patient=False))
    search.tell("branch-and-bound", best)
    if best.proved_optimal:
        return best
    return branch_and_bound(objective, best, search.deadline)

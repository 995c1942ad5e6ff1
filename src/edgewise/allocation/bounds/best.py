"""The smallest of the upper bounds that apply."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from edgewise.allocation.bounds.bound import Bound
from edgewise.allocation.bounds.cycles.odd_cycles import (
    odd_cycle_bound,
    packing_bound,
    table_packing,
)
from edgewise.allocation.bounds.cycles.packing import is_small, odd_walks
from edgewise.allocation.bounds.cycles.split_bound import split_bound
from edgewise.allocation.bounds.edge_by_edge import edge_by_edge_bound
from edgewise.allocation.bounds.spectrum.semidefinite import semidefinite_bound
from edgewise.allocation.bounds.spectrum.spectral import spectral_bound
from edgewise.allocation.instance.deadline import Deadline
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import meets
from edgewise.allocation.instance.two_colouring import two_colouring
from edgewise.base.choice import pick
from edgewise.base.randomness import Rng, generator

DEFAULT_SECONDS = 10.0


def best_upper_bound(
    objective: Objective,
    *,
    effort: str = "fast",
    time_limit: float | None = None,
    rng: Rng = 0,
    value: float | None = None,
) -> Bound:
    r"""The smallest proved upper bound on :math:`F_{\max}` found with the effort given.

    Parameters
    ----------
    objective
        What is maximised: any kinds, directions, weights, node terms and candidates.
    effort
        ``"fast"``: edge by edge and greedily packed odd cycles, ``O(n + m)`` once per graph and
        then a tenth of a millisecond per table. ``"tight"``: also the best packing of odd
        cycles, their tables split freely, the spectral bound and, for two arms, the
        semidefinite bound.
    time_limit
        Seconds that ``"tight"`` may take, about; 10 when None. Work is counted rather than
        timed; the clock only stops what a slow machine has not finished by then. ``"fast"``
        ignores it.
    rng
        For the start vectors of the semidefinite bound: a seed, a generator, or None for others
        in every call.
    value
        What some allocation is known to be worth: no more work once a bound meets it.

    Returns
    -------
    Bound
        Rounding errors included. Its ``failure_probability`` is 0 except for semidefinite and
        spectral bounds of graphs of more than 3000 nodes.

    Examples
    --------
    Of the five edges of a pentagon at most four can be cut; each counts twice:

    >>> from edgewise.network.graph import Graph
    >>> objective = Objective.of(Graph.circle(n_nodes=5), [[0, 1], [1, 0]])
    >>> bound = best_upper_bound(objective)
    >>> bound.name, round(bound.value, 9)
    ('odd-cycle', 8.0)
    """
    return pick("effort", effort, EFFORTS)(objective, Deadline(time_limit), rng, value)


def _thorough(objective: Objective, deadline: Deadline, rng: Rng, value: float | None) -> Bound:
    seconds = DEFAULT_SECONDS if deadline.limit is None else float(deadline.limit)
    best = Bound(np.inf, "none")
    for bound in all_bounds(objective, seconds=seconds, rng=rng, deadline=deadline):
        best = min(best, bound)
        if value is not None and meets(value, best.value):
            break
    return best


EFFORTS: dict[str, Callable[[Objective, Deadline, Rng, float | None], Bound]] = {
    "fast": lambda objective, *_: min(quick_bounds(objective)),
    "tight": _thorough,
}
"""How to look for a bound, by its public name."""


def quick_bounds(objective: Objective) -> Iterator[Bound]:
    """The bounds that cost next to nothing."""
    yield edge_by_edge_bound(objective)
    packed = odd_cycle_bound(objective)
    if packed is not None:
        yield packed


def all_bounds(
    objective: Objective,
    *,
    seconds: float,
    rng: Rng = 0,
    deadline: Deadline | None = None,
) -> Iterator[Bound]:
    """Every bound that applies, cheapest first, within about this much work on one core."""
    yield from quick_bounds(objective)
    if _is_attained(objective):
        return
    small = is_small(objective.graph)
    stages = [_relaxed(objective, seconds=(0.3 if small else 0.8) * seconds, rng=rng)]
    if small:
        stages.append(_by_cycles(objective, seconds=0.6 * seconds, deadline=deadline))
    for bound in itertools.chain(*stages):
        yield bound
        if deadline is not None and deadline.passed:
            return


def _relaxed(objective: Objective, *, seconds: float, rng: Rng) -> Iterator[Bound]:
    if objective.n_arms == 2:  # at least as good as the spectral bound then
        bound = semidefinite_bound(objective, seconds=seconds, rng=generator(rng))
    else:
        bound = spectral_bound(objective)
    if bound is not None:
        yield bound


def _by_cycles(
    objective: Objective, *, seconds: float, deadline: Deadline | None
) -> Iterator[Bound]:
    if objective.graph.is_uniform:
        packing = table_packing(objective, seconds=0.5 * seconds, deadline=deadline)
        yield packing_bound(objective, packing)
    else:
        packing = odd_walks(objective.graph).packing
    bound = split_bound(objective, packing, seconds=0.5 * seconds, deadline=deadline)
    if bound is not None:
        yield bound


def _is_attained(objective: Objective) -> bool:
    """Whether some allocation is worth the edge-by-edge bound: one arm for all, or two colours."""
    if objective.unary is not None or objective.candidates is not None:
        return False
    table = objective.tables[0]
    alone = float(table.max()) <= float(table.diagonal().max())
    return objective.graph.is_uniform and (alone or two_colouring(objective.graph) is not None)

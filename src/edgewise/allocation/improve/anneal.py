"""Simulated annealing, reheated again and again, keeping every region that got better."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from edgewise.allocation.improve.crossover import take_better_regions
from edgewise.allocation.improve.gibbs import Gibbs
from edgewise.allocation.improve.local_search import ascend
from edgewise.allocation.improve.schedule import Reheating, Schedule
from edgewise.allocation.improve.spins import Spins
from edgewise.allocation.instance.deadline import Deadline
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.instance.search import Search
from edgewise.allocation.starts.greedy import decide
from edgewise.base.arrays import Array, Indices

_QUENCH = 4
"""Sweeps' worth of time set aside for the local search after a lap."""


class Chain(Protocol):
    """Nodes on their arms, and a way to sweep over them at given temperatures."""

    @property
    def arms(self) -> Indices:
        """(n,) joint arm."""
        ...

    def place(self, arms: Indices) -> None:
        """Put every node on the given arm."""
        ...

    def sweep(self, temperatures: Array) -> None:
        """One pass over all nodes at each temperature."""
        ...


def anneal(objective: Objective, search: Search) -> Allocation:
    r"""Simulated annealing from a random joint arm, then from its own best, reheated.

    A lap lowers the temperature linearly, ends in a local search, and its result is merged into
    the best by :func:`take_better_regions`. With ``search.start`` the first lap reheats that
    instead; the value is then never below it. Without a time limit the number of sweeps depends
    on the problem's size only. Any kinds, directions, weights, node terms and candidates.
    """
    if search.start is None:
        best = random_arms(objective, search.rng)
        fresh = True
    else:
        best, fresh = search.start.copy(), False
    ascend(objective, best, search.deadline)
    return improve(objective, best, search, fresh=fresh)


def random_arms(objective: Objective, rng: np.random.Generator) -> Indices:
    """(n,) any arms; the first sweep or local search replaces those that are not allowed."""
    return rng.integers(objective.n_arms, size=objective.graph.n_nodes)


def improve(objective: Objective, best: Indices, search: Search, *, fresh: bool) -> Allocation:
    """Anneal from scratch if ``fresh``, then reheat the best, until the effort is spent.

    ``best`` is a joint arm that the candidates allow; it is moved in place and never falls.
    """
    limited = search.patient and search.deadline.limit is not None
    schedule = Schedule.of(objective, best, limited=limited)
    found = objective.certify(best, method="anneal")
    if schedule.hot == 0.0 or objective.n_arms == 1:
        return found  # no edge prefers anything: the local search was exact
    chain = _chain(objective, random_arms(objective, search.rng), search.rng)
    reheating = Reheating(schedule.hot)
    spent, number = 0, 0 if fresh else 1
    while not (found.proved_optimal or spent >= schedule.total or search.deadline.passed):
        if number:
            temperature, sweeps = reheating.propose(number, search.rng), schedule.lap(number)
            elsewhere = number % 4 == 1 and number > 1 and objective.n_arms > 2
            chain.place(_elsewhere(objective, search.rng) if elsewhere else best)
        else:
            temperature, sweeps = schedule.hot, schedule.first
        spent += _lap(chain, temperature, sweeps, schedule, search.deadline)
        before, found = found.value, _merged(objective, found, best, chain.arms, search.deadline)
        reheating.learn(temperature, gained=found.value > before)
        search.tell("anneal", found)
        number += 1
    return found


def _elsewhere(objective: Objective, rng: np.random.Generator) -> Indices:
    """(n,) a pass of the greedy method for a law of few arms, hence another phase."""
    return decide(objective, rng.dirichlet(np.full(objective.n_arms, 0.3)))


def _merged(
    objective: Objective, found: Allocation, best: Indices, arms: Indices, deadline: Deadline
) -> Allocation:
    """``best`` moved to ``arms`` where that is better, certified."""
    ascend(objective, arms, deadline)
    if not take_better_regions(objective, best, arms):
        return found
    merged = objective.certify(best, method="anneal")
    return merged if merged.value >= found.value else found


def _chain(objective: Objective, arms: Indices, rng: np.random.Generator) -> Chain:
    kind: type[Spins] | type[Gibbs] = Spins if objective.n_arms == 2 else Gibbs
    return kind(objective, arms, rng)


def _lap(
    chain: Chain, temperature: float, sweeps: int, schedule: Schedule, deadline: Deadline
) -> int:
    """Sweep while cooling linearly; fewer sweeps, and as cold, when the time is short."""
    began, done, left = deadline.seconds, 0, sweeps
    while left > 0:
        count = min(schedule.chunk, left)
        step = (schedule.cold - temperature) / left
        chain.sweep(temperature + step * np.arange(count, dtype=float))
        temperature += step * count
        done, left = done + count, left - count
        if deadline.limit is not None:
            pace = (deadline.seconds - began) / done
            left = min(left, int(deadline.remaining / pace) - _QUENCH)
    return done

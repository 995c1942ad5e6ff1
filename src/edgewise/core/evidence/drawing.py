r"""Worlds that the rounds so far leave possible, drawn from the posterior.

With one matrix per class of edges the posterior of the parameters is that of least squares under a
flat prior, :math:`N(\hat\theta, \sigma^2 A^{-1})`, in the directions that were observed; where
edges have parameters of their own it is that of the local model.

Rewards of 0 and 1 (``noise="bernoulli"``) have the posterior that belongs to them: with Y ones
among N rewards of a cell its mean has, after Jeffreys' prior, the law :math:`\mathrm{Beta}(1/2 + Y,
1/2 + N - Y)`, cell by cell. It is exact from the first round on, where the Gaussian one is wrong
most: near 0 and 1, and after few rewards.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Array
from edgewise.core.evidence.by_edge import local_network
from edgewise.core.evidence.estimated import estimated_objective
from edgewise.core.evidence.measuring import ByPhase, Total, all_of
from edgewise.core.evidence.noise import estimate_noise
from edgewise.core.evidence.observed import observed_directions
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.local.estimate import objective_of
from edgewise.core.local.normal_equations import Phase, normal_equations
from edgewise.core.local.posterior import Posterior
from edgewise.core.local.reml import fit
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem

_JEFFREYS = 0.5
"""Ones and zeros that the prior of a probability counts for."""


def draw_world(
    problem: Problem, cells: Cells, closed: ByPhase, *, rng: np.random.Generator, scale: float
) -> Objective:
    """The allocation problem of one draw from the posterior, its deviations times ``scale``.

    ``closed`` (J, ...) are the phases that count, at least one but for rewards of 0 and 1; one
    matrix per class of edges.
    """
    if problem.is_bernoulli:
        return _draw_probabilities(problem, cells, closed, rng, scale)
    seen = all_of(closed[:-1], closed[-1])
    sigma = scale * noise_in_use(problem, seen)
    theta = np.zeros((len(cells.features), cells.features.shape[2]))
    kinds = range(1 if cells.joint else len(theta))
    for kind, (A, b) in zip(kinds, normal_by_kind(cells, seen), strict=True):
        values, basis = observed_directions(A)
        mean = (basis.T @ b) / values
        step = rng.standard_normal(len(values)) * sigma / np.sqrt(values)
        theta[kind] = basis @ (mean + step)
    if cells.joint:
        theta[:] = theta[0]
    return estimated_objective(problem, cells, theta)


def expected_coins(problem: Problem, cells: Cells, phases: ByPhase) -> Objective | None:
    """What rewards of 0 and 1 are expected to be, by all rounds (J, ...); None for other rewards.

    Cells that no round has shown count as their prior expects, 1/2.
    """
    if not problem.is_bernoulli:
        return None
    return _draw_probabilities(problem, cells, phases, np.random.default_rng(0), 0.0)


def _draw_probabilities(
    problem: Problem, cells: Cells, closed: ByPhase, rng: np.random.Generator, scale: float
) -> Objective:
    """A probability for every cell: Beta draws, their distance from the mean times ``scale``."""
    assert isinstance(closed, CellStatistics)
    ones, trials = _counts(closed)
    mean = (_JEFFREYS + ones) / (2 * _JEFFREYS + trials)
    drawn = rng.beta(_JEFFREYS + ones, _JEFFREYS + trials - ones) if scale > 0 else mean
    probabilities = np.clip(mean + scale * (drawn - mean), 0.0, 1.0)
    tables = probabilities[:, cells.pair_index]
    return Objective.of(problem.graph, tables, problem.candidates, None)


@lru_cache(maxsize=4)
def _counts(closed: CellStatistics) -> tuple[Array, Array]:
    """(q, P) ones and rewards seen by cell; once per phase: compared by identity."""
    trials = closed.information.sum(axis=0)
    return np.clip(closed.rewards.sum(axis=0), 0.0, trials), trials


def draw_local_world(
    problem: Problem, seen: Phase, *, rng: np.random.Generator, scale: float
) -> Objective:
    """The same where edges have parameters of their own, from what they showed one by one."""
    network = local_network(problem)
    return objective_of(network, posterior_of(problem, seen).draw(rng, scale=scale))


@lru_cache(maxsize=4)
def posterior_of(problem: Problem, seen: Phase) -> Posterior:
    """Fitted once per phase: both are compared by identity."""
    network = local_network(problem)
    equations = normal_equations(seen, problem.level_names, noise=network.measurement.noise)
    known = None if problem.noise == "estimate" else problem.stated_noise
    return Posterior(fit(equations, noise=known))


def normal_by_kind(cells: Cells, seen: Total) -> list[tuple[Array, Array]]:
    """A and b of every kind, or of the one vector of parameters that all share."""
    if isinstance(seen, CellStatistics):
        return [seen[None].normal(cells, kind)[0] for kind in range(len(cells.features))]
    return seen[None].normal(cells, 0)


def noise_in_use(problem: Problem, seen: Total) -> float:
    """Sigma as stated; else as estimated, else 1."""
    if problem.noise != "estimate":
        return problem.stated_noise
    found = estimate_noise(seen)
    return 1.0 if found is None else found.deviation

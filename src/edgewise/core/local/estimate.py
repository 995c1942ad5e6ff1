r"""What the local model recommends, how much better it is expected to be, and how sure that is.

The recommendation is the best joint arm of the posterior mean. Its gain over a baseline is a linear
function of the parameters, so it has a posterior mean and deviation. What further rounds could
still bring is at most what knowing the parameters would,

.. math:: \mathbb{E}\max_a F_\theta(a) - \max_a \mathbb{E} F_\theta(a) ,

estimated from posterior draws, each with its own best joint arm.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from edgewise.allocation.allocate import solve
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.request import Request
from edgewise.base.arrays import Array, Indices, Mask
from edgewise.core.local.network import LocalNetwork
from edgewise.core.local.normal_equations import Phase, normal_equations
from edgewise.core.local.posterior import Posterior
from edgewise.core.local.reml import Fit, fit

_DRAWS = 12
"""Posterior draws from which the worth of knowing more is estimated."""


@dataclass(frozen=True, eq=False)
class LocalEstimate:
    """The fitted local model, and what it recommends."""

    network: LocalNetwork
    fit: Fit
    posterior: Posterior
    objective: Objective
    """A table per edge, from the posterior mean."""
    allocation: Allocation

    @property
    def theta(self) -> Array:
        """(P,) posterior mean of all parameters."""
        return self.fit.theta

    @property
    def small_kinds(self) -> tuple[int, ...]:
        """Kinds of edges that learn how unequal they are with others, or not at all."""
        found = self.fit.deviations
        small = {*(kind for kind, _ in found.merged), *found.held}
        n_kinds = self.network.measurement.problem.graph.n_kinds
        return tuple(sorted(kind for kind in small if kind < n_kinds))

    @property
    def spread(self) -> float:
        """Deviation of an edge's mean reward from its kind's, over pairs of arms alike."""
        features = self.network.measurement.features
        flat = features.reshape(-1, features.shape[2])
        kinds = range(self.network.measurement.problem.graph.n_kinds)
        each = [np.einsum("ci,ij,cj->c", flat, self.fit.omega(kind), flat) for kind in kinds]
        return float(np.sqrt(np.mean(each)))

    def gain(self, baseline: Indices) -> tuple[float, float]:
        """Expected gain in global reward over another joint arm (n,), and its deviation."""
        direction = self.network.total(self.allocation.arms) - self.network.total(baseline)
        found = self.posterior.gains(direction)
        return float(found.mean[0]), float(found.deviation[0])

    def interval(self, baseline: Indices) -> tuple[float, float]:
        """The middle 90 % of the gain's posterior."""
        direction = self.network.total(self.allocation.arms) - self.network.total(baseline)
        low, high = self.posterior.gains(direction).interval()
        return float(low[0]), float(high[0])

    def worth_of_knowing(self, seed: int) -> float:
        """What further rounds can bring at most, in expectation: a pure function of the seed."""
        streams = np.random.default_rng(seed).spawn(_DRAWS)
        gains = []
        for stream in streams:
            theta = self.posterior.draw(stream)
            world = objective_of(self.network, theta)
            best = solve(world, Request(bound=None, start=self.allocation.arms))
            gains.append(best.value - world.value(self.allocation.arms))
        return float(np.mean(gains))


def estimate_locally(
    network: LocalNetwork, seen: Phase, *, pooling: str = "partial", allowed: Mask | None = None
) -> LocalEstimate | None:
    """Fit the local model to all rounds, find its best joint arm; None while nothing is known.

    Of the ``allowed`` (n, K) arms, by default all candidates.
    """
    problem = network.measurement.problem
    equations = normal_equations(seen, problem.level_names, noise=network.measurement.noise)
    if equations.freedoms.sum() - equations.n_nuisances < 1 or not equations.gram.any():
        return None
    known = None if problem.noise == "estimate" else problem.stated_noise
    fitted = fit(equations, pooling, noise=known)
    objective = objective_of(network, fitted.theta)
    trusted = objective if allowed is None else replace(objective, candidates=allowed)
    return LocalEstimate(network, fitted, Posterior(fitted), objective, solve(trusted, Request()))


def objective_of(network: LocalNetwork, theta: Array) -> Objective:
    """The allocation problem that parameters (P,) pose: a table per edge."""
    problem = network.measurement.problem
    return Objective.of(
        problem.classes.graph.edge_by_edge(),
        network.edge_tables(theta),
        problem.candidates,
        network.own_tables(theta),
    )

"""An environment that behaves exactly as the model says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from edgewise.allocation.instance.objective import checked_joint_arm
from edgewise.base.arrays import Array, Indices, as_floats, frozen
from edgewise.base.border import border
from edgewise.base.choice import pick
from edgewise.base.compiled import compiled
from edgewise.base.randomness import Rng, generator
from edgewise.core.model.problem import Problem
from edgewise.core.targets.truth import Truth
from edgewise.errors import InvalidArgument

Law: TypeAlias = Callable[[np.random.Generator, int], Array]
"""So many draws of mean 0 and variance 1."""


def _gaussian(rng: np.random.Generator, size: int) -> Array:
    return rng.standard_normal(size)


def _rademacher(rng: np.random.Generator, size: int) -> Array:
    return np.asarray(2.0 * rng.integers(0, 2, size) - 1.0, float)


_ROUNDING = 1e-9
"""By how much a mean may leave [0, 1] and still be a probability."""
LAWS: dict[str, Law] = {"gaussian": _gaussian, "rademacher": _rademacher}
"""Laws of the noise by name."""


@border
class BilinearEnvironment:
    """Simulates one round: joint arm (n,) in, what the problem measures out.

    Rewards are (m,) in ``graph.arcs`` order, (E,) in ``graph.edges`` order, (n,) or (1,), as
    ``problem.measured`` says.

    Parameters
    ----------
    problem
        Its graph, arms, noise and what it measures are simulated.
    matrix
        True M: (d, d); (G, d, d), one per kind of edge, then one per covariate; or one per edge
        (E, d, d). Any matrix, symmetric or not. Or the whole truth.
    beta
        True node term, (d,), (G, d) or (E, d), if ``problem.node_term``.
    own
        True own term of a node's arm, (d,) or one per kind of node (s, d), if
        ``problem.own_term``; by default nothing.
    levels
        What every reward has added to it: one number each, or the deviation to draw them from.
    round_levels
        Deviation of what all rewards of a round have added to them.
    noise
        True sigma, one number or one per reward; by default what the problem states.
    law
        Of the noise: ``"gaussian"`` or ``"rademacher"`` (plus or minus sigma), or a function
        ``(rng, size)`` that draws with variance 1. Where the problem says that rewards are 0 or 1
        there is none: means are probabilities.
    rng
        Generator or seed of the noise and of levels that are drawn.

    Examples
    --------
    >>> from edgewise import Graph, Problem
    >>> problem = Problem(Graph.star(n_nodes=3), [[1.0, 0.0], [0.0, 1.0]], noise=1e-9)
    >>> BilinearEnvironment(problem, [[1.0, 2.0], [3.0, 4.0]], rng=0)([0, 1, 1]).round(3)
    array([2., 3., 2., 3.])
    """

    def __init__(
        self,
        problem: Problem,
        matrix: ArrayLike | Truth,
        *,
        beta: ArrayLike | None = None,
        own: ArrayLike | None = None,
        levels: ArrayLike | None = None,
        round_levels: float = 0.0,
        noise: ArrayLike | None = None,
        law: str | Law = "gaussian",
        rng: Rng = None,
    ) -> None:
        self.problem = problem
        self.truth: Truth = (
            matrix if isinstance(matrix, Truth) else Truth.of(problem, matrix, beta, own)
        )
        self._noise = _noise_of(problem) if noise is None else _numbers("noise", noise, problem)
        own = "a function of (rng, shape)"
        self._law = law if callable(law) else pick("law", law, LAWS, own=own, argument="law")
        self._rng = generator(rng)
        if problem.is_bernoulli:
            _require_probabilities(self.truth, (noise, levels, round_levels or None))
        self.levels = self._levels(levels)
        """(m,) the constants in the rewards."""
        self._round_levels = float(round_levels)

    def _levels(self, levels: ArrayLike | None) -> Array | None:
        if levels is None:
            return None
        values = _numbers("levels", levels, self.problem)
        if values.ndim == 0:
            values = values * self._rng.standard_normal(self.problem.n_rewards)
        return frozen(values, float)

    def __call__(self, arms: ArrayLike) -> Array:
        """Deploy a joint arm and measure."""
        problem = self.problem
        joint = checked_joint_arm(arms, problem.graph.n_nodes, problem.n_arms)
        if problem.is_bernoulli:
            means = measured_means(problem, self.truth, joint)
            return np.asarray(self._rng.random(len(means)) < means, float)
        rewards = self._law(self._rng, problem.n_rewards)
        rewards *= self._noise
        if problem.measured == "arc":
            _add_arcs(self.truth, joint, rewards)
        else:
            rewards += measured_means(problem, self.truth, joint)
        if self.levels is not None:
            rewards += self.levels
        if self._round_levels:
            rewards += self._round_levels * self._rng.standard_normal()
        return rewards


def measured_means(problem: Problem, truth: Truth, arms: Indices) -> Array:
    """(m,) the true means of what is measured under a joint arm (n,), levels aside."""
    graph = problem.graph
    by_arc = np.zeros(graph.n_arcs)
    _add_arcs(truth, arms, by_arc)
    if problem.measured == "arc":
        return by_arc
    if problem.measured == "link":
        return np.asarray(by_arc.reshape(-1, 2).sum(axis=1))
    if problem.measured == "total":
        return np.asarray(by_arc.sum(keepdims=True))
    heads = graph.arcs[:, 1]
    means = np.asarray(np.bincount(heads, by_arc, graph.n_nodes), float)
    if problem.average:
        means /= np.maximum(np.bincount(heads, minlength=graph.n_nodes), 1)
    if truth.own is not None:
        means += truth.own[np.arange(graph.n_nodes), arms]
    return means


def _require_probabilities(truth: Truth, given: tuple[object, ...]) -> None:
    """Raise unless means are probabilities, which leave nothing else to be said about rewards."""
    low, high = float(truth.tables.min()), float(truth.tables.max())
    if low < -_ROUNDING or high > 1.0 + _ROUNDING:
        raise InvalidArgument(
            f"mean rewards go from {low:.4g} to {high:.4g}, and with noise='bernoulli' they are "
            "probabilities; pass a matrix whose means are between 0 and 1"
        )
    if any(one is not None for one in given):
        raise InvalidArgument(
            "rewards of 0 and 1 have no noise or levels of their own; leave noise=, levels= and "
            "round_levels= out"
        )


def _noise_of(problem: Problem) -> Array:
    """Stated deviations: one for all, or (m,)."""
    if not isinstance(problem.noise, tuple):
        return np.array(problem.stated_noise)
    values = np.array(problem.noise)
    if len(values) == problem.n_rewards:
        return values
    each = values[problem.graph.kind_of_edge]
    return np.repeat(each, problem.n_rewards // len(each))


def _numbers(name: str, values: ArrayLike, problem: Problem) -> Array:
    """One finite number, or one per reward."""
    size = problem.n_rewards
    remedy = f"give one number, or one per reward, ({size},)"
    array = as_floats(name, values, InvalidArgument, remedy)
    if array.shape not in ((), (size,)) or not np.isfinite(array).all():
        raise InvalidArgument(f"{name} has shape {array.shape} or is not finite; {remedy}")
    return array


def _add_arcs(truth: Truth, arms: Indices, rewards: Array) -> None:
    _add_means(*truth.graph.columns, truth.graph.directed, arms, truth.tables, rewards)


@compiled
def _add_means(
    edges: Indices,
    kinds: Indices,
    weights: Array,
    directed: bool,
    arms: Indices,
    tables: Array,
    rewards: Array,
) -> None:
    for e in range(len(edges)):
        kind = kinds[e] if len(kinds) else 0
        weight = weights[e] if len(weights) else 1.0
        k, l = arms[edges[e, 0]], arms[edges[e, 1]]
        if directed:
            rewards[e] += weight * tables[kind, k, l]
        else:
            rewards[2 * e] += weight * tables[kind, k, l]
            rewards[2 * e + 1] += weight * tables[kind, l, k]

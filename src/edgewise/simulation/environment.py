"""An environment that behaves exactly as the model says, with Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from edgewise.allocation.instance.objective import checked_joint_arm
from edgewise.allocation.instance.tables import tables_of
from edgewise.base.arrays import Array, Indices, frozen
from edgewise.base.compiled import compiled
from edgewise.base.randomness import Rng, generator
from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidProblem


@dataclass(frozen=True, eq=False)
class Truth:
    """The true mean reward of every cell, known only to simulations."""

    tables: Array
    """(q, K, K) mean reward of an arc of unit weight by the arms at its two ends."""

    @classmethod
    def of(cls, problem: Problem, matrix: ArrayLike, beta: ArrayLike | None = None) -> Truth:
        """From M (d, d) or (q, d, d), and beta (d,) or (q, d) if the problem has a node term."""
        if (beta is not None) != problem.node_term:
            raise InvalidProblem(
                "beta is given but the problem has node_term=False; set node_term=True"
                if beta is not None
                else "the problem has a node term; pass beta as well"
            )
        tables = tables_of(problem.arms, matrix, beta=beta, n_kinds=problem.graph.n_kinds)
        return cls(frozen(tables, float))


class BilinearEnvironment:
    """Simulates one round: joint arm (n,) in, rewards (m,) in ``graph.arcs`` order out.

    Parameters
    ----------
    problem
        Its graph, arms and noise are simulated.
    matrix
        True M, (d, d) or one per edge kind (q, d, d); any matrix, symmetric or not.
    beta
        True node term, (d,) or (q, d), if ``problem.node_term``.
    noise
        True sigma; by default what the problem states.
    rng
        Generator or seed of the noise.

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
        matrix: ArrayLike,
        *,
        beta: ArrayLike | None = None,
        noise: float | None = None,
        rng: Rng = None,
    ) -> None:
        self.problem = problem
        self.truth = Truth.of(problem, matrix, beta)
        self._noise = problem.stated_noise if noise is None else noise
        self._rng = generator(rng)

    def __call__(self, arms: ArrayLike) -> Array:
        """Deploy a joint arm and measure."""
        graph = self.problem.graph
        joint = checked_joint_arm(arms, graph.n_nodes, self.problem.n_arms)
        rewards = self._rng.standard_normal(graph.n_arcs)
        rewards *= self._noise
        _add_means(*graph.columns, graph.directed, joint, self.truth.tables, rewards)
        return rewards


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

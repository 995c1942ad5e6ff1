"""Worlds whose edges are alike but not equal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edgewise.allocation.allocate import solve
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.request import Request
from edgewise.base.arrays import Array, as_floats, frozen
from edgewise.base.randomness import Rng, generator
from edgewise.core.model.problem import Problem
from edgewise.core.model.sharing import Classes
from edgewise.core.targets.truth import Truth
from edgewise.errors import InvalidArgument
from edgewise.simulation.environment import BilinearEnvironment


@dataclass(frozen=True, eq=False)
class HierarchicalWorld:
    r"""Every edge has a matrix of its own, around that of its kind (and covariates).

    .. math:: M_e = \sum_g f_{eg} M_g + \Delta_e

    Examples
    --------
    >>> from edgewise import Graph, Problem
    >>> problem = Problem(Graph.circle(n_nodes=5), np.eye(2), pooling="partial")
    >>> world = HierarchicalWorld.draw(problem, [[2.0, 0.0], [0.0, 1.0]], spread=0.3, rng=0)
    >>> world.matrices.shape, world.environment(rng=1)([0, 0, 1, 1, 0]).shape
    ((5, 2, 2), (10,))
    """

    problem: Problem
    matrices: Array
    """(E, d, d)"""
    beta: Array | None = None
    """(E, d), if the problem has a node term."""
    own: Array | None = None
    """(d,) or (s, d), if the problem has an own term."""

    @classmethod
    def draw(
        cls,
        problem: Problem,
        matrix: ArrayLike,
        *,
        spread: float,
        beta: ArrayLike | None = None,
        own: ArrayLike | None = None,
        rng: Rng = None,
    ) -> HierarchicalWorld:
        r"""Entries of :math:`\Delta_e` are normal, ``spread`` times the mean square of its kind's.

        ``matrix`` (d, d), or (G, d, d) for every kind, then every covariate; ``beta`` likewise.
        """
        if not (np.isfinite(spread) and spread >= 0):
            raise InvalidArgument(f"spread is {spread}; it must be finite and at least 0")
        d = problem.dimension
        means = _by_edge("matrix", problem, matrix, (d, d))
        scale = spread * np.sqrt((means**2).mean(axis=(1, 2), keepdims=True))
        matrices = means + scale * generator(rng).standard_normal(means.shape)
        terms = None if beta is None else frozen(_by_edge("beta", problem, beta, (d,)), float)
        return cls(
            problem, frozen(matrices, float), terms, None if own is None else frozen(own, float)
        )

    @cached_property
    def truth(self) -> Truth:
        """True tables per edge, and own terms."""
        return Truth.of_edges(self.problem, self.matrices, self.beta, self.own)

    @cached_property
    def best(self) -> Allocation:
        """The best joint arm, as far as it is known."""
        return solve(self.truth.objective(self.problem), Request())

    def value(self, arms: ArrayLike) -> float:
        """True global reward of a joint arm (n,)."""
        return self.truth.objective(self.problem).value(arms)

    def environment(self, **options: Any) -> BilinearEnvironment:
        """Simulates rounds; options are its own: levels, noise, law, rng."""
        return BilinearEnvironment(self.problem, self.truth, **options)


def _by_edge(name: str, problem: Problem, given: ArrayLike, shape: tuple[int, ...]) -> Array:
    """(E, ...) what kind and covariates give every edge."""
    classes = Classes.of(problem.graph, alone=False)
    n_groups = classes.n_groups
    remedy = f"give {shape} or {(n_groups, *shape)}"
    values = as_floats(name, given, InvalidArgument, remedy)
    if values.shape not in (shape, (n_groups, *shape)) or not np.isfinite(values).all():
        raise InvalidArgument(f"{name} has shape {values.shape} or is not finite; {remedy}")
    if values.shape == shape:
        return np.broadcast_to(values, (len(problem.graph.edges), *shape))
    by_class: Array = np.tensordot(classes.loadings, values, axes=1)
    edges: Array = by_class[classes.graph.kind_of_edge]
    return edges

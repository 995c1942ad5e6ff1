"""The characteristic time of a given graph: only designs that its joint arms can show."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from edgewise.allocation.allocate import solve
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.request import Request
from edgewise.base.arrays import Array, Indices, frozen
from edgewise.base.border import border
from edgewise.base.threads import single_threaded
from edgewise.network.graph import Graph
from edgewise.theory.edge_arms import Model, edge_arm_model, edge_arms
from edgewise.theory.information import CellInformation, MixedInformation
from edgewise.theory.least_information import Solution, maximise_least
from edgewise.theory.rho import bracket_width, told_apart
from edgewise.theory.setting import require_paper_graph, spanning_arms, square_matrix

_NEWTON_ITERATIONS = 60
_SMALL = 10_000
"""Rewards per round up to which the best bound on an allocation is worth its time."""
_IDLE = 1e-7
"""Joint arms with a smaller share are dropped from the mixture."""


@dataclass(frozen=True, eq=False)
class RealisableRho:
    """The characteristic time of a graph, bracketed, and the joint arms that reach it."""

    value: float
    """Reached by deploying ``joint_arms`` in the proportions ``shares``."""
    lower: float
    """No mixture of joint arms of this graph needs less: proved by bounds on allocations."""
    design: Array = field(repr=False)
    """(C,) proportion of every edge-arm, as in :class:`~edgewise.theory.LowerBound`."""
    joint_arms: Indices = field(repr=False)
    """(J, n)"""
    shares: Array = field(repr=False)
    """(J,) non-negative, sum to 1."""
    iterations: int
    """Allocation problems solved."""
    failure_probability: float = 0.0
    """0 when ``lower`` is a theorem; else the most that random checks of bounds can err by."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "design", frozen(self.design, float))
        object.__setattr__(self, "joint_arms", frozen(self.joint_arms, np.int64))
        object.__setattr__(self, "shares", frozen(self.shares, float))

    @property
    def gap(self) -> float:
        """Relative width of the bracket."""
        return bracket_width(self.lower, self.value)


@border
def rho_realisable(
    graph: Graph,
    arms: ArrayLike,
    matrix: ArrayLike,
    *,
    model: Model = "symmetric",
    tolerance: float = 0.01,
    max_iterations: int = 100,
    method: str = "auto",
) -> RealisableRho:
    r"""What the best mixture of joint arms of a graph needs.

    .. math:: \rho_G = \min_{\lambda \in \mathcal{C}(G)} \max_{z \ne z_\star}
        \frac{\|z_\star - z\|^2_{\Sigma(\lambda)^{-1}}}{\Delta_z^2}, \qquad
        \mathcal{C}(G) = \mathrm{conv}\{\text{proportions of edge-arms shown by } a\}_a

    By column generation: an interior point mixes the joint arms known so far; its multipliers make
    a table :math:`\Gamma[k, l] = \sum_y q_y\,\partial h_y/\partial\lambda_{kl}`, and the joint arm
    worth most under it, an allocation problem, is added. If no joint arm is worth more than U in
    all, then :math:`\rho_G \ge m/U`, by the argument of :func:`edgewise.theory.dual_bound` with the
    maximum taken over joint arms: so upper bounds on allocations prove lower bounds on
    :math:`\rho_G`. On bipartite graphs :math:`\rho_G = \rho^\star`: a two-colouring shows any
    unordered pair everywhere.

    Parameters
    ----------
    graph, arms, matrix
        The paper's setting: undirected, unweighted, one kind; (K, d) arms spanning the space; M.
    model
        As in :func:`edgewise.theory.lower_bound`.
    tolerance
        Relative gap to reach; where allocations cannot be bounded tightly it is not reached.
    max_iterations
        Limit on the allocation problems solved.
    method
        How they are solved, see :func:`edgewise.allocate`; ``"exact"`` closes the bracket where it
        is within reach.

    Examples
    --------
    >>> arms, matrix = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]], [[1.0, 0.0], [0.0, 0.0]]
    >>> triangle = rho_realisable(Graph.complete(n_nodes=3), arms, matrix)
    >>> square = rho_realisable(Graph.circle(n_nodes=4), arms, matrix)
    >>> round(square.value, 2), round(triangle.value, 2)
    (19.4, 19.48)
    """
    require_paper_graph(graph)
    table = spanning_arms(arms)
    features, theta = edge_arm_model(table, square_matrix(matrix, table.shape[1]), model)
    phi, y, settled = told_apart(features, theta)
    index = edge_arms(len(table), model).index
    mixture = _JointArms.of(graph, index, len(features))
    if settled is not None:
        even = np.full(len(mixture.joint_arms), 1.0 / len(mixture.joint_arms))
        return mixture.result(settled, settled, even, 0)
    unit = float((y**2).sum(axis=1).max())
    cells = CellInformation(phi, y / math.sqrt(unit))
    with single_threaded():
        found = _generate(graph, cells, mixture, tolerance, max_iterations, method)
    return replace(found, value=unit * found.value, lower=unit * found.lower)


@dataclass(frozen=True, eq=False)
class _JointArms:
    """The joint arms known so far, and the proportions of edge-arms that each shows."""

    graph: Graph
    index: Indices
    joint_arms: Indices
    columns: Array

    @classmethod
    def of(cls, graph: Graph, index: Indices, n_cells: int) -> _JointArms:
        """Every pair of arms on the two sides of a large cut: sees every direction."""
        cut = solve(Objective.of(graph, 1.0 - np.eye(2)), Request(bound=None)).arms
        pairs = np.column_stack(np.triu_indices(len(index)))
        joint_arms = pairs[:, cut]
        empty = cls(graph, index, joint_arms[:0], np.zeros((0, n_cells)))
        for arms in joint_arms:
            empty = empty.with_another(arms)
        return empty

    def with_another(self, arms: Indices) -> _JointArms:
        ends = arms[self.graph.arcs]
        shown = np.bincount(self.index[ends[:, 0], ends[:, 1]], minlength=self.columns.shape[1])
        return replace(
            self,
            joint_arms=np.vstack([self.joint_arms, arms]),
            columns=np.vstack([self.columns, shown / self.graph.n_arcs]),
        )

    def kept(self, keep: Indices) -> _JointArms:
        return replace(self, joint_arms=self.joint_arms[keep], columns=self.columns[keep])

    def result(self, value: float, lower: float, shares: Array, iterations: int) -> RealisableRho:
        design = shares @ self.columns
        return RealisableRho(value, lower, design, self.joint_arms, shares, iterations)


def _generate(
    graph: Graph,
    cells: CellInformation,
    mixture: _JointArms,
    tolerance: float,
    max_iterations: int,
    method: str,
) -> RealisableRho:
    """Mix, price, add the best joint arm, until it is worth no more than the mixture."""
    lower, best = 0.0, None
    for iteration in range(1, max_iterations + 1):
        mixed = maximise_least(
            MixedInformation(cells, mixture.columns), 0.1 * tolerance, _NEWTON_ITERATIONS
        )
        priced = _price(graph, cells, mixture, mixed, method)
        lower = max(lower, graph.n_arcs / priced.upper_bound)
        if best is None:
            best = mixture.result(mixed.upper, lower, mixed.design, iteration)
        elif mixed.upper < best.value:
            better = mixture.result(mixed.upper, lower, mixed.design, iteration)
            best = replace(better, failure_probability=best.failure_probability)
        doubt = best.failure_probability + priced.failure_probability
        best = replace(best, lower=lower, iterations=iteration, failure_probability=doubt)
        worth_adding = graph.n_arcs / priced.value < (1.0 - 0.1 * tolerance) * mixed.upper
        if best.gap <= tolerance or not worth_adding:
            break
        mixture = mixture.kept(np.flatnonzero(mixed.design > _IDLE)).with_another(priced.arms)
    assert best is not None
    return best


def _price(
    graph: Graph, cells: CellInformation, mixture: _JointArms, mixed: Solution, method: str
) -> Allocation:
    """The joint arm worth most under the slopes at the mixture."""
    slopes = cells.at(mixed.design @ mixture.columns).slopes @ mixed.multipliers
    bound = "tight" if graph.n_arcs <= _SMALL else "fast"
    objective = Objective.of(graph, slopes[mixture.index])
    return solve(objective, Request(method, bound))

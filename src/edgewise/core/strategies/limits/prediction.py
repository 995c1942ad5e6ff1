"""What earlier phases predict about a joint arm, compared with a baseline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.core.evidence.observed import are_inside, observed_directions
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem


@dataclass(frozen=True, eq=False)
class Change:
    """The predicted difference between a joint arm and the baseline, in units of reward."""

    expected: float
    """Of the arcs that can be predicted, summed."""
    deviation: float
    """Standard error of ``expected``."""
    unknown: float
    """Arcs, counted by weight, whose change cannot be predicted yet."""
    by_node: Array
    """(n,) the part of ``expected`` on each node's arcs."""
    unknown_by_node: Array
    """(n,) the part of ``unknown`` on each node's arcs."""

    def at_worst(self, *, margin: float, worst_loss: float) -> float:
        """Expected less ``margin`` standard errors; an unknown arc loses ``worst_loss``."""
        return self.expected - margin * self.deviation - worst_loss * self.unknown


@dataclass(frozen=True, eq=False)
class Prediction:
    r"""Least squares on what has been observed, in the directions that were.

    The difference between joint arms a and b is :math:`\sum_q Y_q^\top\theta_q` with
    :math:`Y_q = \sum_{\text{arcs } e \text{ of kind } q} w_e(\phi_{c_e(a)} - \phi_{c_e(b)})`, its
    variance :math:`\sigma^2\sum_q Y_q^\top A_q^+ Y_q`. An arc whose contrast leaves the range of
    :math:`A_q` cannot be predicted.
    """

    problem: Problem
    cells: Cells
    baseline: Indices
    """(n,)"""
    theta: Array
    """(q, p)"""
    covariance: Array
    """(q, p, p) pseudo-inverse of A."""
    observed: Array
    """(q, p, p) projection onto the directions that some observation has touched."""

    @classmethod
    def of(
        cls, problem: Problem, cells: Cells, baseline: Indices, seen: CellStatistics
    ) -> Prediction:
        """From the statistics (q, P) of the rounds that count."""
        n_kinds, _, p = cells.features.shape
        theta, covariance = np.zeros((n_kinds, p)), np.zeros((n_kinds, p, p))
        observed = np.zeros((n_kinds, p, p))
        for kind, features in enumerate(cells.features):
            if not seen.information[kind].any():
                continue
            gram = (features.T * seen.information[kind]) @ features
            values, basis = observed_directions(gram)
            covariance[kind] = (basis / values) @ basis.T
            observed[kind] = basis @ basis.T
            theta[kind] = covariance[kind] @ (seen.rewards[kind] @ features)
        return cls(problem, cells, baseline, theta, covariance, observed)

    def change(self, arms: Indices) -> Change:
        """What deploying ``arms`` instead of the baseline is predicted to bring."""
        graph, cells = self.problem.graph, self.cells
        first, second = graph.edges.T
        kinds, weights = graph.kind_of_edge, graph.n_directions * graph.weight_of_edge
        shown = cells.pair_index[arms[first], arms[second]].astype(np.int64)
        usual = cells.pair_index[self.baseline[first], self.baseline[second]].astype(np.int64)
        changed = np.flatnonzero(shown != usual)
        n_pairs = len(cells.pairs)
        keys = (kinds[changed] * n_pairs + shown[changed]) * n_pairs + usual[changed]
        distinct, which = np.unique(keys, return_inverse=True)
        gain, known = self._differences(distinct)
        size = weights[changed]
        effect = np.where(known[which], gain[which] * size, 0.0)
        lost = np.where(known[which], 0.0, np.abs(size))
        counts: Array = np.bincount(which, size, minlength=len(distinct)) * known.astype(float)
        ends = first[changed], second[changed]
        return Change(
            expected=float(effect.sum()),
            deviation=self._deviation(distinct, counts),
            unknown=float(lost.sum()),
            by_node=_on_nodes(ends, effect, graph.n_nodes),
            unknown_by_node=_on_nodes(ends, lost, graph.n_nodes),
        )

    def _contrasts(self, keys: Indices) -> tuple[Indices, Array]:
        """Kinds (U,) and feature differences (U, p) of (kind, shown, usual) keys."""
        n_pairs = len(self.cells.pairs)
        rest, usual = np.divmod(keys, n_pairs)
        kinds, shown = np.divmod(rest, n_pairs)
        return kinds, self.cells.features[kinds, shown] - self.cells.features[kinds, usual]

    def _differences(self, keys: Indices) -> tuple[Array, Mask]:
        """(U,) predicted change of an arc of unit weight, and whether it can be predicted."""
        kinds, contrasts = self._contrasts(keys)
        known = are_inside(contrasts, np.einsum("up,upr->ur", contrasts, self.observed[kinds]))
        gain: Array = (contrasts * self.theta[kinds]).sum(axis=1)
        return gain, known

    def _deviation(self, keys: Indices, counts: Array) -> float:
        kinds, contrasts = self._contrasts(keys)
        total = np.zeros_like(self.theta)
        np.add.at(total, kinds, counts[:, None] * contrasts)
        variance = np.einsum("qp,qpr,qr->", total, self.covariance, total)
        return self.problem.stated_noise * float(np.sqrt(max(float(variance), 0.0)))


def _on_nodes(ends: tuple[Indices, Indices], values: Array, n_nodes: int) -> Array:
    """(n,) sums of edge values over the edges of each node."""
    both = np.concatenate(ends)
    return np.bincount(both, np.concatenate([values, values]), minlength=n_nodes).astype(float)

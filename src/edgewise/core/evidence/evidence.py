"""From statistics to evidence: the leader of each kind, and how far every rival is behind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.duels import meet
from edgewise.core.evidence.equations import Equations
from edgewise.core.evidence.least_squares import SAME as _SAME
from edgewise.core.evidence.least_squares import all_contrasts, one_contrast
from edgewise.core.evidence.measuring import ByPhase, ByRound, all_of
from edgewise.core.evidence.observed import are_inside, observed_directions
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem


@dataclass(frozen=True, eq=False)
class Evidence:
    r"""What a stopping rule may look at, for R successive rounds at once.

    For the leader :math:`\hat z` (largest estimate) of a kind and a rival z with contrast
    :math:`y = \phi_{\hat z} - \phi_z`: the empirical gap :math:`y^\top\hat\theta` and its
    deviation :math:`\sigma \sqrt{y^\top A^{-1} y}`. Cells that are no rivals (the leader, cells
    equal to it, cells no edge can show) have gap infinity. Rounds after which some direction is
    still unobserved have leader -1 and gap -infinity.
    """

    rounds: Indices
    """(R,)"""
    theta: Array
    """(R, q, p) least-squares estimate; NaN where not estimable."""
    leaders: Indices
    """(R, q) pair with the largest estimated reward."""
    gaps: Array
    """(R, q, P)"""
    variances: Array
    """(R, q, P) of the gaps, for sigma = 1."""
    n_rivals: int
    n_arcs: int
    n_arms: int
    noise: Array
    """(R,) sigma, or an upper bound on it as known after each round."""

    @property
    def deviations(self) -> Array:
        """(R, q, P) of the gaps."""
        return self.noise[:, None, None] * np.sqrt(self.variances)

    def standardised(self, epsilon: float) -> Array:
        """(R, q, P) gaps plus epsilon over their deviations; infinite where the gap is."""
        known = np.isfinite(self.gaps)
        ratio: Array = np.divide(
            self.gaps + epsilon, self.deviations, out=self.gaps.copy(), where=known
        )
        return ratio


def gather(
    problem: Problem,
    cells: Cells,
    rounds: Indices,
    cumulative: ByRound | Equations,
    *,
    noise: Array | None = None,
    ridge: float = 0.0,
) -> Evidence:
    r"""Least squares after each of R rounds, :math:`\hat\theta = (\rho I + A)^{-1} b`.

    ``cumulative`` holds the statistics after each of the rounds, (R, q, P); ``noise`` (R,) is a
    bound on sigma, by default what the problem states. ``ridge`` is the paper's
    :math:`A_0 = I`; zero everywhere else.
    """
    if not isinstance(cumulative, CellStatistics):
        return _gather_joint(problem, cells, rounds, cumulative[-1].equations, noise)
    n_rounds, n_kinds, n_pairs = cumulative.information.shape
    theta = np.full((n_rounds, n_kinds, cells.features.shape[2]), np.nan)
    leaders = np.full((n_rounds, n_kinds), -1)
    gaps = np.full((n_rounds, n_kinds, n_pairs), -np.inf)
    variances = np.ones((n_rounds, n_kinds, n_pairs))
    for kind in range(n_kinds):
        all_contrasts(
            cells.features[kind],
            cells.products[kind],
            int(cells.dimensions[kind]),
            cells.showable[kind],
            cumulative.information[:, kind],
            cumulative.rewards[:, kind],
            ridge,
            theta[:, kind],
            leaders[:, kind],
            gaps[:, kind],
            variances[:, kind],
        )
    return _evidence(problem, cells, rounds, theta, leaders, gaps, variances, noise)


def watch(
    problem: Problem,
    cells: Cells,
    rival: tuple[int, int, int],
    rounds: Indices,
    cumulative: CellStatistics,
    *,
    noise: Array | None = None,
    ridge: float = 0.0,
    needed: Array | None = None,
) -> Evidence:
    """Evidence against a single rival (kind, k, l): arrays have q = P = 1, theta is left out.

    Rules judge rivals one by one, so a round at which this one is not refuted cannot be the stop:
    a cheap way to skip rounds without missing the first. ``needed`` (R,), if the rule has it, is
    the squared standardised gap that it takes to refute a rival: rounds at which some rival surely
    has less are not computed, and their gap is minus infinity.
    """
    kind, k, l = rival
    gaps, variances = np.full(len(rounds), -np.inf), np.ones(len(rounds))
    one_contrast(
        cells.features[kind],
        cells.products[kind],
        int(cells.dimensions[kind]),
        cells.showable[kind],
        int(cells.pair_index[k, l]),
        cumulative.information[:, kind],
        cumulative.rewards[:, kind],
        ridge,
        np.zeros(len(rounds)) if needed is None else needed * _sigma(problem, rounds, noise) ** 2,
        gaps,
        variances,
    )
    shape = (len(rounds), 1, 1)
    unknown, leaders = np.full(shape, np.nan), np.zeros(shape[:2], np.int64)
    return _evidence(
        problem,
        cells,
        rounds,
        unknown,
        leaders,
        gaps.reshape(shape),
        variances.reshape(shape),
        noise,
    )


def _evidence(
    problem: Problem,
    cells: Cells,
    rounds: Indices,
    theta: Array,
    leaders: Indices,
    gaps: Array,
    variances: Array,
    noise: Array | None,
) -> Evidence:
    return Evidence(
        rounds=rounds,
        theta=theta,
        leaders=leaders,
        gaps=gaps,
        variances=variances,
        n_rivals=cells.n_rivals,
        n_arcs=problem.graph.n_arcs,
        n_arms=problem.n_arms,
        noise=_sigma(problem, rounds, noise),
    )


def _sigma(problem: Problem, rounds: Indices, noise: Array | None) -> Array:
    """(R,) what is known of the noise, by default what the problem states."""
    return np.full(len(rounds), problem.stated_noise) if noise is None else noise


def gather_phases(
    problem: Problem,
    cells: Cells,
    number: int,
    phases: ByPhase,
    *,
    noise: Array | None = None,
) -> Evidence:
    r"""Evidence after round ``number`` (R = 1) from phases (J, q, P) that differ in their designs.

    The leader comes from all data together, while gap and deviation of a contrast are pooled phase
    by phase, :math:`\hat\Delta = W/I`, :math:`s = I^{-1/2}` with :math:`W = \sum_j D_j/s_j^2`,
    :math:`I = \sum_j 1/s_j^2`.
    """
    rounds = np.array([number])
    everything = all_of(phases[:-1], phases[-1])
    pooled = gather(problem, cells, rounds, everything[None], noise=noise)
    gaps, variances = pooled.gaps.copy(), np.ones_like(pooled.gaps)
    for kind, leader in enumerate(pooled.leaders[0]):
        rivals = np.isfinite(pooled.gaps[0, kind])
        features = cells.features[kind]
        contrasts = features[leader] - features[rivals]
        met = meet(contrasts, phases.normal(cells, kind))
        seen = met.information > 0
        information = np.where(seen, met.information, 1.0)
        gaps[0, kind, rivals] = np.where(seen, met.score / information, -np.inf)
        variances[0, kind, rivals] = 1.0 / information
    return _evidence(problem, cells, rounds, pooled.theta, pooled.leaders, gaps, variances, noise)


def _gather_joint(
    problem: Problem, cells: Cells, rounds: Indices, data: Equations, noise: Array | None
) -> Evidence:
    """Least squares on one vector of parameters, for one look (R = 1)."""
    values, basis = observed_directions(data.gram)
    theta = basis @ ((basis.T @ data.moment) / values)
    n_kinds, n_pairs, p = cells.features.shape
    gaps, variances = np.full((1, n_kinds, n_pairs), -np.inf), np.ones((1, n_kinds, n_pairs))
    leaders = np.full((1, n_kinds), -1)
    for kind, features in enumerate(cells.features):
        estimates = np.where(cells.showable[kind], features @ theta, -np.inf)
        leader = int(estimates.argmax())
        contrasts = features[leader] - features
        inside = contrasts @ basis
        if not are_inside(contrasts[cells.showable[kind]], inside[cells.showable[kind]]).all():
            continue
        leaders[0, kind] = leader
        variance = inside**2 @ (1.0 / values)
        scale = ((features @ basis) ** 2 @ (1.0 / values)).max(initial=0.0)
        rivals = cells.showable[kind] & (variance > _SAME * scale)
        gaps[0, kind] = np.where(rivals, estimates[leader] - estimates, np.inf)
        variances[0, kind] = np.where(rivals, variance, 1.0)
    whole = np.broadcast_to(theta, (1, n_kinds, p))
    return _evidence(problem, cells, rounds, whole, leaders, gaps, variances, noise)

r"""What strategies with phases share: what a phase is for, and when it is over.

When a phase ends, take the leader of each kind, the gaps (never below their own standard error),
and for every rival not yet refuted the information still needed. That is the aim of the next
phase; how the aim becomes joint arms is the strategy's own business.
"""

from __future__ import annotations

import math

import numpy as np

from edgewise.core.arrays import Array, Mask
from edgewise.core.cells import Cells
from edgewise.core.evidence import Evidence, in_range
from edgewise.core.problem import Problem
from edgewise.core.state import Aim, LearnerState

_MOST_CONTRASTS = 256
"""A phase is laid out for so many rivals at most, those that need most."""

_MIXTURE_COST = 3.0
"""Typical price of the mixture in log E: what a rival needs beyond the threshold itself."""

_PATIENCE = 20
"""A phase that cannot make its contrasts estimable (missing rewards) ends after so many times
its length in overtime, rather than never."""


def aim_at_open_rivals(
    problem: Problem,
    cells: Cells,
    state: LearnerState,
    evidence: Evidence,
    refuted: Mask,
    *,
    delta: float,
    epsilon: float,
    growth: float,
) -> Aim:
    r"""The open rivals that need most, each with the information it still needs.

    .. math:: n_z = \frac{2(\log\frac{P - 1}{\delta} + 3)}{\max(\hat\Delta_z, s_z)^2} - I_z,
        \qquad \text{at least a twentieth of the first term.}

    The phase lasts ``growth`` times the rounds so far, at least one round.
    """
    length = max(1, int(growth * state.rounds))
    if (evidence.leaders < 0).any():  # rewards were missing: some direction is still unseen
        return Aim.everything(length)
    gaps, deviations = _pooled(problem, cells, state, evidence)
    kinds, rivals = np.nonzero(~refuted[0] & (deviations > 0))
    gap = np.maximum(gaps + epsilon, deviations)[kinds, rivals]
    threshold = math.log(max(evidence.n_rivals, 1) / delta)
    wanted = 2.0 * (threshold + _MIXTURE_COST) / gap**2
    seen = np.isfinite(evidence.gaps[0, kinds, rivals])
    have = np.where(seen, evidence.deviations[0, kinds, rivals] ** -2.0, 0.0)
    needs = np.maximum(wanted - have, 0.05 * wanted)
    most = np.sort(np.argsort(-needs, kind="stable")[:_MOST_CONTRASTS])
    return Aim(
        kinds=kinds[most],
        leaders=evidence.leaders[0, kinds[most]],
        rivals=rivals[most],
        needs=needs[most] / needs.max(initial=0.0),
        length=length,
    )


def is_phase_over(cells: Cells, state: LearnerState) -> bool:
    """After its length, once its contrasts (at first: all directions) can be estimated."""
    if state.phase_rounds < state.aim.length:
        return False
    if state.phase_rounds >= overtime(cells, state) + _PATIENCE * state.aim.length:
        return True
    gram = grams(cells, state.statistics.information)
    if len(state.aim.kinds) == 0:
        ranks = [int(np.linalg.matrix_rank(A, hermitian=True)) for A in gram]
        return bool((np.array(ranks) == cells.dimensions).all())
    contrasts = state.aim.contrasts(cells)
    return all(
        in_range(gram[kind], contrasts[state.aim.kinds == kind]).all()
        for kind in np.unique(state.aim.kinds)
    )


def overtime(cells: Cells, state: LearnerState) -> int:
    """Rounds by which a phase can estimate its contrasts unless rewards are missing.

    Its length, and one for every parameter: an edge shows one cell a round.
    """
    return state.aim.length + int(cells.dimensions.sum())


def grams(cells: Cells, information: Array) -> Array:
    """(q, p, p) A of each kind."""
    gram: Array = np.einsum("qc,qci,qcj->qij", information, cells.features, cells.features)
    return gram


def pad(cells: Cells, gram: Array) -> Array:
    """The same with 1 on the diagonal of padded dimensions, in place: solving leaves them at 0."""
    for kind, dimension in enumerate(cells.dimensions):
        padded = np.arange(dimension, gram.shape[1])
        gram[kind, padded, padded] = 1.0
    return gram


def _pooled(
    problem: Problem, cells: Cells, state: LearnerState, evidence: Evidence
) -> tuple[Array, Array]:
    """(q, P) gaps to the leaders and their deviations by least squares on all rounds together.

    Only for planning: pooled estimates use every reward, but are not valid evidence once designs
    depend on rewards.
    """
    means = cells.means(evidence.theta[0])
    kinds = np.arange(len(means))
    leaders = evidence.leaders[0]
    contrasts = cells.features[kinds, leaders][:, None] - cells.features
    gram = pad(cells, grams(cells, state.total.information))
    images = np.linalg.solve(gram, contrasts.transpose(0, 2, 1)).transpose(0, 2, 1)
    variances = np.maximum((images * contrasts).sum(axis=2), 0.0)
    gaps = means[kinds, leaders][:, None] - means
    return gaps, problem.noise * np.sqrt(variances)

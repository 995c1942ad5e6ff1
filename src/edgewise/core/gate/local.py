r"""The local model's own gate: does what it predicted come true?

Before a phase the model is fitted to the rounds before. It then predicts the phase's numbers
jointly, :math:`e = r - \hat r \sim N(0, \Sigma)`, with the noise and twice the uncertainty of its
parameters in :math:`\Sigma` (twice, because the variances are estimated). A form adds effects,

.. math:: E = \frac{N(e; 0, \Sigma + \tau^2 D D^\top)}{N(e; 0, \Sigma)} ,

and phases multiply: a martingale if the predictions are right, so that the level holds as far as
the model's own intervals do. That is an approximation, as all that the local model says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from edgewise.base.arrays import Array, Indices
from edgewise.base.threads import single_threaded
from edgewise.core.evidence.by_edge import local_network
from edgewise.core.evidence.drawing import posterior_of
from edgewise.core.gate.sums import SPREADS
from edgewise.core.local.normal_equations import Phase
from edgewise.core.local.posterior import Posterior
from edgewise.core.model.problem import Problem

_CAUTION = 2.0
"""How much the uncertainty of parameters is widened."""
_MOST = 600
"""Numbers of a phase that are predicted jointly: its last rounds, if there are more."""


class Predicted(NamedTuple):
    """The numbers of a phase that were measured, and what had been said of them."""

    errors: Array
    """(N,) measured minus predicted."""
    covariance: Array
    """(N, N)"""
    noise: Array
    """(N,) deviation of the noise alone."""
    rounds: Indices
    """(N,) which round of the phase."""
    channels: Indices
    """(N,)"""
    expected: Array
    """(N,) what was predicted."""


def predicted(problem: Problem, before: Phase, arms: Indices, rewards: Array) -> Predicted | None:
    """The rounds of a phase, (T, n) and (T, m), against a fit to the rounds before.

    None where nothing can be predicted: too little was seen, or every round has a level. Nor where
    the first phase decided how edges are pooled: having been chosen by those rounds, a fit to them
    is surer of itself than it should be (counted: 12 alarms in 16 runs from the model).
    """
    network = local_network(problem)
    C = network.channels.n_channels
    if (
        problem.pooling == "auto"
        or problem.level_names in ("round", "both")
        or C > _MOST
        or before.counts.min(initial=2.0) < 2.0
    ):
        return None
    last = _MOST // C
    features = np.stack([network.features(one) for one in arms[-last:]])
    numbers = np.stack([network.measurement.numbers(one) for one in rewards[-last:]])
    posterior = posterior_of(problem, before)
    sigma = posterior.fit.sigma * network.measurement.noise
    levels = problem.has_channel_levels
    moved = features - before.feature_means if levels else features
    expected, parts = np.zeros_like(numbers), []
    starts = network.channels.starts
    for c in range(C):
        own = slice(*starts[c : c + 2])
        expected[:, c] = moved[:, own] @ posterior.mean[own]
        expected[:, c] += before.reward_means[c] if levels else 0.0
        parts.append(moved[:, own])
    seen = ~np.isnan(numbers)
    rounds, channels = np.nonzero(seen)
    covariance = _covariance(posterior, parts, rounds, channels)
    covariance[np.diag_indices(len(rounds))] += sigma[channels] ** 2
    if levels:  # the level is known from T rounds only
        same = channels[:, None] == channels
        covariance += same * (sigma**2 / before.counts)[channels]
    errors = (numbers - expected)[seen]
    return Predicted(errors, covariance, sigma[channels], rounds, channels, expected[seen])


def _covariance(
    posterior: Posterior, parts: list[Array], rounds: Indices, channels: Indices
) -> Array:
    """(N, N) of what parameters contribute, widened."""
    shared, own = [], np.zeros((len(rounds), len(rounds)))
    for c, Z in enumerate(parts):
        root, M = posterior.channel_factors(c)
        at = np.flatnonzero(channels == c)
        turned = Z[rounds[at]] @ root.T
        own[np.ix_(at, at)] = turned @ turned.T
        shared.append((at, Z[rounds[at]] @ M))
    common = np.zeros((len(rounds), shared[0][1].shape[1] if shared else 0))
    for at, block in shared:
        common[at] = block
    return np.asarray(_CAUTION * (own + common @ common.T))


def log_bets(found: Predicted) -> dict[str, Array]:
    """(tau,) the log of what a phase multiplies the bets of every form by."""
    with single_threaded():
        L = np.linalg.cholesky(found.covariance)
        u = solve_triangular(L, found.errors, lower=True)
        columns = {
            "round": _one_hot(found.rounds, found.noise),
            "drift": _one_hot(found.channels, found.noise),
            "calibration": np.diag(np.sqrt(np.diag(found.covariance))),
        }
        return {
            name: _log_ratio(u, solve_triangular(L, D, lower=True)) for name, D in columns.items()
        }


def log_p_value(found: Predicted, phase: int) -> tuple[float, int]:
    """A bound on the log of the largest error's p-value, all phases paid for; which it is."""
    ratios = np.abs(found.errors) / np.sqrt(np.diag(found.covariance))
    worst = int(ratios.argmax())
    price = float(np.log(2.0 * len(ratios) * phase * (phase + 1)))
    return min(price - 0.5 * float(ratios[worst]) ** 2, 0.0), worst


def _one_hot(codes: Indices, sizes: Array) -> Array:
    return np.asarray((codes[:, None] == np.unique(codes)) * sizes[:, None])


def _log_ratio(u: Array, D: Array) -> Array:
    """(tau,) log N(u; 0, I + tau^2 DD') - log N(u; 0, I)."""
    values, basis = np.linalg.eigh(D.T @ D)
    inside = (basis.T @ (D.T @ u)) ** 2
    grown = SPREADS[:, None] ** 2 * values
    explained = (SPREADS[:, None] ** 2 * inside / (1.0 + grown)).sum(axis=1)
    return np.asarray(0.5 * (explained - np.log1p(np.maximum(grown, 0.0)).sum(axis=1)))

r"""The local model's own gate: does what it predicted come true?

Before a phase the model is fitted to the rounds before. It then predicts the phase's numbers
jointly: :math:`e = r - \hat r` has a multivariate t distribution with spread :math:`\Sigma`, the
noise and the uncertainty of the parameters, and :math:`\nu` degrees of freedom, because variances
are estimated (:mod:`edgewise.core.local.calibration`). A form adds effects,

.. math:: E = \frac{t_\nu(e; \Sigma + \tau^2 D D^\top)}{t_\nu(e; \Sigma)} ,

and phases multiply: a martingale if the predictions are right, so that the level holds as far as
the model's own intervals do. How far that is, is counted (``benchmarks/stat_gate.py local``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import log_ndtr, stdtr

from edgewise.base.arrays import Array, Indices
from edgewise.base.threads import single_threaded
from edgewise.core.evidence.by_edge import local_network
from edgewise.core.evidence.drawing import posterior_of
from edgewise.core.gate.solving import log_mean
from edgewise.core.gate.sums import SPREADS
from edgewise.core.local.normal_equations import Phase
from edgewise.core.local.posterior import Posterior
from edgewise.core.model.problem import Problem

_ASKED = 24
"""Numbers of a phase whose own interval is computed: the widest says how sure all are."""
_MOST = 600
"""Numbers of a phase that are predicted jointly: its last rounds, if there are more."""


_ALMOST_ALL = 1.0 - 1e-15
"""Share of the squares that effects can explain: less than 1, which rounding may make of it."""
_RULE = 2
"""How bets are computed; stored ones of another rule are kept, and not compared with these."""
BETS = ("round", "drift", "noise", "calibration")
"""The forms that are bets."""


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
    freedom: float
    """nu, of the prediction; infinite if all variances are known."""


def predicted(problem: Problem, before: Phase, arms: Indices, rewards: Array) -> Predicted | None:
    """The rounds of a phase, (T, n) and (T, m), against a fit to the rounds before.

    None where nothing can be predicted: too little was seen, or every round has a level. Numbers
    of channels that were measured less than twice before are not asked about.
    """
    network = local_network(problem)
    C, enough = network.channels.n_channels, before.counts >= 2.0
    if problem.level_names in ("round", "both") or C > _MOST or not enough.any():
        return None
    last = _MOST // C
    features = np.stack([network.features(one) for one in arms[-last:]])
    numbers = np.stack([network.measurement.numbers(one) for one in rewards[-last:]])
    posterior = posterior_of(problem, before)
    sigma = posterior.fit.sigma * network.measurement.noise
    if problem.has_channel_levels:  # which are known from T rounds only
        features = features - before.feature_means
        level, error = before.reward_means, sigma**2 / np.maximum(before.counts, 1.0)
    else:
        level, error = np.zeros(C), np.zeros(C)
    own = _by_channel(features * posterior.mean, network.channels.starts)
    expected = level + own
    seen = ~np.isnan(numbers) & enough
    rounds, channels = np.nonzero(seen)
    noise = sigma[channels]
    wider, freedom = _sureness(posterior, features, rounds, channels, noise)
    covariance = wider * _covariance(posterior, features, rounds, channels)
    covariance[np.diag_indices(len(rounds))] += noise**2
    covariance += (channels[:, None] == channels) * error[channels]
    errors = (numbers - expected)[seen]
    return Predicted(errors, covariance, noise, rounds, channels, expected[seen], freedom)


def _by_channel(terms: Array, starts: Indices) -> Array:
    """(T, C) sums of (T, P) over the parameters of every channel, of which some have none."""
    before = np.pad(np.cumsum(terms, axis=1), ((0, 0), (1, 0)))
    return np.asarray(before[:, starts[1:]] - before[:, starts[:-1]])


def _sureness(
    posterior: Posterior, features: Array, rounds: Indices, channels: Indices, noise: Array
) -> tuple[float, float]:
    """By how much to widen what parameters contribute, and degrees of freedom of a prediction."""
    if not len(rounds):
        return 1.0, np.inf
    chosen = np.unique(np.linspace(0, len(rounds) - 1, _ASKED).astype(int))
    starts = posterior.channels.starts
    at = np.arange(features.shape[1])
    lower, upper = starts[channels[chosen]][:, None], starts[channels[chosen] + 1][:, None]
    gains = posterior.gains(features[rounds[chosen]] * ((at >= lower) & (at < upper)))
    variance, known = gains.deviation**2, np.maximum(gains.conditional**2, 1e-300)
    spread = variance**2 / gains.freedom + noise[chosen] ** 4 * posterior.noise_error
    freedoms = (variance + noise[chosen] ** 2) ** 2 / np.maximum(spread, 1e-300)
    return max(float((variance / known).max()), 1.0), float(max(freedoms.min(), 1.0))


def _covariance(posterior: Posterior, features: Array, rounds: Indices, channels: Indices) -> Array:
    """(N, N) of what parameters contribute."""
    starts = posterior.channels.starts
    covariance = np.zeros((len(rounds), len(rounds)))
    common = np.zeros((len(rounds), len(posterior.fit.final.fixed)))
    for c in np.unique(channels).tolist():
        root, M = posterior.channel_factors(c)
        at = np.flatnonzero(channels == c)
        Z = features[rounds[at], starts[c] : starts[c + 1]]
        turned = Z @ root.T
        covariance[np.ix_(at, at)] = turned @ turned.T
        common[at] = Z @ M
    return np.asarray(covariance + common @ common.T)


def log_bets(found: Predicted) -> dict[str, Array]:
    """(tau,) the log of what a phase multiplies the bets of every form by."""
    with single_threaded():
        L = np.linalg.cholesky(found.covariance)
        u = solve_triangular(L, found.errors, lower=True)
        columns = {
            "round": _one_hot(found.rounds, found.noise),
            "drift": _one_hot(found.channels, found.noise),
            "noise": np.diag(found.noise),
            "calibration": np.diag(np.sqrt(np.diag(found.covariance))),
        }
        return {
            name: _log_ratio(u, solve_triangular(L, D, lower=True), found.freedom)
            for name, D in columns.items()
        }


def log_p_value(found: Predicted, phase: int) -> tuple[float, int]:
    """A bound on the log of the largest error's p-value, all phases paid for; which it is."""
    ratios = np.abs(found.errors) / np.sqrt(np.diag(found.covariance))
    worst = int(ratios.argmax())
    price = float(np.log(2.0 * len(ratios) * phase * (phase + 1)))
    if np.isinf(found.freedom):
        tail = float(log_ndtr(-ratios[worst]))
    else:
        tail = float(np.log(max(stdtr(found.freedom, -ratios[worst]), np.finfo(float).tiny)))
    return min(price + tail, 0.0), worst


def _one_hot(codes: Indices, sizes: Array) -> Array:
    return np.asarray((codes[:, None] == np.unique(codes)) * sizes[:, None])


def _log_ratio(u: Array, D: Array, freedom: float) -> Array:
    """(tau,) log t(u; I + tau^2 DD') - log t(u; I), with so many degrees of freedom."""
    values, basis = np.linalg.eigh(D.T @ D)
    inside = (basis.T @ (D.T @ u)) ** 2
    grown = SPREADS[:, None] ** 2 * values
    explained = (SPREADS[:, None] ** 2 * inside / (1.0 + grown)).sum(axis=1)
    price = np.log1p(np.maximum(grown, 0.0)).sum(axis=1)
    if np.isinf(freedom):
        return np.asarray(0.5 * (explained - price))
    gained = -np.log1p(-np.minimum(explained / (freedom + float(u @ u)), _ALMOST_ALL))
    return np.asarray(0.5 * ((freedom + len(u)) * gained - price))


@dataclass(frozen=True, eq=False)
class Predictions:
    """The rounds of the present phase, and the bets on those before."""

    arms: Indices
    """(T, n)"""
    rewards: Array
    """(T, m)"""
    phases: int
    """Phases that were predicted."""
    bets: Mapping[str, Array]
    """(tau,) logs, by form."""

    @classmethod
    def nothing(cls, problem: Problem) -> Predictions:
        """Before the first round."""
        none = {name: np.zeros(len(SPREADS)) for name in BETS}
        shape = (0, problem.graph.n_nodes), (0, problem.n_rewards)
        return cls(np.zeros(shape[0], np.int32), np.zeros(shape[1]), 0, none)

    def with_round(self, arms: Indices, rewards: Array) -> Predictions:
        """With one more round of the phase."""
        if not len(self.arms):  # a text knows no columns of an empty array
            return replace(self, arms=np.array([arms]), rewards=np.array([rewards]))
        rounds = np.vstack([self.arms, arms]), np.vstack([self.rewards, rewards])
        return replace(self, arms=rounds[0], rewards=rounds[1])

    def judged(
        self, problem: Problem, before: Phase | None
    ) -> tuple[Predicted | None, Predictions]:
        """At the end of the phase: how it went, and the bets with it."""
        empty = replace(self, arms=self.arms[:0], rewards=self.rewards[:0])
        found = None
        if before is not None and len(self.arms):
            found = predicted(problem, before, self.arms, self.rewards)
        if found is None or not len(found.errors):
            return None, empty
        new = log_bets(found)
        bets = {name: logs + new[name] for name, logs in self.bets.items()}
        return found, replace(empty, phases=self.phases + 1, bets=bets)

    def evidence(self) -> dict[str, float]:
        """Log E of every form."""
        return {name: log_mean(logs) for name, logs in self.bets.items()}

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "arms": self.arms,
            "rewards": self.rewards,
            "phases": self.phases,
            "bets": dict(self.bets),
            "rule": _RULE,
        }

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Predictions:
        """The inverse of :meth:`to_tree`."""
        arms, rewards = np.array(tree["arms"], np.int32), np.array(tree["rewards"], float)
        stored = {"noise": np.zeros(len(SPREADS)), **tree["bets"]}  # before, there was no such bet
        bets = {name: np.array(logs, float) for name, logs in stored.items()}
        return cls(arms, rewards, int(tree["phases"]), bets)

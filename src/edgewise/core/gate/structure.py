r"""Formula (a): the predictive of a richer model over the best the model can do.

After a start of :math:`n_1` rounds, over the rewards since,

.. math:: E_t = \frac{p_1(r_1, \dots, r_t) / p_1(r_1, \dots, r_{n_1})}{
          \max_\theta \prod_{s > n_1} N(r_s; z_s^\top\theta, 1)} ,

with :math:`p_1` the Gaussian marginal of the richer model. If the model holds,
:math:`P(\exists t: E_t \ge 1/\alpha) \le \alpha`, for sub-Gaussian noise and joint arms that follow
the rewards in any way: the proof is in ``docs/gate.md``. If the noise is not known, the maximum is
over its deviation as well, and the richer model has a prior for it; that needs Gaussian noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from edgewise.base.arrays import Array
from edgewise.base.compiled import compiled
from edgewise.core.gate.forms import Best, Form, Kept, Reduced
from edgewise.core.gate.solving import factor, forward, log_mean

STARTS = (1, 4, 16)
"""n_1: rounds after which bets begin; each gets the same share."""


@dataclass(frozen=True, eq=False)
class Start:
    """The moment at which a form begins to bet."""

    best: Best
    """The sums at that moment."""
    marginal: Array
    """(tau,) log p_1 of the rounds before."""

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        return {**self.best._asdict(), "marginal": self.marginal}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Start:
        """The inverse of :meth:`to_tree`."""
        best = Best(
            np.array(tree["gram"], float),
            np.array(tree["moment"], float),
            float(tree["squares"]),
            int(tree["freedom"]),
        )
        return cls(best, np.array(tree["marginal"], float))


def start(form: Form, kept: Kept, prior: float) -> Start | None:
    """From where a form bets on what comes; None if it has nothing to go by."""
    best, marginal = form.best(kept), log_marginal(form, kept, prior)
    return None if best is None or marginal is None else Start(best, marginal)


def log_e_value(form: Form, kept: Kept, starts: tuple[Start, ...], prior: float) -> float:
    """Log E, the mean over starts and spreads; a start still to come counts as 1."""
    now, marginal = form.best(kept), log_marginal(form, kept, prior)
    if now is None or marginal is None or not starts:
        return 0.0
    known = kept.sight.knows_noise
    bets = [marginal - one.marginal - log_best(now, one.best, known=known) for one in starts]
    waiting = np.zeros((len(STARTS) - len(starts)) * len(marginal))
    return log_mean(np.concatenate([*bets, waiting]))


def log_marginal(form: Form, kept: Kept, prior: float) -> Array | None:
    """(tau,) log p_1 of all rounds, parameters with prior variance ``prior`` integrated out."""
    assert form.reduce is not None
    reduced = form.reduce(kept)
    if reduced is None:
        return None
    best = form.best(kept)
    freedom = 0 if best is None else best.freedom
    quadratic, determinant = _integrated(*_arrays(reduced), 1.0 / prior)
    if kept.sight.knows_noise:
        return np.asarray(-0.5 * (determinant + quadratic))
    return np.asarray(-0.5 * determinant + log_without_noise(freedom, quadratic))


def log_without_noise(freedom: int, quadratic: Array) -> Array:
    r"""The log of :math:`\int \sigma^{-N} e^{-Q/2\sigma^2} d\sigma/\sigma`, but for a constant."""
    if freedom < 1:
        return np.zeros_like(quadratic)
    safe = np.maximum(quadratic, np.finfo(float).tiny)
    return np.asarray(gammaln(0.5 * freedom) - 0.5 * freedom * np.log(0.5 * safe))


def log_best(now: Best, then: Best, *, known: bool) -> float:
    """The largest log likelihood of what came between, over all parameters (and the noise)."""
    residual = max(
        now.squares - then.squares - explained_by(now.gram - then.gram, now.moment - then.moment),
        0.0,
    )
    if known:
        return -0.5 * residual
    freedom = now.freedom - then.freedom
    if freedom < 1:
        return 0.0
    return math.inf if residual == 0.0 else -0.5 * freedom * (math.log(residual / freedom) + 1.0)


def _arrays(reduced: Reduced) -> tuple[Array, Array, Array, Array]:
    return (
        np.ascontiguousarray(reduced.gram),
        np.ascontiguousarray(reduced.moment),
        reduced.squares,
        reduced.determinant,
    )


@compiled
def explained_by(A: Array, b: Array) -> float:
    """b'A^-1 b on the observed directions."""
    L, _ = factor(A)
    x = forward(L, b)
    return float(np.sum(x * x))


@compiled
def _integrated(
    gram: Array, moment: Array, squares: Array, determinant: Array, precision: float
) -> tuple[Array, Array]:
    """Q - b'(A + I/kappa)^-1 b and log det V + log det(I + kappa A), for every tau."""
    quadratic, total = squares.copy(), determinant.copy()
    for i in range(len(gram)):
        A = gram[i].copy()
        for j in range(len(A)):
            A[j, j] += precision
        L, _ = factor(A)
        x = forward(L, moment[i])
        quadratic[i] -= np.sum(x * x)
        for j in range(len(A)):
            if L[j, j] > 0.0:
                total[i] += 2.0 * np.log(L[j, j]) - np.log(precision)
    return quadratic, total

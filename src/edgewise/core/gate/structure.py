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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from edgewise.base.arrays import Array
from edgewise.base.compiled import compiled
from edgewise.core.gate.effects import Best, Kept, Reduced
from edgewise.core.gate.forms import Data, Form
from edgewise.core.gate.solving import ROUNDING, factor, forward
from edgewise.errors import InvalidArgument


@dataclass(frozen=True, eq=False)
class Seen:
    """Some data at one moment: as the model sees them, and as richer ones do."""

    best: Best
    """The sums."""
    forms: tuple[str, ...]
    """F."""
    logs: Array
    """(F, tau) log p_1 of all rounds so far."""

    @property
    def marginals(self) -> dict[str, Array]:
        """(tau,) by form."""
        return dict(zip(self.forms, self.logs, strict=True))

    def logs_of(self, forms: tuple[str, ...]) -> Array:
        """(F, tau) of some forms."""
        return self.logs if forms == self.forms else np.array([*map(self.marginals.get, forms)])

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        return {**self.best._asdict(), "marginals": self.marginals}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Seen:
        """The inverse of :meth:`to_tree`."""
        best = Best(
            np.array(tree["gram"], float),
            np.array(tree["moment"], float),
            float(tree["squares"]),
            int(tree["freedom"]),
        )
        rows = {name: np.array(one, float) for name, one in tree["marginals"].items()}
        spreads = max(rows.values(), key=np.size, default=np.empty(0)).shape
        for name, row in rows.items():
            if row.shape != spreads:
                raise InvalidArgument(
                    f"marginals/{name} has shape {row.shape}, and another form {spreads}",
                    argument="watch",
                )
        return cls(best, tuple(rows), np.array(list(rows.values())))


def seen(forms: Iterable[Form], data: Data, kept: Kept, prior: float) -> Seen | None:
    """The data as they stand, for forms that look at them; None if they are not kept."""
    asked = tuple(forms)
    found = data.see(kept, np.array([form.effect for form in asked], np.int64))
    if found is None:
        return None
    best, reduced = found
    logs = _log_marginals(reduced, best.freedom, prior, kept.sight.knows_noise)
    return Seen(best, tuple(form.name for form in asked), logs)


def log_e_values(
    now: Seen, starts: tuple[Seen, ...], data: Data, *, known: bool
) -> dict[str, float]:
    """Log E of every form, the mean over starts and spreads; a start to come counts as 1."""
    if not starts:
        return dict.fromkeys(now.forms, 0.0)
    best = np.array([log_best(now.best, then.best, known=known) for then in starts])
    then = np.array([one.logs_of(now.forms) for one in starts])
    found = _log_means(now.logs, then, best, len(data.starts))
    return dict(zip(now.forms, found.tolist(), strict=True))


def log_bets(now: Seen, starts: tuple[Seen, ...], *, known: bool) -> dict[str, Array]:
    """(S, tau) the log of every bet that has begun, by form."""
    best = np.array([log_best(now.best, then.best, known=known) for then in starts])
    then = np.array([one.logs_of(now.forms) for one in starts])
    logs = now.logs - then - best[:, None, None]
    return {name: logs[:, f] for f, name in enumerate(now.forms)}


@compiled
def _log_means(now: Array, then: Array, best: Array, n_starts: int) -> Array:
    """(F,) log of the mean of exp(now - then - best) over starts and spreads.

    Of (F, T), (S, F, T) and (S,). Starts to come count as 1. A bet against a model that fits
    without error (best is infinite) is lost; what cannot be computed is NaN, never a bet lost.
    """
    S, F, T = then.shape
    found = np.zeros(F)
    for f in range(F):
        logs = np.full(S * T, -np.inf)
        for s in range(S):
            for k in range(T):
                log = now[f, k] - then[s, f, k] - best[s]
                logs[s * T + k] = -np.inf if best[s] == np.inf else log
        top = logs.max() if n_starts == S else max(logs.max(), 0.0)
        if np.isfinite(top):
            total = np.exp(logs - top).sum()
            if n_starts > S:  # then top >= 0; else exp(-top) may overflow, and 0 times it is NaN
                total += (n_starts - S) * T * np.exp(-top)
            found[f] = top + np.log(total / (n_starts * T))
        else:
            found[f] = top
    return found


def _log_marginals(reduced: Reduced, freedom: int, prior: float, known: bool) -> Array:
    """(F, tau) log p_1 of all rounds, parameters of variance ``prior`` integrated out."""
    quadratic, determinant = _integrated(*reduced, 1.0 / prior)
    logs = -0.5 * quadratic if known else log_without_noise(freedom, quadratic)
    return np.asarray(logs - 0.5 * determinant)


def log_without_noise(freedom: int, quadratic: Array) -> Array:
    r"""The log of :math:`\int \sigma^{-N} e^{-Q/2\sigma^2} d\sigma/\sigma`, but for a constant."""
    if freedom < 1:
        return np.zeros_like(quadratic)
    safe = np.maximum(quadratic, np.finfo(float).tiny)
    return np.asarray(gammaln(0.5 * freedom) - 0.5 * freedom * np.log(0.5 * safe))


def log_best(now: Best, then: Best, *, known: bool) -> float:
    """The largest log likelihood of what came between, over all parameters (and the noise).

    Infinite if the noise is not known and the model fits but for rounding.
    """
    explained = _explained_since(now.gram, now.moment, then.gram, then.moment)
    residual = now.squares - then.squares - explained
    if known:
        return -0.5 * max(residual, 0.0)
    freedom = now.freedom - then.freedom
    if freedom < 1:
        return 0.0
    if residual <= ROUNDING * now.squares:
        return math.inf
    return -0.5 * freedom * (math.log(residual / freedom) + 1.0)


@compiled
def explained_by(A: Array, b: Array) -> float:
    """b'A^-1 b on the observed directions."""
    L, _ = factor(A)
    x = forward(L, b)
    return float(np.sum(x * x))


@compiled
def _explained_since(A: Array, b: Array, then: Array, paid: Array) -> float:
    """The same of what has come since: of A - ``then`` and b - ``paid``."""
    return explained_by(A - then, b - paid)


@compiled
def _integrated(
    gram: Array, moment: Array, squares: Array, determinant: Array, precision: float
) -> tuple[Array, Array]:
    """Q - b'(A + I/kappa)^-1 b and log det V + log det(I + kappa A), for every form and tau."""
    quadratic, total, p = squares.copy(), determinant.copy(), gram.shape[2]
    for f, k in np.ndindex(squares.shape):
        A = gram[f, k].copy()
        for j in range(p):
            A[j, j] += precision
        L, _ = factor(A)
        x = forward(L, moment[f, k])
        quadratic[f, k] -= np.sum(x * x)
        for j in range(p):
            if L[j, j] > 0.0:
                total[f, k] += 2.0 * np.log(L[j, j]) - np.log(precision)
    return quadratic, total

"""The gate's formulas, slow and obvious: every reward on its own, every covariance in full."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln
from scipy.stats import multivariate_normal

from edgewise.base.arrays import Array, Indices
from edgewise.core.gate.forms import DATA
from edgewise.core.gate.rows import Rows, Sight
from edgewise.core.gate.sums import SPREADS, TIME

Columns = Callable[[list[Rows], Sight], Array]


def stacked(rounds: list[Rows]) -> tuple[Array, Array]:
    """(N, p) rows and (N,) numbers of all rounds."""
    return np.vstack([one.full for one in rounds]), np.concatenate([one.numbers for one in rounds])


def one_hot(codes: Indices, values: Array | None = None) -> Array:
    found = (codes[:, None] == np.unique(codes)).astype(float)
    return np.asarray(found if values is None else found * values[:, None])


def levels(rounds: list[Rows], sight: Sight) -> Array:
    return one_hot(np.concatenate([one.positions for one in rounds]))


def by_round(rounds: list[Rows], sight: Sight) -> Array:
    return one_hot(np.repeat(np.arange(len(rounds)), [len(one.numbers) for one in rounds]))


def cells(rounds: list[Rows], sight: Sight) -> Array:
    codes = np.concatenate([one.which for one in rounds])
    return one_hot(codes, np.concatenate([one.weights for one in rounds]))


def drift(rounds: list[Rows], sight: Sight) -> Array:
    times = np.repeat(np.arange(1, len(rounds) + 1), [len(one.numbers) for one in rounds])
    Z, _ = stacked(rounds)
    return np.column_stack([np.ones(len(Z)), Z]) * (times / TIME)[:, None]


def directions(rounds: list[Rows], sight: Sight) -> Array:
    Z, _ = stacked(rounds)
    return np.asarray(Z * np.concatenate([one.signs for one in rounds])[:, None])


def each(rounds: list[Rows], sight: Sight) -> Array:
    return np.eye(sum(len(one.numbers) for one in rounds))


COLUMNS: dict[str, Columns] = {
    "level": levels,
    "round": by_round,
    "cell": cells,
    "drift": drift,
    "direction": directions,
    "noise": each,
}


def log_predictive(rounds: list[Rows], D: Array, spread: float, prior: float) -> float:
    """The Gaussian marginal of the richer model, by its covariance."""
    Z, y = stacked(rounds)
    V = np.eye(len(y)) + prior * Z @ Z.T + spread**2 * D @ D.T
    return float(multivariate_normal.logpdf(y, cov=V))


def log_predictive_any_noise(rounds: list[Rows], D: Array, spread: float, prior: float) -> float:
    """The same with every deviation of the noise alike on a log scale: a multivariate t."""
    Z, y = stacked(rounds)
    V = np.eye(len(y)) + prior * Z @ Z.T + spread**2 * D @ D.T
    _, determinant = np.linalg.slogdet(V)
    half = 0.5 * len(y)
    Q = float(y @ np.linalg.solve(V, y))
    return float(gammaln(half) - half * np.log(0.5 * Q) - 0.5 * determinant) - half * float(
        np.log(2 * np.pi)
    )


def log_e_value(
    rounds: list[Rows],
    columns: Columns,
    sight: Sight,
    prior: float,
    *,
    data: str = "numbers",
    spreads: Array = SPREADS,
) -> float:
    """log E by its definition: predictive since each start, over the best of the model."""
    known, bets = sight.knows_noise, []
    predictive = log_predictive if known else log_predictive_any_noise
    for first in DATA[data].starts:
        if first >= len(rounds):
            bets += [0.0] * len(spreads)
            continue
        Z, y = stacked(rounds[first:])
        left = y - Z @ np.linalg.lstsq(Z, y, rcond=None)[0]
        variance = 1.0 if known else float(left @ left) / len(y)
        best = -0.5 * float(left @ left) / variance - 0.5 * len(y) * np.log(2 * np.pi * variance)
        for spread in spreads:
            now = predictive(rounds, columns(rounds, sight), spread, prior)
            then = predictive(rounds[:first], columns(rounds[:first], sight), spread, prior)
            bets.append(now - then - best)
    return float(np.logaddexp.reduce(bets)) - float(np.log(len(bets)))

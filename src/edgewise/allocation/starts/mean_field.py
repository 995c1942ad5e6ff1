"""Laws of arms that are good on average: what nodes should draw if they cannot see each other."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.starts.constant import mean_field
from edgewise.base.arrays import Array
from edgewise.base.compiled import compiled

_STEPS, _WORK = 100, 1e7
"""Replicator steps, more if they cost little; what is promised holds wherever they stop."""
_SAME = 0.1
"""Laws closer than this in every arm count as one."""
_PAIRS = 12
"""With more arms than this, laws start from the best pairs only."""


def best_law(objective: Objective) -> Array:
    r"""(K,) the law with the largest :math:`\mathbb E_p[F] = p^\top A p + b^\top p` tried.

    A and b are those of :func:`mean_field`. Tried: every arm alone, the best mixture of every
    two arms, the uniform law, and what replicator steps make of the best two of these.
    """
    return law_for(_quadratic(objective))


def law_for(A: Array) -> Array:
    """(K,) the same for a given A (K, K), symmetric."""
    K = len(A)
    tried = np.stack([np.full(K, 1.0 / K), best_mixture(A)])
    tried = np.concatenate([tried, _replicate(A, 0.5 * tried + 0.5 / K, _STEPS)])
    best: Array = tried[int(_worth(A, tried).argmax())]
    return best


def local_laws(objective: Objective, most: int) -> list[Array]:
    """Up to ``most`` laws that no small change improves, the best first.

    Each is a *phase*: a set of arms that go well together. Which phase is best on a given graph
    the average does not tell, and a search that starts in one hardly ever leaves it: try several.
    """
    A = _quadratic(objective)
    K = len(A)
    first, second = np.triu_indices(K)
    if K > _PAIRS:
        best = np.argsort(-A[first, second], kind="stable")[: _PAIRS * _PAIRS]
        first, second = first[best], second[best]
    starts = np.full((len(first), K), 0.1 / K)
    rows = np.arange(len(first))
    np.add.at(starts, (rows, first), 0.45)
    np.add.at(starts, (rows, second), 0.45)
    laws = _replicate(A, starts, max(_STEPS, int(_WORK / (len(starts) * K * K))))
    found: list[Array] = [best_law(objective)]
    for place in np.argsort(-_worth(A, laws), kind="stable"):
        if len(found) == most:
            break
        if all(np.abs(laws[place] - law).max() > _SAME for law in found):
            found.append(laws[place])
    return found


def best_mixture(A: Array) -> Array:
    """(K,) the law on at most two arms with the largest p'Ap, A symmetric.

    >>> best_mixture(np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([0.5, 0.5])
    """
    d = np.diagonal(A)
    curve = d[:, None] + d - 2.0 * A  # half the second derivative along the mixture
    inner = curve < 0.0
    share = np.where(inner, (d - A) / np.where(inner, curve, 1.0), d[:, None] > d)
    share = np.clip(share, 0.0, 1.0)  # of the first arm
    worth = share**2 * d[:, None] + 2.0 * share * (1.0 - share) * A + (1.0 - share) ** 2 * d
    k, l = np.unravel_index(int(worth.argmax()), worth.shape)
    law = np.zeros(len(A))
    law[l] += 1.0 - share[k, l]
    law[k] += share[k, l]
    return law


def _quadratic(objective: Objective) -> Array:
    """(K, K) symmetric A with E_p[F] = p'Ap; the node terms fit in, since p sums to 1."""
    pairs, own = mean_field(objective)
    return 0.5 * (pairs + pairs.T) + 0.5 * (own[:, None] + own)


def _worth(A: Array, laws: Array) -> Array:
    return np.asarray(np.einsum("lk,kj,lj->l", laws, A, laws))


@compiled
def _replicate(A: Array, laws: Array, steps: int) -> Array:
    """Replicator dynamics: p'Ap rises at every step, all entries of A shifted above 0."""
    low, high = A.min(), A.max()
    shifted = A - low + 1e-3 * (high - low) + 1e-300
    laws = laws.copy()
    n_arms = len(A)
    gains = np.empty(n_arms)
    for r in range(len(laws)):
        for _ in range(steps):
            total = 0.0
            for k in range(n_arms):
                gains[k] = 0.0
                for l in range(n_arms):
                    gains[k] += shifted[k, l] * laws[r, l]
                gains[k] *= laws[r, k]
                total += gains[k]
            for k in range(n_arms):
                laws[r, k] = gains[k] / total
    return laws

"""G-optimal designs: weights on the arms that make the worst variance as small as possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, frozen, stays_frozen
from edgewise.base.border import border
from edgewise.base.choice import pick
from edgewise.base.html import summary, table
from edgewise.base.threads import single_threaded
from edgewise.core.design.variance import variances
from edgewise.errors import InvalidProblem
from edgewise.network.arms import checked_arms, require_span, whiten

__all__ = ["Design", "g_optimal", "product_design", "variances"]

_METHODS = {"auto": "newton", "newton": "newton", "frank-wolfe": "frank-wolfe"}
_NEGLIGIBLE, _SHOWN = 1e-6, 20
"""Weights below the one, and arms beyond the other, are not shown in notebooks."""
_DEFAULT_ITERATIONS = {"newton": 1_000, "frank-wolfe": 100_000}


@stays_frozen
@dataclass(frozen=True, eq=False)
class Design:
    """How often to play each arm, and how far that is from optimal."""

    weights: Array
    """(K,) non-negative, sums to 1."""
    worst_variance: float
    r""":math:`g(w) = \max_k x_k^\top \Sigma(w)^{-1} x_k`, over all arms."""
    dimension: int
    """Of the span of the arms; by Kiefer and Wolfowitz ``worst_variance >= dimension``."""
    iterations: int
    method: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen(self.weights, float))

    @property
    def gap(self) -> float:
        """Relative distance to the G-optimum, at least zero: a proof, whatever the solver did."""
        return max(self.worst_variance / max(self.dimension, 1) - 1.0, 0.0)

    def _repr_html_(self) -> str:
        used = np.flatnonzero(self.weights > _NEGLIGIBLE)
        order = used[np.argsort(-self.weights[used], kind="stable")][:_SHOWN]
        headline = (
            f"Design on {len(used)} of {len(self.weights)} arms, worst variance "
            f"{self.worst_variance:.6g}, within {self.gap:.1g} of the optimum"
        )
        rows = [(str(k), f"{self.weights[k]:.4f}") for k in order.tolist()]
        return summary(headline, ()) + table(("arm", "weight"), rows)


@border
def g_optimal(
    arms: ArrayLike,
    *,
    tolerance: float = 1e-6,
    method: str = "auto",
    project: bool = False,
    max_iterations: int | None = None,
) -> Design:
    r"""The design that minimises the largest prediction variance.

    .. math:: \min_w \max_k x_k^\top \Sigma(w)^{-1} x_k, \qquad \Sigma(w) = \sum_k w_k x_k x_k^\top

    The optimal value is the dimension ``d``, and the same design maximises
    :math:`\log\det\Sigma(w)` [1]_. The weights need not be unique; the variances are.

    Parameters
    ----------
    arms
        (K, d) one arm per row. Zero arms, repeated arms and columns of any scale are fine.
    tolerance
        Gap to reach: the worst variance is at most ``d * (1 + tolerance)``.
    method
        ``"newton"`` (also ``"auto"``) reaches 1e-9 in milliseconds; ``"frank-wolfe"`` is the
        paper's, and slows down below 1e-3.
    project
        Work in the span of the arms when it is smaller than the space.
    max_iterations
        Steps of the method; by default 1000 for ``"newton"``, 100 000 for ``"frank-wolfe"``.

    Returns
    -------
    Design
        Its ``gap`` is computed from the weights returned, over all arms. It exceeds ``tolerance``
        when the iterations ran out: look at it rather than expect an exception.

    References
    ----------
    .. [1] Kiefer, J. and Wolfowitz, J. (1960). The equivalence of two extremum problems.
       *Canadian Journal of Mathematics* 12, 363-366.

    Examples
    --------
    A straight line is best measured at its two ends:

    >>> design = g_optimal([[1.0, -1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> design.weights.round(6).tolist()
    [0.5, 0.0, 0.5]
    >>> round(design.worst_variance, 6), design.dimension
    (2.0, 2)
    """
    method = pick("design method", method, _METHODS)
    limit = _DEFAULT_ITERATIONS[method] if max_iterations is None else max_iterations
    table = checked_arms(arms)
    with single_threaded():
        coordinates = _in_span(table, project)
        weights, iterations = _solve(coordinates, method, tolerance, limit)
        worst = float(variances(coordinates, weights).max())
    return Design(weights, worst, coordinates.shape[1], iterations, method)


def _in_span(arms: Array, project: bool) -> Array:
    # D-optimality is invariant under linear maps, so the design may be found in any coordinates.
    white = whiten(arms)
    if white.rank == 0:
        raise InvalidProblem(
            "every arm is zero; a design needs arms that span at least one dimension; "
            "add a non-zero arm"
        )
    if not project:
        require_span(white.rank, arms.shape[1])
    return white.coordinates


def _solve(
    coordinates: Array, method: str, tolerance: float, max_iterations: int
) -> tuple[Array, int]:
    if coordinates.shape[1] == 1:  # On a line the longest arm is optimal, by itself.
        weights = np.zeros(len(coordinates))
        weights[np.abs(coordinates[:, 0]).argmax()] = 1.0
        return weights, 0
    # Imported here: the first loads numba, which no other method needs.
    if method == "frank-wolfe":
        from edgewise.core.design.frank_wolfe import frank_wolfe as solver
    else:
        from edgewise.core.design.newton import newton as solver
    return solver(coordinates, tolerance=tolerance, max_iterations=max_iterations)


def product_design(weights: ArrayLike) -> Array:
    r"""Law of an edge whose two nodes draw their arms independently.

    .. math:: \lambda_{kl} = w_k w_l

    When ``w`` is G-optimal on the arms, :math:`\lambda` is G-optimal on the edge-arms
    :math:`\mathrm{vec}(x_k x_l^\top)`, with value :math:`d^2` (Theorem 4.1 of the paper):
    :math:`\Sigma(\lambda) = \Sigma(w) \otimes \Sigma(w)`, so variances multiply, and the largest
    is :math:`d^2`, the dimension of the edge-arms, which no design can beat. Nodes that draw on
    their own, without a word between them, lose nothing.

    >>> product_design([0.25, 0.75]).tolist()
    [[0.0625, 0.1875], [0.1875, 0.5625]]
    """
    law = np.asarray(weights, dtype=np.float64)
    return np.outer(law, law)

"""How many rounds the paper's method needs, and how many any method needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike
from scipy.special import lambertw

from edgewise.base.arrays import Array, frozen
from edgewise.base.border import border
from edgewise.base.choice import pick
from edgewise.errors import InvalidArgument
from edgewise.network.graph import Graph
from edgewise.theory.edge_arms import Model, edge_arm_model
from edgewise.theory.realisable import RealisableRho, rho_realisable
from edgewise.theory.rho import RhoStar, characteristic, rivals_of_best
from edgewise.theory.setting import (
    require_confidence,
    require_noise,
    require_paper_graph,
    spanning_arms,
    square_matrix,
)

Designs = Literal["unrestricted", "realisable"]
Nats = Literal["sharp", "printed"]


@border
def sample_complexity(
    graph: Graph,
    arms: ArrayLike,
    matrix: ArrayLike,
    *,
    noise: float = 1.0,
    delta: float = 0.05,
    alpha: float = 0.0,
) -> float:
    r"""Rounds after which the paper's rule has stopped (the corollary of Theorem 4.2).

    .. math:: t = \frac{128\,\sigma^2 d^2 (1 + \alpha)}{m\,\Delta_{\min}^2}
        \log\frac{6 m^2 t^2 K^4}{\delta\pi^2}

    Both sides hold t. With c the fraction and b the argument of the logarithm over :math:`t^2`,
    the larger solution is :math:`t = -2c\,W_{-1}(-1/(2c\sqrt b))`, W the Lambert function: beyond
    it the left side exceeds the right for good.

    :math:`\Delta_{\min}` is the lead of the best edge-arm over the second best. Pairs of arms are
    taken unordered, with :math:`S = (M + M^\top)/2`, and pairs with equal features count once. For
    ordered pairs, a symmetric M and a best pair of two different arms, (x, x') and (x', x) tie,
    and the corollary as printed would be void; the global reward depends on S only.

    Parameters
    ----------
    graph, arms, matrix
        The paper's setting: undirected, unweighted, one kind; (K, d) arms spanning the space; M.
    noise
        sigma of one observed reward.
    delta
        Probability of error.
    alpha
        Relative loss of the random design, see :func:`edgewise.theory.alpha`.

    Returns
    -------
    float
        At least 1; infinite when two different pairs tie exactly (up to rounding).
    """
    table, parameter = _checked(graph, arms, matrix, noise, delta)
    if not (alpha >= 0.0 and math.isfinite(alpha)):
        raise InvalidArgument(
            f"alpha is {alpha}; a loss relative to the optimum is finite and not negative; "
            "pass 0 for the optimal design, or the value of edgewise.theory.alpha"
        )
    features, theta = edge_arm_model(table, parameter, "symmetric")
    gaps = rivals_of_best(features, features @ theta)[2]
    smallest = float(gaps.min(initial=math.inf))
    if smallest == 0.0:
        return math.inf
    factor = 128.0 * noise**2 * table.shape[1] ** 2 * (1.0 + alpha) / (graph.n_arcs * smallest**2)
    log_b = math.log(6.0 * graph.n_arcs**2 * len(table) ** 4 / (delta * math.pi**2))
    return max(1.0, _larger_root(factor, log_b))


def _larger_root(factor: float, log_b: float) -> float:
    """The larger t with t = factor * (log_b + 2 log t); 0 if the left side is always larger."""
    if factor == 0.0:
        return 0.0
    argument = -math.exp(-0.5 * log_b) / (2.0 * factor)
    if argument < -1.0 / math.e:
        return 0.0
    return -2.0 * factor * float(lambertw(argument, k=-1).real)


@dataclass(frozen=True, eq=False)
class LowerBound:
    """What no method can beat: expected rounds, and the design that would come closest."""

    rounds: float
    """Certified: computed from ``rho_lower``. Infinite when the best edge-arm is tied."""
    rho: float
    """Characteristic time reached by ``design``; ``rho_lower <= rho* <= rho``."""
    rho_lower: float
    """Dual bound on the characteristic time."""
    design: Array
    """Proportion of every edge-arm: (P,) pairs k <= l row by row, or (K^2,) ordered pairs."""
    model: Model
    designs: Designs = "unrestricted"
    nats: Nats = "sharp"

    def __post_init__(self) -> None:
        object.__setattr__(self, "design", frozen(self.design, float))


@border
def lower_bound(
    graph: Graph,
    arms: ArrayLike,
    matrix: ArrayLike,
    *,
    noise: float = 1.0,
    delta: float = 0.05,
    model: Model = "symmetric",
    designs: Designs = "unrestricted",
    nats: Nats = "sharp",
) -> LowerBound:
    r"""Fewest expected rounds of any method that errs with probability at most ``delta``.

    .. math:: \mathbb{E}\,\tau \ge \frac{2\sigma^2\rho^\star}{m}\,\mathrm{kl}(\delta, 1-\delta),
        \quad \mathrm{kl}(\delta, 1-\delta) = (1 - 2\delta)\log\frac{1-\delta}{\delta},
        \quad \rho^\star = \min_\lambda \max_{z \ne z_\star}
        \frac{\|z_\star - z\|^2_{\Sigma(\lambda)^{-1}}}{((z_\star - z)^\top\theta)^2}

    With ``designs="unrestricted"`` the design ranges over all laws on edge-arms, whether or not
    the graph can carry them, so the bound holds for every graph of m edges. With ``"realisable"``
    it ranges over the mixtures of joint arms of this graph: expected proportions of edge-arms are
    always such a mixture, however rounds are chosen, so the bound holds and is larger where odd
    cycles get in the way.

    The paper prints the smaller :math:`\log(1/(2.4\,\delta))` for :math:`\mathrm{kl}(\delta,
    1 - \delta)`; ``nats="printed"`` gives that. The bound is zero from ``delta = 1/2`` on, the
    printed one from 1/2.4 on.

    Parameters
    ----------
    graph, arms, matrix
        The paper's setting: undirected, unweighted, one kind; (K, d) arms spanning the space; M.
    noise
        sigma of one observed reward, taken Gaussian.
    delta
        Probability of error.
    model
        ``"symmetric"``: unordered pairs, features :math:`\mathrm{svec}((x_kx_l^\top +
        x_lx_k^\top)/2)` in :math:`d(d+1)/2` dimensions, parameter :math:`S = (M + M^\top)/2`. An
        edge's two rewards are averaged: half as many observations of half the variance, so the
        formula is the same. What the global reward calls for.
        ``"ordered"``: the paper's own, :math:`z = x_k \otimes x_l` in :math:`d^2` dimensions;
        infinite when the best ordered pair is tied, as (x, x') and (x', x) are for symmetric M.
    designs
        ``"unrestricted"`` or ``"realisable"`` (:func:`edgewise.theory.rho_realisable`, slower).
    nats
        ``"sharp"``: :math:`\mathrm{kl}(\delta, 1-\delta)`, or ``"printed"``:
        :math:`\log(1/(2.4\,\delta))`, as in the paper.

    Returns
    -------
    LowerBound
    """
    table, parameter = _checked(graph, arms, matrix, noise, delta)
    result = pick("class of designs", designs, _RHO)(graph, table, parameter, model)
    per_rho = 2.0 * noise**2 * pick("form of the bound", nats, _NATS)(delta) / graph.n_arcs
    # Not 0 * infinity: with a tie no method is ever entitled to stop by this argument.
    rounds = math.inf if math.isinf(result.lower) else per_rho * result.lower
    return LowerBound(rounds, result.value, result.lower, result.design, model, designs, nats)


def _sharp(delta: float) -> float:
    """kl(delta, 1 - delta): what the data must tell a right answer from a wrong one by."""
    return max(1.0 - 2.0 * delta, 0.0) * math.log((1.0 - delta) / delta)


def _printed(delta: float) -> float:
    return max(-math.log(2.4 * delta), 0.0)


_NATS: dict[str, Callable[[float], float]] = {"sharp": _sharp, "printed": _printed}


def _unrestricted(_: Graph, arms: Array, matrix: Array, model: Model) -> RhoStar:
    return characteristic(*edge_arm_model(arms, matrix, model))


def _realisable(graph: Graph, arms: Array, matrix: Array, model: Model) -> RealisableRho:
    return rho_realisable(graph, arms, matrix, model=model)


_RHO: dict[str, Callable[[Graph, Array, Array, Model], RhoStar | RealisableRho]] = {
    "unrestricted": _unrestricted,
    "realisable": _realisable,
}


def _checked(
    graph: Graph, arms: ArrayLike, matrix: ArrayLike, noise: float, delta: float
) -> tuple[Array, Array]:
    require_paper_graph(graph)
    require_noise(noise)
    require_confidence(delta)
    table = spanning_arms(arms)
    return table, square_matrix(matrix, table.shape[1])

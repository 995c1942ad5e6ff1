"""How close independent draws come to the optimal design (Theorem 4.2 and Appendix C.2)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edgewise.base.arrays import Array
from edgewise.base.border import border
from edgewise.base.choice import pick
from edgewise.core.design.g_optimal import g_optimal
from edgewise.errors import InvalidArgument
from edgewise.network.arms import whiten
from edgewise.network.graph import Graph
from edgewise.theory.setting import (
    node_law,
    require_confidence,
    require_paper_graph,
    spanning_arms,
)
from edgewise.theory.variance import variance

Form = Literal["leading", "non-asymptotic", "whitened"]


@dataclass(frozen=True, slots=True)
class Constants:
    """What the convergence bounds need to know about a set of arms."""

    dimension: int
    """d; edge-arms live in d^2 dimensions."""
    edge_arm_norm: float
    r""":math:`L = \max_z \|z\|^2 = \max_x \|x\|^4`."""
    nu_min: float
    r"""Smallest eigenvalue of :math:`K^{-2} \sum_z zz^\top`, the uniform design's."""

    def log_term(self, delta: float) -> float:
        r""":math:`\log(2 d^2/\delta)`."""
        return math.log(2.0 * self.dimension**2 / delta)


@border
def constants(arms: ArrayLike) -> Constants:
    r"""Constants of the edge-arms :math:`z = x \otimes x'`, computed from the node arms.

    The uniform edge-arm covariance is a Kronecker square, so its smallest eigenvalue is the
    square of that of :math:`K^{-1} \sum_x xx^\top`: no (d^2, d^2) matrix is formed.

    >>> constants([[2.0, 0.0], [0.0, 1.0]])
    Constants(dimension=2, edge_arm_norm=16.0, nu_min=0.25)
    """
    table = spanning_arms(arms)
    smallest = float(np.linalg.norm(table, -2)) ** 2 / len(table)
    largest = float((table**2).sum(axis=1).max())
    return Constants(table.shape[1], largest**2, smallest**2)


@border
def burn_in(arms: ArrayLike, *, delta: float = 0.05) -> float:
    r"""Rounds :math:`t_0` from which Theorem 4.2 speaks.

    .. math:: t_0 = 2 L d^2 \log(2 d^2/\delta) / \nu_{\min}
    """
    require_confidence(delta)
    c = constants(arms)
    return 2.0 * c.edge_arm_norm * c.dimension**2 * c.log_term(delta) / c.nu_min


@border
def alpha(
    graph: Graph,
    arms: ArrayLike,
    rounds: float,
    *,
    delta: float = 0.05,
    weights: ArrayLike | None = None,
    form: Form = "leading",
) -> float:
    r"""Relative loss of independent draws against the optimal design after ``rounds`` rounds.

    With probability at least :math:`1 - \delta`,
    :math:`\max_z z^\top A_t^{-1} z \le (1 + \alpha)\, d^2/(mt)`.

    Parameters
    ----------
    graph, arms
        The paper's setting: undirected, unweighted, one kind; (K, d) arms spanning the space.
    rounds
        t, at least 1.
    delta
        Probability that the bound fails.
    weights
        (K,) law of a node's arm, G-optimal for the statement above; computed when left out.
        For any other law the loss is relative to :math:`\max_z z^\top (\mathbb{E}A_t)^{-1} z`.
    form
        ``"leading"``: the paper's main term, not a bound by itself (what it drops vanishes faster),

        .. math:: \frac{L d^2}{m \nu_{\min}^2} \sqrt{\frac{2 v}{t} \log\frac{2 d^2}{\delta}};

        ``"non-asymptotic"``: the bound its proof gives at every t, with
        :math:`\kappa = \|\Sigma(\lambda^\star)^{-1}\|` itself and :math:`\ell = \log(2d^2/\delta)`,

        .. math:: \frac{L \kappa^2}{m d^2 t}\,
            \frac{\sqrt{2 t v \ell} + m L \ell / 3}{1 - \sqrt{2 L \kappa \ell / t}}

        (the paper prints :math:`v^2` under the root in one place), infinite while the denominator
        is not positive;

        ``"whitened"``: our own, far smaller; see Notes. Infinite while :math:`\varepsilon \ge 1`.

    Notes
    -----
    The proof in the paper needs :math:`\|A_t - \mathbb{E}A_t\|`, which costs a factor 2 in
    front of the probability that the text omits. One side is enough: with
    :math:`\eta = \lambda_{\max}(\mathbb{E}A - A)_+` we have
    :math:`A^{-1} - (\mathbb{E}A)^{-1} \preceq A^{-1} - (A + \eta I)^{-1}`, whose eigenvalues
    :math:`\eta / (a (a + \eta))` are at most :math:`\eta \|A^{-1}\| \|(\mathbb{E}A)^{-1}\|`.
    So the constants above are right.

    The whitened form applies the one-sided matrix Bernstein inequality where
    :math:`\Sigma = I`. There :math:`\mathbb{E}A_1 - A_1 \preceq m I`, so with
    :math:`u = \log(d^2/\delta)` and v of the whitened arms,
    :math:`A_t \succeq (1 - \varepsilon) m t I` with
    :math:`\varepsilon = \sqrt{2 v u/t}/m + u/(3t)`,
    and :math:`\alpha = \varepsilon/(1 - \varepsilon)`.
    """
    require_paper_graph(graph)
    require_confidence(delta)
    loss = pick("form of alpha", form, _FORMS)
    if not rounds >= 1.0:
        raise InvalidArgument(
            f"rounds is {rounds}; the bound speaks of data, at least one round; pass rounds >= 1"
        )
    table = spanning_arms(arms)
    law = g_optimal(table).weights if weights is None else node_law(weights, len(table))
    return loss(graph, table, law, rounds, delta)


def inverse_norm(arms: ArrayLike, weights: ArrayLike) -> float:
    r""":math:`\kappa = \|\Sigma(\lambda)^{-1}\|` of the product law on the edge-arms.

    :math:`\Sigma(\lambda) = S \otimes S` with :math:`S = \sum_k w_k x_k x_k^\top`, hence
    :math:`\kappa = \|S^{-1}\|^2`; at a G-optimal law it is at most :math:`d^2/\nu_{\min}`.
    """
    table = spanning_arms(arms)
    law = node_law(weights, len(table))
    values = np.linalg.eigvalsh((table.T * law) @ table)
    return math.inf if _is_singular(values) else float(values[0]) ** -2.0


def _is_singular(values: NDArray[np.floating[Any]]) -> bool:
    """Whether ascending eigenvalues reach zero, up to rounding: the law shows too few arms."""
    return bool(values[0] <= len(values) * np.finfo(float).eps * values[-1])


def _leading(graph: Graph, arms: Array, law: Array, rounds: float, delta: float) -> float:
    c, v = constants(arms), variance(graph, arms, law).norm
    scale = c.edge_arm_norm * c.dimension**2 / (graph.n_arcs * c.nu_min**2)
    return scale * math.sqrt(2.0 * v * c.log_term(delta) / rounds)


def _non_asymptotic(graph: Graph, arms: Array, law: Array, rounds: float, delta: float) -> float:
    c, v, kappa = constants(arms), variance(graph, arms, law).norm, inverse_norm(arms, law)
    log, L, n_arcs = c.log_term(delta), c.edge_arm_norm, graph.n_arcs
    shrinkage = 1.0 - math.sqrt(2.0 * L * kappa * log / rounds)
    if shrinkage <= 0.0:
        return math.inf
    deviation = math.sqrt(2.0 * rounds * v * log) + n_arcs * L * log / 3.0
    return L * kappa**2 * deviation / (n_arcs * c.dimension**2 * rounds * shrinkage)


def _whitened(graph: Graph, arms: Array, law: Array, rounds: float, delta: float) -> float:
    # Twice: the first, by singular vectors, keeps the digits that the Gram matrix would lose.
    white = whiten(arms).coordinates
    values, vectors = np.linalg.eigh((white.T * law) @ white)
    if _is_singular(values):
        return math.inf
    v = variance(graph, (white @ vectors) / np.sqrt(values), law).norm
    u = math.log(arms.shape[1] ** 2 / delta)
    loss = math.sqrt(2.0 * v * u / rounds) / graph.n_arcs + u / (3.0 * rounds)
    return loss / (1.0 - loss) if loss < 1.0 else math.inf


_FORMS: dict[str, Callable[[Graph, Array, Array, float, float], float]] = {
    "leading": _leading,
    "non-asymptotic": _non_asymptotic,
    "whitened": _whitened,
}

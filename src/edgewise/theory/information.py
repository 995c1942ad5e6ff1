r"""Information on contrasts as a function of a design, with first and second derivatives.

Every model has functions :math:`h_y(u)`, one per contrast, concave and homogeneous of degree 1 on
:math:`u \ge 0`: what the interior point of :mod:`edgewise.theory.least_information` asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import solve_triangular

from edgewise.base.arrays import Array, Indices


class Local(Protocol):
    """What the functions look like at one design."""

    @property
    def values(self) -> Array:
        """(Y,) h_y."""

    @property
    def slopes(self) -> Array:
        """(C, Y) dh_y/du_c."""

    def curvature(self, multipliers: Array) -> Array:
        """(C, C) of -sum_y q_y h_y'', positive semi-definite as every h_y is concave."""


class Information(Protocol):
    """Concave functions of degree 1."""

    @property
    def n_variables(self) -> int:
        """C."""

    def at(self, design: Array) -> Local:
        """At u > 0; raises LinAlgError when the design is singular to working precision."""


# -- unrestricted designs --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CellInformation:
    r"""Cells observed in any proportions.

    .. math:: h_y(u) = 1/(y^\top\Sigma(u)^{-1}y), \qquad \Sigma(u) = \sum_c u_c\phi_c\phi_c^\top
    """

    features: Array
    """(C, p)"""
    contrasts: Array
    """(Y, p)"""

    @property
    def n_variables(self) -> int:
        """One weight per cell."""
        return len(self.features)

    def at(self, design: Array) -> _CellLocal:
        """Factor Sigma(u)."""
        cells, rivals = _factored(self.features, self.contrasts, design)
        values = 1.0 / (rivals**2).sum(axis=0)
        reach = cells.T @ rivals
        return _CellLocal(cells, reach, values, (reach * values) ** 2)


@dataclass(frozen=True, eq=False)
class _CellLocal:
    cells: Array
    """(p, C) features times the inverse root of Sigma(u)."""
    reach: Array
    """(C, Y) phi_c' Sigma^-1 y."""
    values: Array
    slopes: Array
    """(C, Y) (phi_c' Sigma^-1 y)^2 h_y^2."""

    def curvature(self, multipliers: Array) -> Array:
        """-h'' = 2 h^2 (a a') o G - 2 h^3 (a^2)(a^2)' with a = reach, G = phi' Sigma^-1 phi."""
        h, a = self.values, self.reach
        curvature: Array = 2.0 * (self.cells.T @ self.cells) * ((a * (multipliers * h**2)) @ a.T)
        curvature -= (self.slopes * (2.0 * multipliers / h)) @ self.slopes.T
        return curvature


# -- mixtures of given designs -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MixedInformation:
    """Designs that mix given ones: the cell information along a linear map."""

    cells: CellInformation
    columns: Array
    """(J, C) the designs that are mixed."""

    @property
    def n_variables(self) -> int:
        """One weight per design."""
        return len(self.columns)

    def at(self, design: Array) -> _MixedLocal:
        """At the mixture."""
        local = self.cells.at(design @ self.columns)
        return _MixedLocal(local, self.columns, local.values, self.columns @ local.slopes)


@dataclass(frozen=True, eq=False)
class _MixedLocal:
    local: _CellLocal
    columns: Array
    values: Array
    slopes: Array

    def curvature(self, multipliers: Array) -> Array:
        """By the chain rule, the map being linear."""
        curvature: Array = self.columns @ self.local.curvature(multipliers) @ self.columns.T
        return curvature


# -- independent nodes -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LawInformation:
    r"""The two nodes of every edge draw from one law u, independently.

    .. math:: h_y(u) = (y^\top A(u)^{-1}y)^{-1/2}, \qquad
        A(u) = \sum_{kl} u_ku_l\phi_{kl}\phi_{kl}^\top

    Concave by Ando's theorem (docs/theory.md).
    """

    features: Array
    """(C, p) of the cells."""
    contrasts: Array
    """(Y, p)"""
    pair_index: Indices
    """(K, K) the cell that arms k and l show."""

    @property
    def n_variables(self) -> int:
        """One weight per arm."""
        return len(self.pair_index)

    def at(self, design: Array) -> _LawLocal:
        """Factor A(u)."""
        pairs = self.pair_index.ravel()
        both = np.outer(design, design).ravel()
        weights = np.bincount(pairs, both, len(self.features)).astype(float)
        cells, rivals = _factored(self.features, self.contrasts, weights)
        values = (rivals**2).sum(axis=0) ** -0.5
        reach = (cells.T @ rivals)[self.pair_index]
        squared = 0.5 * (reach**2 + reach.transpose(1, 0, 2) ** 2)
        slopes = np.einsum("l,kly->ky", design, squared) * values**3
        return _LawLocal(design, cells.T[self.pair_index], reach, squared, values, slopes)


@dataclass(frozen=True, eq=False)
class _LawLocal:
    law: Array
    cells: Array
    """(K, K, p) features times the inverse root of A(u)."""
    reach: Array
    """(K, K, Y) a = phi_kl' A^-1 y."""
    squared: Array
    """(K, K, Y) b = (a_kl^2 + a_lk^2)/2."""
    values: Array
    slopes: Array
    """(K, Y) h^3 sum_l u_l b_kl."""

    def curvature(self, multipliers: Array) -> Array:
        """-h'' = h^3 (G_k' A^-1 G_l - b_kl) - 3 h'_k h'_l/h.

        G_k = sum_l u_l (a_kl phi_kl + a_lk phi_lk) is what more of arm k adds to A, times A^-1 y.
        """
        h, q = self.values, multipliers
        pull = np.einsum("l,kli,kly->kyi", self.law, self.cells, self.reach, optimize=True)
        pull += np.einsum("l,lki,lky->kyi", self.law, self.cells, self.reach, optimize=True)
        pull *= np.sqrt(q * h**3)[:, None]
        flat = pull.reshape(len(self.law), -1)
        curvature: Array = flat @ flat.T - self.squared @ (q * h**3)
        curvature -= (self.slopes * (3.0 * q / h)) @ self.slopes.T
        return curvature


def _factored(features: Array, contrasts: Array, weights: Array) -> tuple[Array, Array]:
    """Features (p, C) and contrasts (p, Y) in coordinates where their Sigma is the identity."""
    factor = np.linalg.cholesky((features.T * weights) @ features)
    cells: Array = solve_triangular(factor, features.T, lower=True, check_finite=False)
    rivals: Array = solve_triangular(factor, contrasts.T, lower=True, check_finite=False)
    return cells, rivals

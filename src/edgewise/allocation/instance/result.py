"""The answer of an allocation method: an arm for every node, and how good it provably is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from edgewise.base.arrays import Indices, frozen, stays_frozen
from edgewise.base.html import summary

ROUNDING = 1e-12
"""Margin of ``proved_optimal``, relative to the upper bound.

A value that meets the bound in exact arithmetic is computed with an error of a few units in the
last place, the bound with up to about ``sqrt(n_edges)`` of them (2e-16 each).
"""


_SHOWN = 30
"""Arms that a notebook shows."""


def meets(value: float, upper_bound: float) -> bool:
    """Whether an allocation of this value is optimal, given that none is worth more."""
    return value >= upper_bound - ROUNDING * abs(upper_bound)


@stays_frozen
@dataclass(frozen=True, eq=False, repr=False)
class Allocation:
    r"""An arm for every node, its global reward, and what is known about the best one.

    With :math:`L \le F_{\min}` and :math:`F_{\max} \le U` the *differential gap* is

    .. math:: \mathrm{gap} = \frac{U - F(a)}{U - L}.

    It is 0 at a proved optimum and does not change when rewards are shifted or rescaled. With
    :math:`L = F_{\min}` it bounds the differential regret
    :math:`(F_{\max} - F(a)) / (F_{\max} - F_{\min})` from above.

    >>> Allocation(np.array([0, 1]), value=3.0, upper_bound=4.0, lower_bound=0.0, method="mine")
    Allocation(n_nodes=2, value=3, upper_bound=4, gap=25%, method='mine')
    """

    arms: Indices
    """(n,) arm of every node."""
    value: float
    """F(a): the sum of the rewards of all arcs, and of the nodes' own."""
    upper_bound: float
    """No allocation is worth more."""
    lower_bound: float
    """No allocation is worth less."""
    method: str
    """What found ``arms``."""
    proved_optimal: bool = False
    """The value meets ``upper_bound`` within ``ROUNDING``, or an exact method says so."""
    bound: str = "edge-by-edge"
    """Which bound ``upper_bound`` is; ``"exact"`` when it is the optimum itself."""
    failure_probability: float = 0.0
    """0 when ``upper_bound`` is a theorem; else the most that a random check of it can err by."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "arms", frozen(self.arms, np.int64))

    @property
    def gap(self) -> float:
        """Differential distance to the bound, in [0, 1]; 0 when optimal or when nothing varies."""
        width = self.upper_bound - self.lower_bound
        if self.proved_optimal or width <= 0.0:
            return 0.0
        return min(1.0, max(0.0, (self.upper_bound - self.value) / width))

    def with_bound(self, upper: float, bound: str, failure_probability: float = 0.0) -> Allocation:
        """With another upper bound, and who proved it, where that is lower than the one known."""
        if upper >= self.upper_bound:
            return self
        return replace(
            self,
            upper_bound=max(upper, self.value),  # by rounding alone
            proved_optimal=meets(self.value, upper),
            bound=bound,
            failure_probability=failure_probability,
        )

    def _repr_html_(self) -> str:
        quality = "proved optimal" if self.proved_optimal else f"within {self.gap:.2%} of the bound"
        rows = [
            ("global reward", f"{self.value:.6g}"),
            ("nobody can exceed", f"{self.upper_bound:.6g} (bound {self.bound})"),
            ("found by", self.method),
            ("arms", _shown(self.arms)),
        ]
        return summary(f"Allocation of {len(self.arms)} nodes, {quality}", rows)

    def __repr__(self) -> str:
        verdict = "proved optimal" if self.proved_optimal else f"gap={100 * self.gap:.3g}%"
        return (
            f"Allocation(n_nodes={len(self.arms)}, value={self.value:.6g}, "
            f"upper_bound={self.upper_bound:.6g}, {verdict}, method={self.method!r})"
        )


def _shown(arms: Indices) -> str:
    """The first arms, for people."""
    some = ", ".join(map(str, arms[:_SHOWN].tolist()))
    return some if len(arms) <= _SHOWN else f"{some}, ... ({len(arms) - _SHOWN} more)"

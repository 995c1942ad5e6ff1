"""Plot data: means with confidence intervals against a size, such as rounds against m."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from edgewise.base.arrays import Array, as_floats, frozen
from edgewise.base.border import border
from edgewise.errors import InvalidArgument


@dataclass(frozen=True, eq=False)
class Curve:
    """A mean and its confidence interval at every x; curves of one group share a line style."""

    label: str
    x: Array
    mean: Array
    low: Array
    """Lower end of the interval; equal to ``mean`` where there is no uncertainty."""
    high: Array
    group: str = ""

    def __post_init__(self) -> None:
        for name in ("x", "mean", "low", "high"):
            object.__setattr__(self, name, frozen(getattr(self, name), float))
        if not self.x.shape == self.mean.shape == self.low.shape == self.high.shape:
            raise InvalidArgument(
                f"curve {self.label!r} has {self.x.shape} x, {self.mean.shape} means and "
                f"intervals {self.low.shape}, {self.high.shape}; every x needs one of each: pass "
                "arrays of one length"
            )

    @classmethod
    def exact(cls, label: str, x: ArrayLike, y: ArrayLike, group: str = "") -> Curve:
        """A curve without uncertainty."""
        values = np.asarray(y, dtype=float)
        return cls(label, np.asarray(x, dtype=float), values, values, values, group)


@dataclass(frozen=True, eq=False)
class CurvesData:
    """Curves on common axes."""

    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    references: tuple[Curve, ...] = ()
    """What the curves are measured against, such as a lower bound: grey, no error bars."""
    title: str = ""
    log_x: bool = True
    log_y: bool = True
    band: tuple[float, float] | None = None
    """A horizontal band to shade, such as an equivalence margin."""


@border
def mean_interval(samples: ArrayLike, level: float = 0.95) -> tuple[float, float, float]:
    """Mean of the samples and Student's confidence interval for it.

    A single sample has no interval: both ends are the sample itself.

    >>> [round(value, 3) for value in mean_interval([1.0, 2.0, 3.0])]
    [2.0, -0.484, 4.484]
    """
    values = as_floats("samples", samples, InvalidArgument, "pass a list of numbers")
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise InvalidArgument(
            f"samples have shape {values.shape} or are not finite; a mean needs at least one "
            "finite number: drop missing runs first"
        )
    mean = float(values.mean())
    if len(values) == 1:
        return mean, mean, mean
    deviation = float(values.std(ddof=1)) / math.sqrt(len(values))
    half = float(stdtrit(len(values) - 1, 0.5 + level / 2)) * deviation
    return mean, mean - half, mean + half


@border
def curve_of(
    label: str, samples: Mapping[float, ArrayLike], *, group: str = "", level: float = 0.95
) -> Curve:
    """The curve of the means of repeated runs, one array of runs per x."""
    order = sorted(samples)
    table = np.array([mean_interval(samples[x], level) for x in order]).reshape(-1, 3)
    return Curve(label, np.array(order, float), table[:, 0], table[:, 1], table[:, 2], group)


def rounds_against_edges(
    curves: Iterable[Curve], *, references: Iterable[Curve] = (), title: str = ""
) -> CurvesData:
    """Rounds against m on logarithmic axes, where 1/m is a straight line."""
    return CurvesData(
        "edges per round, $m$", "rounds", tuple(curves), tuple(references), title=title
    )


def rounds_against_dimension(
    curves: Iterable[Curve], *, references: Iterable[Curve] = (), title: str = ""
) -> CurvesData:
    """Rounds against the dimension of the edge-arms, d^2."""
    return CurvesData(
        "dimension of the edge-arms, $d^2$", "rounds", tuple(curves), tuple(references), title=title
    )

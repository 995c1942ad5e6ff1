"""How far each edge's estimate is drawn towards its kind's: partial pooling in a picture."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask, frozen
from edgewise.core.learner import Learner
from edgewise.core.local.estimate import LocalEstimate
from edgewise.core.local.reml import Fit, fit
from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidArgument
from edgewise.plots.figures import new_figure
from edgewise.plots.local import local_fit
from edgewise.plots.rows import NAMED_ROWS, edge_name, legend_below, name_rows, row_height
from edgewise.plots.style import COLOURS, REFERENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class ShrinkageData:
    """The same effect on every edge of a kind, estimated in two ways; ascending by the first."""

    edges: tuple[str, ...]
    """(E,)"""
    own: Array
    """(E,) from the edge's own data alone."""
    shrunk: Array
    """(E,) partially pooled."""
    centre: Array
    """(E,) what the kind (and covariates, if there are any) would say without the edge's data."""
    effect: str
    """What is estimated, in words."""

    def __post_init__(self) -> None:
        for name in ("own", "shrunk", "centre"):
            object.__setattr__(self, name, frozen(getattr(self, name), float))

    @property
    def slope(self) -> float:
        """Share of an edge's own deviation that is kept: 1 no shrinkage, 0 all alike."""
        apart = self.own - self.centre
        squares = float(apart @ apart)
        return float((self.shrunk - self.centre) @ apart / squares) if squares > 0 else 0.0


def shrinkage_data(
    source: Learner | LocalEstimate,
    *,
    pair: tuple[int, int] | None = None,
    against: tuple[int, int] | None = None,
    kind: int = 0,
) -> ShrinkageData:
    """What changes on an edge when it shows ``pair`` of arms instead of ``against``.

    By default the best pair of the kind's mean against its worst. Both directions of an edge are
    counted, per unit of weight; the first arm is that of the edge's first node.
    """
    found = source if isinstance(source, LocalEstimate) else local_fit(source)
    problem, network = found.network.measurement.problem, found.network
    members = _members(problem, kind)
    alone = fit(found.fit.equations, "none", noise=found.fit.sigma)
    each = (alone.theta, found.theta, _centre(found.fit))
    own, shrunk, centre = (network.edge_tables(theta)[members] for theta in each)
    best, worst = _extremes(centre.mean(axis=0), _showable(problem, members))
    better, other = (_checked(given, problem) or usual for given, usual in
                     ((pair, best), (against, worst)))  # fmt: skip
    own, shrunk, centre = (t[:, *better] - t[:, *other] for t in (own, shrunk, centre))
    order = np.argsort(own, kind="stable")
    ends = problem.graph.edges[members[order]].tolist()
    labels = problem.graph.labels
    return ShrinkageData(
        tuple(edge_name(problem.graph, labels[i], labels[j]) for i, j in ends),
        own[order],
        shrunk[order],
        centre[order],
        f"{_pair_text(problem, better)} over {_pair_text(problem, other)}",
    )


def _members(problem: Problem, kind: int) -> Indices:
    graph = problem.graph
    if not 0 <= kind < graph.n_kinds:
        raise InvalidArgument(
            f"kind is {kind}; this problem has {graph.n_kinds} edge kind(s), numbered from 0"
        )
    return np.flatnonzero(graph.kind_of_edge == kind)


def _centre(fitted: Fit) -> Array:
    """(P,) every block's parameters as its kind and covariates say."""
    channels = fitted.channels
    rows = [
        channels.numbers[block] @ fitted.means(int(kind))
        for block, kind in enumerate(channels.kinds)
    ]
    return np.concatenate(rows)


def _showable(problem: Problem, members: Indices) -> Mask:
    """(K, K) the pairs that some of these edges can show."""
    if problem.candidates is None:
        return np.ones((problem.n_arms, problem.n_arms), np.bool_)
    first, second = problem.candidates[problem.graph.edges[members].T]
    shown: Mask = (first[:, :, None] & second[:, None, :]).any(axis=0)
    return shown


def _extremes(table: Array, showable: Mask) -> tuple[tuple[int, int], tuple[int, int]]:
    """The best and the worst pair of a table (K, K)."""
    best = np.unravel_index(int(np.where(showable, table, -np.inf).argmax()), table.shape)
    worst = np.unravel_index(int(np.where(showable, table, np.inf).argmin()), table.shape)
    return (int(best[0]), int(best[1])), (int(worst[0]), int(worst[1]))


def _checked(pair: Sequence[int] | None, problem: Problem) -> tuple[int, int] | None:
    if pair is None:
        return None
    if len(pair) != 2 or not all(0 <= arm < problem.n_arms for arm in pair):
        raise InvalidArgument(
            f"{pair!r} is no pair of arms; pass two indices from 0 to {problem.n_arms - 1}"
        )
    return int(pair[0]), int(pair[1])


def _pair_text(problem: Problem, pair: tuple[int, int]) -> str:
    names: Sequence[Hashable] = problem.arm_labels or range(problem.n_arms)
    return f"({names[pair[0]]}, {names[pair[1]]})"


def draw_shrinkage(data: ShrinkageData, ax: Axes) -> None:
    """A row per edge: from its own estimate (hollow) to the pooled one (full), and the centre."""
    rows = np.arange(len(data.own))
    small = len(rows) > NAMED_ROWS
    ax.hlines(rows, data.own, data.shrunk, color="#bbbbbb", linewidth=0.7 if small else 1.2)
    ends = np.concatenate([[-0.5], rows[:-1] + 0.5, rows[-1:] + 0.5])
    ax.stairs(
        data.centre, ends, orientation="horizontal", baseline=None, color=REFERENCE,
        linestyle="--", linewidth=1.0, label="the kind's mean",
    )  # fmt: skip
    size = 3.0 if small else 5.0
    ax.plot(
        data.own, rows, "o", markersize=size, markerfacecolor="white", markeredgecolor=COLOURS[1],
        label="own data alone",
    )  # fmt: skip
    ax.plot(data.shrunk, rows, "o", markersize=size, color=COLOURS[0], label="partially pooled")
    name_rows(ax, data.edges, "edge")
    ax.set_xlabel(f"reward of an edge: {data.effect}")
    ax.set_title(f"edges keep {data.slope:.0%} of their own deviation", fontsize=10)
    legend_below(ax)


def figure_shrinkage(
    source: Learner | LocalEstimate,
    *,
    pair: tuple[int, int] | None = None,
    against: tuple[int, int] | None = None,
    kind: int = 0,
) -> Figure:
    """Every edge's own estimate of an effect, and what partial pooling makes of it."""
    data = shrinkage_data(source, pair=pair, against=against, kind=kind)
    figure = new_figure(6.4, row_height(len(data.own)))
    draw_shrinkage(data, figure.subplots())
    return figure

"""What the model leaves unexplained, channel by channel: a picture to find the odd one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask, frozen
from edgewise.core.evidence.by_edge import local_network
from edgewise.core.learner import Learner
from edgewise.core.local.normal_equations import Phase
from edgewise.core.model.channels import Measurement
from edgewise.plots.figures import new_figure
from edgewise.plots.local import local_fit, seen_by_edge
from edgewise.plots.rows import NAMED_ROWS, edge_name, legend_below, name_rows, row_height
from edgewise.plots.style import COLOURS, REFERENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEW = 5
"""With fewer measurements, a channel's spread tells next to nothing."""


@dataclass(frozen=True, eq=False)
class ResidualData:
    """Measured minus fitted, by channel; ascending by mean, channels without data last."""

    channels: tuple[str, ...]
    """(C,)"""
    means: Array
    """(C,) NaN where nothing was measured; with levels per channel, the level."""
    spreads: Array
    """(C,) standard deviation about the mean; NaN with fewer than two measurements."""
    counts: Indices
    """(C,) measurements."""
    noise: Array
    """(C,) standard deviation that noise alone would give."""
    has_levels: bool
    """Whether the means are levels, which the model does not explain."""

    def __post_init__(self) -> None:
        for name in ("means", "spreads", "noise"):
            object.__setattr__(self, name, frozen(getattr(self, name), float))
        object.__setattr__(self, "counts", frozen(self.counts, np.int64))

    @property
    def too_few(self) -> Mask:
        """(C,) channels with too few measurements to be judged."""
        few: Mask = self.counts < _FEW
        return few


def residual_data(learner: Learner) -> ResidualData:
    """Residuals of the model that the learner answers with: one matrix per kind, or per edge."""
    problem = learner.problem
    pooling = learner.save()["state"]["pooling"] or problem.pooling
    found = local_fit(learner, "partial" if pooling == "auto" else pooling)
    seen, measurement = seen_by_edge(learner), local_network(problem).measurement
    means, spreads = mean_and_spread(seen, found.theta)
    order = np.argsort(means, kind="stable")  # NaN last
    return ResidualData(
        tuple(channel_name(measurement, c) for c in order.tolist()),
        means[order],
        spreads[order],
        seen.counts[order].astype(np.int64),
        (found.fit.sigma * measurement.noise)[order],
        problem.level_names in ("channel", "both"),
    )


def mean_and_spread(seen: Phase, theta: Array) -> tuple[Array, Array]:
    """(C,) each, of measured minus fitted; where rounds have levels, those are taken out."""
    if seen.rounds is not None:
        return _without_round_levels(seen, theta)
    channels = seen.channels
    means, spreads = np.full((2, channels.n_channels), np.nan)
    for c, count in enumerate(seen.counts):
        own = slice(*channels.starts[c : c + 2])
        part, moment = theta[own], seen.moment[own]
        gram = seen.gram[slice(*channels.gram_starts[c : c + 2])].reshape(len(part), -1)
        if count >= 1:
            means[c] = seen.reward_means[c] - seen.feature_means[own] @ part
        if count >= 2:
            squares = seen.squares[c] - 2.0 * part @ moment + part @ gram @ part
            spreads[c] = np.sqrt(max(squares, 0.0) / (count - 1.0))
    return means, spreads


def _without_round_levels(seen: Phase, theta: Array) -> tuple[Array, Array]:
    """A round's level is estimated by the mean of its residuals."""
    assert seen.rounds is not None
    features, rewards = seen.rounds
    starts = seen.channels.starts
    parts = [features[:, a:b] @ theta[a:b] for a, b in pairwise(starts)]
    rest = np.ma.masked_invalid(rewards - np.column_stack(parts))
    rest = rest - rest.mean(axis=1, keepdims=True)
    spread = np.where(rest.count(axis=0) >= 2, rest.std(axis=0, ddof=1).filled(np.nan), np.nan)
    return np.asarray(rest.mean(axis=0).filled(np.nan)), spread


def channel_name(measurement: Measurement, channel: int) -> str:
    """What a channel is called, by the labels of its nodes."""
    name = measurement.names[channel]
    if measurement.problem.measured in ("arc", "link") and isinstance(name, tuple):
        return edge_name(measurement.problem.graph, *name)
    return str(name)


def draw_residuals(data: ResidualData, ax: Axes) -> None:
    """Mean and spread per channel; hollow where too few measurements were made."""
    rows = np.arange(len(data.means))
    few = data.too_few
    middle = data.means if data.has_levels else np.zeros_like(data.means)
    ax.barh(
        rows, 2.0 * data.noise, left=middle - data.noise, height=1.0, color=REFERENCE, alpha=0.15,
        linewidth=0, label="noise alone",
    )  # fmt: skip
    ax.axvline(0.0, color=REFERENCE, linestyle="--", linewidth=1.0)
    for chosen, colour, face, label in (
        (~few, COLOURS[0], COLOURS[0], "mean and deviation"),
        (few, COLOURS[1], "white", f"fewer than {_FEW} measurements"),
    ):
        if chosen.any():
            ax.errorbar(
                data.means[chosen], rows[chosen], xerr=data.spreads[chosen], color=colour, fmt="o",
                markerfacecolor=face, markersize=4, elinewidth=1.0, label=label,
                capsize=1.5 if len(rows) <= NAMED_ROWS else 0.0,
            )  # fmt: skip
    name_rows(ax, data.channels, "channel")
    ax.set_xlabel("measured minus fitted" + (", levels included" if data.has_levels else ""))
    ax.set_title("residuals by channel", fontsize=10)
    legend_below(ax)


def figure_residuals(learner: Learner) -> Figure:
    """Mean and spread of what the model leaves unexplained, for every measured number."""
    data = residual_data(learner)
    figure = new_figure(6.4, row_height(len(data.means)))
    draw_residuals(data, figure.subplots())
    return figure

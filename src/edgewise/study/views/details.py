"""What a report rests on, in numbers: pairs of arms, configurations, and channels one by one."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from edgewise.core.evidence.by_edge import local_network
from edgewise.core.evidence.estimated import own_terms
from edgewise.core.evidence.evidence import gather
from edgewise.core.evidence.least_squares import estimate
from edgewise.core.evidence.noise import estimate_noise
from edgewise.core.model.problem import Problem
from edgewise.core.outlook import predict
from edgewise.core.report import Report
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.formats.output import plain
from edgewise.plots.residuals import channel_name, mean_and_spread

MOST = 1000
"""Channels up to which they are listed one by one."""
_PAIRS = 200


class PairRow(NamedTuple):
    """A pair of arms on an edge of a kind."""

    kind: Hashable
    first: Hashable
    second: Hashable
    reward: float
    """Estimated, of one arc."""
    behind: float
    """By how much less than the leading pair of its kind."""
    deviation: float | None
    """Of that difference; None of the leader, and while the noise is not known."""


class ConfigurationRow(NamedTuple):
    """A configuration beside the recommended one."""

    name: str
    value: float
    loses: float
    """By how much less than the recommended one."""
    low: float
    high: float


class ChannelRow(NamedTuple):
    """What is measured at one place."""

    channel: str
    measured: int
    missing: int
    mean: float | None
    """Of measured minus fitted."""
    spread: float | None


class Details(NamedTuple):
    """All three tables; empty where nothing can be said yet."""

    pairs: list[PairRow]
    configurations: list[ConfigurationRow]
    channels: list[ChannelRow]


def details_of(setting: Setting, state: LearnerState, report: Report) -> Details:
    """The tables behind a report."""
    return Details(
        pair_rows(setting, state),
        configuration_rows(setting, state, report),
        channel_rows(setting, state),
    )


def pair_rows(setting: Setting, state: LearnerState) -> list[PairRow]:
    """Every pair of arms of each kind, the best first: who comes next, and by how much it loses."""
    problem, cells = setting.problem, setting.plan.cells
    if state.rounds == 0:
        return []
    noise = np.array([_noise(problem, state)])
    evidence = gather(problem, cells, np.array([state.rounds]), state.total[None], noise=noise)
    if (evidence.leaders < 0).any():
        return []
    means, names = cells.means(evidence.theta[0]), _arm_names(setting)
    labels = problem.classes.graph.kind_labels or range(len(means))
    rows = []
    for kind, leader in enumerate(evidence.leaders[0].tolist()):
        for pair in np.flatnonzero(cells.showable[kind]).tolist():
            k, l = cells.pairs[pair].tolist()
            behind = float(means[kind, leader] - means[kind, pair])
            known = np.isfinite(evidence.gaps[0, kind, pair])
            spread = _known(evidence.deviations[0, kind, pair]) if known else None
            reward = float(means[kind, pair])
            rows.append(PairRow(labels[kind], names[k], names[l], reward, behind, spread))
    rows.sort(key=lambda row: (str(row.kind), row.behind))
    return rows[:_PAIRS]


def _noise(problem: Problem, state: LearnerState) -> float:
    """Sigma as stated, else as estimated; NaN while repeats are missing."""
    if problem.noise != "estimate":
        return problem.stated_noise
    found = estimate_noise(state.total)
    return math.nan if found is None else found.deviation


def configuration_rows(
    setting: Setting, state: LearnerState, report: Report
) -> list[ConfigurationRow]:
    """Today's configuration, the best common and the best seen: how much less than the best."""
    best = report.allocation
    if best is None:
        return []
    rows = []
    for one in report.baselines:
        found = predict(setting, state, best.arms, one.arms)
        rows.append(ConfigurationRow(one.name, one.value, found.value, *found.interval))
    return rows


def channel_rows(setting: Setting, state: LearnerState) -> list[ChannelRow]:
    """Residuals and gaps of every channel, the one with most missing first."""
    problem, seen = setting.problem, state.by_edge
    theta = estimate(setting.plan.cells, state.total) if state.rounds else np.full(1, np.nan)
    if seen is None or not np.isfinite(theta).all() or len(seen.counts) > MOST:
        return []
    network, cells = local_network(problem), setting.plan.cells
    flat = network.parameters(cells.tables(theta), own_terms(problem, cells, theta))
    means, spreads = mean_and_spread(seen, flat)
    rows = [
        ChannelRow(
            channel_name(network.measurement, c),
            int(count),
            state.rounds - int(count),
            _known(means[c]),
            _known(spreads[c]),
        )
        for c, count in enumerate(seen.counts.tolist())
    ]
    return sorted(rows, key=lambda row: (-row.missing, -abs(row.mean or 0.0)))


def facts_of(found: Details) -> dict[str, Any]:
    """The same as JSON has it: lists of tables by name."""
    return {
        name: [{key: plain(value) for key, value in row._asdict().items()} for row in rows]
        for name, rows in found._asdict().items()
    }


def _arm_names(setting: Setting) -> Any:
    labels = setting.problem.arm_labels
    return range(setting.problem.n_arms) if labels is None else labels


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)

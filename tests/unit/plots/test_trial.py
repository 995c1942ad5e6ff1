"""The picture of a trial: what it shows, as numbers, and that it can be drawn."""

from __future__ import annotations

import numpy as np
import pytest

import edgewise as ew
from edgewise.plots import as_svg, figure_trial, trial_data

PROBLEM = ew.Problem(ew.Graph.circle(n_nodes=4), np.eye(2), noise=0.1)


def measured(pairs: int, margin: float = 0.0) -> ew.Trial:
    rng = np.random.default_rng(0)
    trial = ew.Trial(
        PROBLEM, baseline=0, candidate=1, max_pairs=max(pairs, 1), margin=margin, rng=0
    )
    for _ in range(2 * pairs):
        ticket = trial.ask()
        trial.tell(ticket, 0.5 * ticket.arms[0] + rng.standard_normal())
    return trial


def test_the_numbers_are_those_after_every_pair() -> None:
    (comparison,) = measured(7).report().comparisons
    data = trial_data(comparison, margin=0.2)
    assert data.title == "candidate minus baseline"
    assert data.means == pytest.approx(comparison.differences.cumsum() / np.arange(1, 8))
    assert (data.lows[-1], data.highs[-1]) == comparison.interval
    assert (data.lows <= data.means).all()
    assert (data.means <= data.highs).all()
    assert data.lows[0] == -np.inf


@pytest.mark.parametrize("pairs", [0, 1, 5])
def test_every_trial_can_be_drawn(pairs: int) -> None:
    report = measured(pairs, margin=0.01).report()
    words = report.ending.name.lower().replace("_", " ")
    figure = figure_trial(report)
    assert figure.axes[0].get_title() == f"{report.length}: {words}"
    assert as_svg(figure).startswith(b"<?xml")


def test_the_view_shows_zero_and_all_pairs() -> None:
    report = measured(6).report()
    low, high = figure_trial(report).axes[0].get_ylim()
    assert low < min(0.0, report.comparisons[0].differences.min())
    assert high > max(0.0, report.comparisons[0].differences.max())


def test_nothing_to_measure_can_be_drawn_too() -> None:
    same = ew.Trial(PROBLEM, baseline=0, candidate=0)
    assert figure_trial(same.report()).axes[0].get_title() == "0 pairs: same"

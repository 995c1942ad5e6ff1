"""What a report rests on: pairs, runners-up, residuals and gaps, on the page and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise.formats.output import as_json
from edgewise.study.views.details import pair_rows
from edgewise.study.views.outputs import status_output
from edgewise.study.views.page import study_page

ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])


def study(rounds: int = 15, **options: Any) -> ew.Study:
    labels = ["low", "high", "mixed"]
    given: dict[str, Any] = {"noise": 0.5, "arm_labels": labels, **options}
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), ARMS, **given)
    known = replace(problem, noise=0.5)
    world = ew.BilinearEnvironment(known, [[1.0, 0.3], [-0.1, 0.5]], rng=1)
    made = ew.Study.create("yaw", problem, rng=0, delta=1e-9)
    for number in range(rounds):
        ticket = made.ask()
        rewards = world(ticket.arms)
        rewards[0] = np.nan if number % 5 == 0 else rewards[0]
        made.tell(ticket, rewards)
        if made.pending is not None:
            made.close(ticket)
    return made


def test_pairs_are_listed_with_what_they_lose() -> None:
    made = study()
    rows, report = made.now().details().pairs, made.report()
    tables = report.tables[0]
    names = ["low", "high", "mixed"]
    assert len(rows) == 6
    assert [row.behind for row in rows] == sorted(row.behind for row in rows)
    assert (rows[0].behind, rows[0].deviation) == (0.0, None)
    for row in rows:
        k, l = names.index(str(row.first)), names.index(str(row.second))
        assert row.reward == pytest.approx(tables[k, l])
    assert rows[1].behind == pytest.approx(rows[0].reward - rows[1].reward)


def test_where_noise_is_estimated_deviations_are_by_the_estimate() -> None:
    made = study(noise="estimate")
    now, noise = made.now(), made.report().noise_estimate
    assert noise is not None
    stated = replace(now.cursor.setting, problem=replace(made.problem, noise=noise.deviation))
    assert now.details().pairs == pair_rows(stated, now.cursor.state.learner)
    assert "<html" in study_page(made)


def test_the_page_of_a_local_model_with_estimated_noise() -> None:
    """As the studies of wind farms and radio cells are."""
    graph = ew.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)], directed=True)
    arms = np.array([[0.0, 0.0], [0.5, 0.25], [1.0, 1.0]])
    options: dict[str, Any] = {"measured": "node", "levels": "channel", "pooling": "partial"}
    problem = ew.Problem(graph, arms, noise="estimate", interaction=False, **options)
    made = ew.Study.create("local", problem, strategy="thompson", rng=0)
    rng = np.random.default_rng(0)
    for _ in range(5):
        ticket = made.ask()
        made.tell(ticket, rng.standard_normal(4) + np.asarray(ticket.arms))
    assert "<html" in study_page(made)


def test_configurations_lose_what_their_values_say() -> None:
    made = study(baseline=[1] * 6)
    report, found = made.report(), made.now().details().configurations
    assert report.allocation is not None
    assert [row.name for row in found] == ["baseline", "best common", "best seen"]
    for row in found:
        assert row.loses == pytest.approx(report.allocation.value - row.value)
        assert row.low <= row.loses <= row.high


def test_channels_count_gaps_and_residuals_of_least_squares() -> None:
    """Against residuals computed one by one."""
    made = study()
    found = {row.channel: row for row in made.now().details().channels}
    first = found["0 - 1"]
    assert (first.measured, first.missing) == (12, 3)
    assert sum(row.missing for row in found.values()) == 3
    tables = made.report().tables[0]
    rest = []
    for number in range(1, 16):
        arms, rewards = made.ticket(number).arms, made.rewards(number)
        rest.append(rewards[2:4].mean() - tables[arms[1], arms[2]])
    assert found["1 - 2"].mean == pytest.approx(np.mean(rest))


def test_the_same_numbers_are_on_the_page_and_in_json() -> None:
    made = study(baseline=[1] * 6)
    details = made.now().details()
    tree = json.loads(as_json(status_output(made.status(), made.problem, details)))
    assert len(tree["pairs"]) == 6
    assert tree["channels"][0]["missing"] == 3
    assert tree["configurations"][0]["name"] == "baseline"
    page = study_page(made)
    for said in ("Runners-up", "Residuals and gaps", "what exploring cost", "loses against"):
        assert said in page
    assert f"{details.configurations[0].loses:.4g}" in page


def test_without_a_baseline_the_cost_is_drawn_all_the_same() -> None:
    made = study()
    assert "what exploring cost" in study_page(made)
    now = made.now()
    data = ew.plots.earnings_data(now.history().totals, now.earnings())
    assert data.baseline is None
    full = np.isfinite(data.totals)
    assert data.cost[-1] == pytest.approx((data.recommended - data.totals[full]).sum())
    with pytest.raises(ew.errors.InvalidArgument, match="nobody said what runs today"):
        data.won  # noqa: B018
    panels = ew.plots.figure_earnings(data).axes
    assert [line.get_label() for line in panels[1].lines][:1] == ["cost of exploring"]


def test_before_anything_is_known_there_is_nothing_to_list() -> None:
    made = study(0)
    assert made.now().details() == ([], [], [])
    assert "Runners-up" not in study_page(made)

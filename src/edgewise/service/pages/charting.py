"""Charts as plotly figures: plain values, sums made here so that browsers stay quick."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse, Response

from edgewise.base.arrays import Indices
from edgewise.plots.trial import shown_range, trial_data
from edgewise.service.desk import View
from edgewise.service.names import StudyName
from edgewise.service.pages.network import network_figure
from edgewise.service.pages.thinning import thinned
from edgewise.service.problems import Refusal
from edgewise.service.security.identity import Studies, reads

router = APIRouter(prefix="/studies/{study}/charts", dependencies=[Depends(reads)])


@router.get("/evidence")
def evidence(desk: Studies, name: StudyName) -> Response:
    """Progress after every round, as a share of what the stop needs."""
    history = desk.view(name).moment.history()
    rounds, progress, per_point = thinned(np.minimum(history.progress, 2.0), np.nanmax)
    hover = "round %{x}: %{y:.0%} of what the stop needs<extra></extra>"
    traces = [
        _line(rounds, progress, "evidence against the closest rival", hover, colour=0),
        _level(rounds, 1.0, "enough to stop", colour=2),
    ]
    ends = [end for end in history.phase_ends if end < len(history.progress)]
    marks = [_upright(end + 0.5) for end in ends] if len(ends) <= 40 else []
    return _figure(
        traces, y_title="share of the evidence", y_format=".0%", marks=marks, n=per_point
    )


@router.get("/rivals")
def rivals(desk: Studies, name: StudyName) -> Response:
    """How far the closest rivals of the leading pair are behind, phase by phase."""
    found = desk.view(name).moment.rivals()
    if found is None:
        raise Refusal(404, "no pair of arms leads yet; measure more rounds first")
    said = f" after round %{{x}}: %{{y:.3g}} behind {escape(found.leader)}<extra></extra>"
    traces = [
        _line(found.rounds, found.behind[:, slot], label, label + said, colour=slot)
        for slot, label in enumerate(map(escape, found.names))
    ]
    level = _level(found.rounds, 0.0, "no difference", colour=6)
    return _figure([*traces, level], y_title="standard errors behind")


@router.get("/totals")
def totals(desk: Studies, name: StudyName) -> Response:
    """Total reward of every round beside the estimates of simple alternatives."""
    view = desk.view(name)
    rounds, values, per_point = thinned(view.moment.history().totals, np.nanmean)
    hover = "round %{x}: total %{y:.4g}<extra></extra>"
    traces = [_line(rounds, values, "total measured", hover, colour=0, mode="markers")]
    traces += [
        _level(rounds, value, f"{label} (estimated)", colour=slot)
        for slot, (label, value) in enumerate(_references(view), start=1)
    ]
    return _figure(traces, y_title="total reward", n=per_point)


@router.get("/trial")
def trial(desk: Studies, name: StudyName) -> Response:
    """The difference of a trial over its pairs, in the interval that holds at all times."""
    report = desk.view(name).moment.trial
    if report is None or report.leading is None or not report.pairs:
        raise Refusal(404, "no pair of a trial is complete yet")
    data = trial_data(report.leading, report.goal.margin)
    low, high = shown_range(data)
    pairs = np.arange(1, len(data.differences) + 1)
    said = "after %{x} pairs: %{y:.4g}<extra></extra>"
    lower, upper = (
        _line(
            pairs,
            np.clip(ends, low, high),
            "interval, valid at all times",
            said,
            colour=5,
            mode="lines",
        )
        for ends in (data.lows, data.highs)
    )
    traces = [
        lower | {"showlegend": False},
        upper | {"fill": "tonexty"},
        _line(pairs, data.means, "mean difference", said, colour=0, mode="lines"),
        _line(
            pairs,
            data.differences,
            "pairs",
            "pair %{x}: %{y:.4g}<extra></extra>",
            colour=1,
            mode="markers",
        ),
        _level(pairs, 0.0, "no difference", colour=6),
    ]
    return _figure(traces, x_title="pairs", y_title=escape(data.title))


@router.get("/network")
def network(desk: Studies, name: StudyName, show: str = "recommended") -> Response:
    """The network, coloured by the arm of every node."""
    view = desk.view(name)
    arms = _arms(view, show)
    return _figure(**network_figure(desk.study(name).problem, arms, desk.layout(name)))


def _references(view: View) -> list[tuple[str, float]]:
    """Estimated rewards that totals can be compared with; none where levels are unknown."""
    report = view.report
    problem = report.problem
    if report.allocation is None or problem.levels != "none" or problem.average:
        return []
    rows = [("recommended", report.allocation.value)]
    return [*rows, *((row.name, row.value) for row in report.baselines)]


def _arms(view: View, show: str) -> Indices:
    pending = view.moment.pending
    if show == "pending" and pending is not None:
        return pending.arms
    report = view.report
    known = {row.name: row.arms for row in report.baselines}
    if report.allocation is not None:
        known["recommended"] = report.allocation.arms
    if show not in known:
        raise Refusal(404, "there is no such configuration yet; measure more rounds first")
    return known[show]


def _line(
    x: Any, y: Any, name: str, hover: str, *, colour: int, mode: str = "lines+markers"
) -> dict[str, Any]:
    marker = {"size": 8 if len(x) < 60 else 4}
    values = [None if value != value else value for value in y.tolist()]
    return {
        "type": "scatter", "mode": mode, "x": x.tolist(), "y": values, "name": name,
        "marker": marker, "hovertemplate": hover, "colour": colour,
    }  # fmt: skip


def _level(x: Any, value: float, name: str, *, colour: int) -> dict[str, Any]:
    ends = [float(x[0]) - 0.5, float(x[-1]) + 0.5] if len(x) else [0.5, 1.5]
    return {
        "type": "scatter", "mode": "lines", "x": ends, "y": [value, value], "name": name,
        "line": {"dash": "dash"}, "hovertemplate": f"{name}: {value:.5g}<extra></extra>",
        "colour": colour,
    }  # fmt: skip


def _upright(x: float) -> dict[str, Any]:
    return {
        "type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper",
        "line": {"width": 1, "dash": "dot"},
    }  # fmt: skip


def _figure(
    traces: list[dict[str, Any]],
    *,
    y_title: str = "",
    y_format: str = "",
    marks: list[dict[str, Any]] | None = None,
    x_title: str = "",
    n: int = 1,
    bare: bool = False,
    note: str = "",
) -> Response:
    """Traces and what the script needs to lay them out; colours are numbers of the palette."""
    rounds = max((trace["x"][-1] for trace in traces if trace["x"] and not bare), default=0)
    x_title = x_title or ("round" if n == 1 else f"round (one point for {n} rounds)")
    return JSONResponse(
        {
            "traces": traces, "xTitle": x_title, "yTitle": y_title, "yFormat": y_format,
            "marks": marks or [], "bare": bare, "note": note, "rounds": rounds,
        }
    )  # fmt: skip

"""The report of a study as one HTML page, for people who were not there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from edgewise import page
from edgewise.core.claim import Confirmation
from edgewise.core.earnings import Earnings
from edgewise.core.evidence.noise import NoiseEstimate
from edgewise.core.gate.lack_of_fit import LackOfFit, untested
from edgewise.core.model.problem import Problem
from edgewise.core.regret import Regret
from edgewise.core.report import Report, differs_in_words
from edgewise.formats.names import labelled
from edgewise.plots import (
    ConvergenceData,
    as_svg,
    earnings_data,
    figure_allocation,
    figure_convergence,
    figure_earnings,
    figure_trial,
)
from edgewise.study.views.chronicle import chronicle
from edgewise.study.views.details import ChannelRow, Details
from edgewise.study.views.status import History, StudyStatus
from edgewise.trial.report import TrialReport

if TYPE_CHECKING:
    from edgewise.study.study import Study

_EVENTS = 200
"""So many events of the history are shown; the export has all."""
_NODES = 1000
"""So many rows of the recommendation are shown."""
_WRONG_MODEL = 1e-3
"""A p-value below this says that the bilinear model does not hold, as in ``Report``."""


def study_page(study: Study) -> str:
    """The answer first, then what it rests on, then the history. Needs ``edgewise[plot]``."""
    now = study.now()
    status, report, details = now.status(), now.report(), now.details()
    parts = [
        f"<h1>Study {page.escape(study.name)}</h1>",
        *_verdict(status, report),
        *_trial(status.trial),
        *_recommendation(report),
        *_alternatives(details),
        *_evidence(now.history(), status),
        *_earnings(now.history(), now.earnings()),
        *_trust(report),
        *_channels(details.channels),
        *_history(study),
    ]
    return page.page(f"edgewise: study {study.name}", parts)


def _verdict(status: StudyStatus, report: Report) -> list[str]:
    budget = "" if status.max_rounds is None else f" of at most {status.max_rounds}"
    kind = "confirmed" if report.certified else "not"
    said = report.contradiction_text
    rounds = "1 round" if status.rounds == 1 else f"{status.rounds} rounds"
    whose = "By the model, " if report.confirmation is Confirmation.CONTRADICTED else ""
    parts = (
        [page.paragraph(report.measured, _COLOUR[report.confirmation])] if report.measured else []
    )
    parts += [page.paragraph(said, "not")] if said else []
    parts += [page.paragraph(f"Withdrawn: {text}.", "not") for text in status.withdrawn]
    proved = report.guarantee.removeprefix(report.measured).strip().removeprefix(said)
    parts += [
        page.paragraph(f"{whose}{rounds}{budget}: {status.ending.value}.", kind),
        page.paragraph(proved),
    ]
    past = status.remodelled_from
    if past is not None and str(past) not in report.guarantee:
        parts.append(page.paragraph(str(past), "not"))
    if report.regret is not None and math.isfinite(report.regret.bound) and report.regret.bound:
        parts.append(_shares(report.regret))
    return parts


_COLOUR = {
    Confirmation.CONFIRMED: "confirmed",
    Confirmation.UNCONFIRMED: "",
    Confirmation.CONTRADICTED: "not",
}


def _trial(trial: TrialReport | None) -> list[str]:
    """What was measured, without a model."""
    if trial is None:
        return []
    parts = ["<h2>Measured against the baseline</h2>", page.paragraph(f"{trial.headline}.")]
    if trial.pairs:
        caption = (
            f"The difference over {trial.length}. The band covers it at all times at once, "
            f"with probability {1 - trial.delta:.4g}, without any model."
        )
        picture = as_svg(figure_trial(trial))
        parts.append(page.figure(picture, alt="difference by pair", caption=caption))
    header = ("difference", "pairs", "mean", "from", "to")
    rows = [
        (f"{one.first} minus {one.second}", str(one.pairs), *map("{:.4g}".format, numbers))
        for one in trial.comparisons
        for numbers in [(one.difference, *one.interval)]
    ]
    return [
        *parts,
        page.table(header, rows),
        *(page.paragraph(one, "not") for one in trial.warnings),
    ]


def _shares(regret: Regret) -> str:
    """A bar: how much of the possible loss is estimation, how much optimisation."""
    estimation = regret.estimation / regret.bound
    bar = "height:1.2rem;display:inline-block;"
    return (
        f'<figure><div style="max-width:40rem;font-size:0" role="img" aria-label="'
        f'{estimation:.0%} estimation, {1 - estimation:.0%} optimisation">'
        f'<span style="{bar}background:#0072B2;width:{100 * estimation:.2f}%"></span>'
        f'<span style="{bar}background:#E69F00;width:{100 * (1 - estimation):.2f}%"></span></div>'
        f"<figcaption>What the configuration may miss, at most {regret.bound:.4g}: "
        f"{estimation:.0%} is estimation (blue; more rounds reduce it), {1 - estimation:.0%} "
        "optimisation (orange; a better search or bound reduces it).</figcaption></figure>"
    )


def _recommendation(report: Report) -> list[str]:
    best = report.allocation
    if best is None:
        return ["<h2>Recommended configuration</h2>", page.paragraph("None yet.")]
    values = [("recommended", best.value), *((row.name, row.value) for row in report.baselines)]
    rows = labelled(report.problem, best.arms)
    caption = f"{len(rows)} nodes, coloured by the arm recommended for them."
    return [
        "<h2>Recommended configuration</h2>",
        page.figure(as_svg(figure_allocation(report)), alt="the graph", caption=caption),
        page.table(("configuration", "estimated global reward"), _valued(values)),
        page.paragraph(
            "best common: the same arm everywhere; best seen: the configuration with the largest "
            "total reward measured. By the estimate no configuration exceeds "
            f"{best.upper_bound:.6g}."
        ),
        f"<details{' open' if len(rows) <= 20 else ''}><summary>Arm of every node</summary>",
        page.table(("node", "arm"), [(str(row["node"]), str(row["arm"])) for row in rows[:_NODES]]),
        *_left_out(len(rows), _NODES, "nodes; edgewise study recommend --out has all"),
        "</details>",
    ]


def _valued(values: list[tuple[str, float]]) -> list[tuple[str, str]]:
    return [(name, f"{value:.6g}") for name, value in values]


def _evidence(history: History, status: StudyStatus) -> list[str]:
    progress = history.progress
    if not len(progress):
        return []
    data = ConvergenceData(
        rounds=np.arange(1, len(progress) + 1),
        progress=progress,
        leaders=((),) * len(progress),
        stopped=status.stopped,
        error_rounds=np.zeros(0, np.int64),
        errors=np.zeros(0),
    )
    left = "" if status.forecast is None else f" Rounds left: {status.forecast}."
    caption = f"Evidence after every round, as a share of what the stop needs.{left}"
    picture = as_svg(figure_convergence(data))
    return ["<h2>Evidence</h2>", page.figure(picture, alt="evidence by round", caption=caption)]


def _alternatives(found: Details) -> list[str]:
    """Who comes next, and by how much it loses."""
    if not found.pairs:
        return []
    kinds = {row.kind for row in found.pairs}
    pairs = [
        (
            *((str(row.kind),) if len(kinds) > 1 else ()),
            f"({row.first}, {row.second})",
            f"{row.reward:.4g}",
            f"{row.behind:.4g}",
            "" if row.deviation is None else f"{row.deviation:.2g}",
        )
        for row in found.pairs
    ]
    header = (
        *(("kind",) if len(kinds) > 1 else ()),
        "pair of arms",
        "reward",
        "behind by",
        "deviation",
    )
    others = [
        (row.name, f"{row.loses:.4g}", f"{row.low:.4g} to {row.high:.4g}")
        for row in found.configurations
    ]
    return [
        "<h2>Runners-up</h2>",
        page.table(("configuration", "loses against the recommended", "95 %"), others),
        f"<details{' open' if len(pairs) <= 20 else ''}>",
        "<summary>Pairs of arms on an edge</summary>",
        page.table(header, pairs),
        "</details>",
    ]


def _channels(rows: list[ChannelRow]) -> list[str]:
    """Residuals and gaps, place by place."""
    if not rows:
        return []
    shown = [
        (row.channel, str(row.measured), str(row.missing), _number(row.mean), _number(row.spread))
        for row in rows[:_NODES]
    ]
    return [
        f"<details{' open' if len(rows) <= 20 else ''}><summary>Residuals and gaps, place by place"
        "</summary>",
        page.paragraph("Residual: measured minus fitted, its mean and deviation."),
        page.table(("place", "measured", "missing", "mean residual", "deviation"), shown),
        "</details>",
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _earnings(history: History, earned: Earnings | None) -> list[str]:
    """What exploring has cost and, where the problem says what runs today, won."""
    if earned is None or not np.isfinite(history.totals).any():
        return []
    picture = as_svg(figure_earnings(earnings_data(history.totals, earned)))
    caption = "Total reward of every round; what exploring cost against the recommended so far."
    rows = earned.rows()
    said = [page.paragraph(f"{name.capitalize()}: {text}.") for name, text in rows]
    drawn = page.figure(picture, alt="total reward by round", caption=caption)
    return ["<h2>What exploring earns</h2>", *said, drawn]


def _trust(report: Report) -> list[str]:
    parts = [
        "<h2>Can the model be trusted?</h2>",
        page.paragraph(fit_in_words(report.lack_of_fit, _untested(report))),
    ]
    if report.homogeneity is not None:
        said = differs_in_words(report.homogeneity, report.problem)
        parts.append(page.paragraph(f"Edges: {said}."))
    for text, is_warning in noise_in_words(report.problem, report.noise_estimate):
        parts.append(page.paragraph(text, "not" if is_warning else ""))
    return parts


def noise_in_words(problem: Problem, noise: NoiseEstimate | None) -> list[tuple[str, bool]]:
    """The noise as stated and as measured, sentence by sentence, and which one is a warning."""
    if noise is None:
        return []
    stated = problem.noise
    said = f"Stated: {stated:g}" if isinstance(stated, float) else "It is estimated"
    if isinstance(stated, tuple):
        said = "In units of what is stated for each channel"
    measured = (
        f"Noise of one reward. {said}; measured by repetition: {noise.deviation:.4g} "
        f"(with 95 % confidence {noise.low:.4g} to {noise.high:.4g})."
    )
    if stated == "estimate" or noise.low <= problem.stated_noise:
        return [(measured, False)]
    warning = (
        "The noise is larger than stated, so the guarantee is weaker than it says: "
        'start a study with a larger noise, or with noise = "estimate".'
    )
    return [(measured, False), (warning, True)]


def _untested(report: Report) -> str:
    return untested(report.problem, certified=report.certified)


_MISFITS = {
    "cells": "edges with the same arms pay differently from what any matrix explains",
    "phases": "rounds with other joint arms ask for other matrices than those before",
}


def fit_in_words(fit: LackOfFit | None, reason: str = "") -> str:
    """What the lack-of-fit test says, for readers who do not test hypotheses."""
    if fit is None and reason:
        return f"Whether the bilinear model holds is {reason}."
    if fit is None:
        return "Too little was repeated to test whether the bilinear model holds."
    if fit.p_value < _WRONG_MODEL:
        return (
            f"The bilinear model does not hold (p = {fit.p_value:.2g}): {_MISFITS[fit.compares]}. "
            "Do not trust the certificate; look for kinds of edges, node effects or features that "
            "are missing."
        )
    return (
        f"Nothing speaks against the bilinear model (p = {fit.p_value:.2g}; below "
        f"{_WRONG_MODEL:g} would)."
    )


def _history(study: Study) -> list[str]:
    deeds, earlier = chronicle(study.log(), study.problem.n_rewards, last=_EVENTS)
    return [
        "<h2>History</h2>",
        *_left_out(len(deeds) + earlier, len(deeds), "events, the last; the export has all"),
        page.table(("when (UTC)", "what"), [(deed.when, deed.text) for deed in deeds]),
    ]


def _left_out(total: int, shown: int, what: str) -> list[str]:
    return [page.paragraph(f"{shown} of {total} {what}.")] if total > shown else []

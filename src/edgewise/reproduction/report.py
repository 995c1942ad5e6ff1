"""The HTML report: one file, nothing to fetch."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from edgewise import page
from edgewise.reproduction.inference import LEVEL, HypothesisTest
from edgewise.reproduction.outcome import ClaimStatus, Outcome, PaperClaim, ReportTable
from edgewise.reproduction.settings import Settings
from edgewise.reproduction.sweep.cell import code_version


def html_report(settings: Settings, outcomes: Sequence[Outcome], pictures: dict[str, Path]) -> str:
    """Claims first, then every experiment with its figures; ``pictures`` are SVG files by name."""
    body = [
        "<h1>Best arm identification in graphical bilinear bandits: the paper, reproduced</h1>",
        f"<p>{escape(_settings_text(settings))}</p>",
        "<h2>Claims</h2>",
        f"<p>Every test has level {LEVEL:g}; intervals are 95&nbsp;% confidence intervals. A claim "
        "is confirmed when all its tests pass, so the probability to confirm a false claim is at "
        "most the level of one test (intersection-union). It is contradicted when a test rejects "
        "the claim itself at that level after Bonferroni's correction (p&nbsp;against), and "
        "undecided otherwise.</p>",
        _summary(outcomes),
    ]
    body += [_section(outcome, pictures) for outcome in outcomes]
    return page.page("edgewise: the paper, reproduced", body)


def _settings_text(settings: Settings) -> str:
    size = "quick version, " if settings.quick else ""
    return (
        f"edgewise {code_version()}, {size}{settings.runs} repetitions, delta = "
        f"{settings.delta:g}, omega = {', '.join(f'{omega:.4g}' for omega in settings.omegas)}, "
        f"seed {settings.seed}; graphs: {', '.join(settings.graphs)}; methods: "
        f"{', '.join(settings.chosen_methods)}."
    )


def _summary(outcomes: Sequence[Outcome]) -> str:
    rows = [
        f"<tr><td>{escape(outcome.name)}</td><td>{escape(claim.statement)}<br><small>"
        f"{escape(claim.source)}</small></td><td>{_status(claim)}</td>"
        f"<td>{escape(measured_text(claim))}</td></tr>"
        for outcome in outcomes
        for claim in outcome.claims
    ]
    head = "<tr><th>experiment</th><th>claim</th><th>result</th><th>measured (weakest)</th></tr>"
    return f'<div class="wide"><table>{head}{"".join(rows)}</table></div>'


def _section(outcome: Outcome, pictures: dict[str, Path]) -> str:
    parts = [f'<h2 id="{escape(outcome.name)}">{escape(outcome.title)}</h2>']
    for name in outcome.figures:
        picture, caption = pictures[name].read_bytes(), outcome.captions.get(name, "")
        parts.append(page.figure(picture, alt=outcome.title, caption=caption))
    parts += [_table(table) for table in outcome.tables]
    parts += [_claim(claim) for claim in outcome.claims]
    return "\n".join(parts)


def _claim(claim: PaperClaim) -> str:
    remark = f"<p>{escape(claim.remark)}</p>" if claim.remark else ""
    header = (
        "subject",
        "test",
        "estimate",
        "95 % interval",
        "statistic",
        "p",
        "p against",
        "passed",
    )
    tests = _table(ReportTable("", header, tuple(map(_evidence, claim.evidence))))
    return (
        f"<details><summary>{_status(claim)}: {escape(claim.statement)} "
        f"({escape(claim.source)})</summary>{remark}{tests}</details>"
    )


def _evidence(row: HypothesisTest) -> tuple[str, ...]:
    return (
        row.subject,
        row.test,
        f"{row.estimate:.4g}",
        f"{row.low:.4g} to {row.high:.4g}",
        f"{row.statistic:.3g}",
        f"{row.p_value:.2g}",
        f"{row.p_against:.2g}",
        "yes" if row.passed else "no",
    )


def _status(claim: PaperClaim) -> str:
    kind = "confirmed" if claim.status is ClaimStatus.CONFIRMED else "not"
    return f'<span class="{kind}">{escape(claim.status.value)}</span>'


def _table(table: ReportTable) -> str:
    title = f"<h3>{escape(table.title)}</h3>" if table.title else ""
    return title + page.table(table.header, table.rows)


def measured_text(claim: PaperClaim) -> str:
    """The weakest test of a claim in one line."""
    row = claim.weakest
    return (
        f"{row.subject}: {row.estimate:.4g} [{row.low:.4g}, {row.high:.4g}], p = {row.p_value:.2g} "
        f"({row.test})"
    )

"""``edgewise study recommend``, ``report``: the answer so far."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from edgewise.cli.study.options import StorageUrl, StudyName, TableFile, find_study
from edgewise.cli.study.outputs import (
    check_folder,
    check_out,
    estimated_output,
    homogeneity_output,
    past_facts,
    recommendation_output,
    write_out,
)
from edgewise.cli.terminal.options import OutputFormat
from edgewise.cli.terminal.shell import UNCERTIFIED, Command, Format, Output, emit, note
from edgewise.errors import InvalidFile

if TYPE_CHECKING:
    from edgewise.core.report import Report
    from edgewise.study import Study


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command(cls=Command)(recommend)
    group.command(cls=Command)(report)


def recommend(
    storage: StorageUrl = None,
    name: StudyName = None,
    out: TableFile = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Print the best configuration by what is known, and what is proved about it.

    It can be asked for at any time; before the study has its certificate, the answer may still
    change.

    Example:
      $ edgewise study recommend --storage sqlite:///farm.db --out best.csv

    Output: one row per node. Exit code 0 certified; 2 wrong input; 3 not certified (yet), or
    nothing is estimable so far.
    """
    check_out(out)
    found = find_study(storage, name).seen.recommend()
    answer = recommendation_output(found)
    emit(answer, output)
    write_out(answer, out, "recommendation")
    raise typer.Exit(0 if found.certified else UNCERTIFIED)


def report(
    storage: StorageUrl = None,
    name: StudyName = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also write a page to read and to pass on: .html, one file."
        ),
    ] = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Print the answer, its guarantee, and what it rests on.

    The page of --html has the recommendation, the guarantee and its parts, the simple
    alternatives, the evidence round by round, the graph, whether the model fits, and the history
    of the study. It needs edgewise[plot] and fetches nothing.

    Example:
      $ edgewise study report --storage sqlite:///farm.db --html report.html

    Output: a summary and the alternatives. Exit code 0 certified; 2 wrong input; 3 not
    certified (yet).
    """
    if html is not None:
        _check_page(html)
    study = find_study(storage, name)
    found = study.seen.report()
    emit(_answer(study, found), output)
    if html is not None:
        from edgewise.study.views.page import study_page

        html.write_text(study_page(study), encoding="utf-8")
        note(f"page in {html}")
    raise typer.Exit(0 if found.certified else UNCERTIFIED)


def _check_page(path: Path) -> None:
    """Refuse a page that could not be written before the work, not after it."""
    from edgewise.plots.figures import new_figure

    new_figure()  # raises when matplotlib is missing
    if path.suffix.lower() not in {".html", ".htm"}:
        raise InvalidFile(f"{path}: the report is a page; end the name in .html")
    check_folder(path)


def _answer(study: Study, found: Report) -> Output:
    best, regret, fit = found.allocation, found.regret, found.lack_of_fit
    facts = {
        "study": study.name,
        "rounds": found.rounds,
        "ending": found.ending.name.lower(),
        "certified": found.certified,
        "delta": found.delta,
        "epsilon": found.epsilon,
        "target": found.target,
        "strategy": found.strategy,
        "stopping": found.stopping,
        "guarantee": found.guarantee,
        "upper_bound": None if best is None else best.upper_bound,
        "regret": None if regret is None else regret.bound,
        "regret_estimation": None if regret is None else regret.estimation,
        "regret_optimisation": None if regret is None else regret.optimisation,
        "noise_measured": found.noise_estimate and found.noise_estimate.deviation,
        "lack_of_fit_p": fit and fit.p_value,
        "claim": str(found.claim),
        **homogeneity_output(found.homogeneity),
        **estimated_output(found.estimated),
        **past_facts(study.seen.remodelled_from),
    }
    rows = [] if best is None else [("recommended", best.value)]
    rows += [(row.name, row.value) for row in found.baselines]
    return Output(facts, "configurations", ("configuration", "value"), rows, text=str(found))

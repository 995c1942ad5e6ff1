"""``edgewise study recommend``, ``report``: the answer so far."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from edgewise.cli.study.options import StorageUrl, StudyName, TableFile, find_study
from edgewise.cli.study.outputs import check_folder, check_out, write_out
from edgewise.cli.terminal.options import OutputFormat
from edgewise.cli.terminal.shell import UNCERTIFIED, Command, Format, emit, note
from edgewise.errors import InvalidFile
from edgewise.formats import read_joint_arm
from edgewise.writing import write_text

if TYPE_CHECKING:
    from edgewise.study import Study


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command(cls=Command)(recommend)
    group.command(cls=Command)(report)
    group.command(cls=Command)(predict)
    group.command(cls=Command)(explain)


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

    Output: one row per node. Exit code 0 certified, or confirmed by a trial; 2 wrong input; 3
    neither (yet), contradicted by a trial, or nothing is estimable so far.
    """
    check_out(out)
    from edgewise.study.views.outputs import recommendation_output

    found = find_study(storage, name).seen.recommend()
    answer = recommendation_output(found)
    emit(answer, output)
    write_out(answer, out, "recommendation")
    raise typer.Exit(0 if found.certified or found.confirmation == "confirmed" else UNCERTIFIED)


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
    from edgewise.study.views.outputs import report_output

    study = find_study(storage, name)
    found = study.seen.report()
    if html is not None:  # first: whoever reads standard output may leave
        from edgewise.study.views.page import study_page

        write_text(html, study_page(study))
        note(f"page in {html}")
    emit(report_output(study.name, found, study.seen.remodelled_from), output)
    raise typer.Exit(0 if found.certified else UNCERTIFIED)


def predict(
    configuration: Annotated[
        Path,
        typer.Argument(metavar="FILE.csv", show_default=False, help="A configuration: node,arm."),
    ],
    storage: StorageUrl = None,
    name: StudyName = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="Another one: the difference of the two."),
    ] = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Say what a configuration is expected to bring, with a 95 % interval.

    The interval is that of one configuration, chosen beforehand: for planning, and no certificate.

    Example:
      $ edgewise study predict deployed.csv --storage sqlite:///farm.db

    Output: value, deviation and interval. Exit code 0; 2 wrong input, or nothing can be estimated.
    """
    from edgewise.study.views.outputs import prediction_output

    study = find_study(storage, name)
    other = None if against is None else _configuration(against, study)
    found = study.predict(_configuration(configuration, study), against=other)
    emit(prediction_output(found), output)


def explain(
    node: Annotated[str, typer.Argument(metavar="NODE", show_default=False, help="Its name.")],
    storage: StorageUrl = None,
    name: StudyName = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Say why a node is given its arm: what another arm would change, and which links decide.

    Example:
      $ edgewise study explain A1 --storage sqlite:///farm.db

    Output: the alternatives, with 95 % intervals; as JSON also the links. Exit code 0; 2 wrong
    input, or nothing can be estimated.
    """
    from edgewise.study.views.outputs import explanation_output

    study = find_study(storage, name)
    by_text = {str(label): label for label in study.problem.graph.labels}
    emit(explanation_output(study.explain(by_text.get(node, node))), output)


def _configuration(file: Path, study: Study) -> Any:
    arms = study.problem.arm_labels
    known = range(study.problem.n_arms) if arms is None else arms
    return read_joint_arm(file, nodes=study.problem.graph.labels, arms=known)


def _check_page(path: Path) -> None:
    """Refuse a page that could not be written before the work, not after it."""
    from edgewise.plots.figures import new_figure

    new_figure()  # raises when matplotlib is missing
    if path.suffix.lower() not in {".html", ".htm"}:
        raise InvalidFile(f"{path}: the report is a page; end the name in .html")
    check_folder(path)

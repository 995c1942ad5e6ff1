"""``edgewise design``: how often to play each arm."""

from __future__ import annotations

from typing import Annotated

import typer

import edgewise as ew
from edgewise.cli.terminal.options import ArmsSource, OutputFormat, Plot, Project
from edgewise.cli.terminal.plotting import check_plot, save_plot
from edgewise.cli.terminal.shell import UNCERTIFIED, Command, Format, Output, emit
from edgewise.cli.terminal.sources import arms_from
from edgewise.formats import ArmTable


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=Command)(design)


def design(
    arms: ArmsSource,
    method: Annotated[str, typer.Option(help="auto, newton or frank-wolfe.")] = "auto",
    tolerance: Annotated[float, typer.Option(help="Gap to reach, relative.")] = 1e-6,
    project: Project = False,
    plot: Plot = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Compute how often to play each arm, with a proof.

    Computes the G-optimal design: the weights that make the largest prediction variance over
    all arms as small as possible. The smallest possible value is the dimension d, so the gap
    (worst variance / d - 1) proves how far the weights are from optimal.

    Examples:
      $ edgewise design examples/data/arms.csv
      $ edgewise design paper:5:0.1 --tolerance 1e-9 --format csv

    Output: one row per arm, largest weight first. Exit code 0; 2 wrong input; 3 the gap is
    larger than --tolerance.
    """
    check_plot(plot)
    table = arms_from(arms)
    found = ew.g_optimal(table.arms, tolerance=tolerance, method=method, project=project)
    emit(_answer(found, table), output)
    if plot is not None:
        from edgewise.plots import figure_design

        save_plot(figure_design(found, [str(label) for label in table.labels]), plot)
    raise typer.Exit(0 if found.gap <= tolerance else UNCERTIFIED)


def _answer(found: ew.Design, table: ArmTable) -> Output:
    facts = {
        "worst_variance": found.worst_variance,
        "dimension": found.dimension,
        "gap": found.gap,
        "iterations": found.iterations,
        "method": found.method,
    }
    order = (-found.weights).argsort(kind="stable").tolist()
    rows = [(table.labels[k], float(found.weights[k])) for k in order]
    return Output(facts, "arms", ("arm", "weight"), rows)

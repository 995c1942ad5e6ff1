"""``edgewise reproduce``: the paper's figures and tables on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from edgewise.cli.terminal.options import OutputFormat
from edgewise.cli.terminal.shell import Command, Format, Output, emit, note

if TYPE_CHECKING:
    from edgewise.reproduction import Reproduction, Settings
    from edgewise.reproduction.sweep.cell import Cell


def register(app: typer.Typer) -> None:
    """Add the ``reproduce`` command to the application."""
    app.command(name="reproduce", cls=Command)(reproduce)


def _experiments() -> list[str]:
    from edgewise.reproduction import EXPERIMENTS

    return [*EXPERIMENTS, "all"]


def reproduce(
    experiment: Annotated[
        str,
        typer.Argument(
            autocompletion=_experiments,
            help="Figure or table of the paper: fig1-edges, fig1-dimension, table1 or fig2; what "
            "goes beyond it: beyond; or all.",
        ),
    ],
    repetitions: Annotated[
        int | None, typer.Option(min=2, help="Runs per point.", show_default="100, quick 16")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer sizes and runs: the same shapes in a minute.")
    ] = False,
    delta: Annotated[float, typer.Option(help="Largest probability of a wrong answer.")] = 0.05,
    omega: Annotated[
        list[float] | None,
        typer.Option(help="Angle of the rival arm; may be repeated.", show_default="0.1 and pi/2"),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(help="Comma-separated: paper, union, mixture, ...", show_default="all"),
    ] = None,
    graphs: Annotated[
        str, typer.Option(help="Comma-separated families.")
    ] = "star,complete,circle,matching",
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same files.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes on this machine; -1: one per core.")] = -1,
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler to run on instead.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for data, figures and report.")] = Path(
        "reproduction"
    ),
    output: OutputFormat = Format.TABLE,
) -> None:
    """Measure the paper's figures and tables again, and test its claims.

    Writes tidy CSV files, PNG and SVG figures, and report.html, one self-contained page that sets
    every claim of the paper beside what was measured. Stopped and started again with the same
    folder, it continues where it was.

    Example:
      $ edgewise reproduce table1 --quick --graphs star,circle --out reproduction

    Exit code: 0 done (whatever the claims turned out to be), 2 wrong input, 130 interrupted.
    """
    from edgewise.reproduction import Settings

    settings = Settings(
        repetitions=repetitions,
        quick=quick,
        delta=delta,
        graphs=_names(graphs),
        methods=None if methods is None else _names(methods),
        seed=seed,
        **({} if omega is None else {"omegas": tuple(omega)}),
    )
    try:
        result = _run(experiment, settings, out, jobs, dask)
    except KeyboardInterrupt:
        note(f"the same command continues from {out / 'cells.jsonl'}")
        raise
    emit(_answer(result), output)
    note(f"report: {result.report}")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _run(name: str, settings: Settings, out: Path, jobs: int, dask: str | None) -> Reproduction:
    from edgewise.reproduction import cells_of, reproduce

    total = sum(cell.cost for cell in cells_of(name, settings))
    with _bar(name, total) as advance:
        return reproduce(name, settings, out=out, jobs=jobs, dask=dask, watch=advance)


@contextmanager
def _bar(title: str, total: float) -> Iterator[Callable[[Cell], None]]:
    """A progress bar on standard error, in units of expected work."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn(title),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=Console(stderr=True, highlight=False)) as progress:
        task = progress.add_task(title, total=total)
        yield lambda cell: progress.advance(task, cell.cost)


def _answer(result: Reproduction) -> Output:
    from edgewise.reproduction.report import measured_text

    return Output(
        facts={"files": [str(path) for path in result.files]},
        name="claims",
        columns=("experiment", "claim", "status", "measured"),
        rows=[
            (outcome.name, claim.statement, claim.status.value, measured_text(claim))
            for outcome in result.outcomes
            for claim in outcome.claims
        ],
        text="The paper's claims, tested; 'measured' is the weakest of a claim's tests.",
    )

"""``edgewise reproduce``: the paper's figures and tables on this machine."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from edgewise.errors import EdgewiseError

if TYPE_CHECKING:
    from edgewise.reproduction import Reproduction, Settings
    from edgewise.reproduction.cell import Cell

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


class Target(StrEnum):
    """What to reproduce."""

    FIG1_EDGES = "fig1-edges"
    FIG1_DIMENSION = "fig1-dimension"
    TABLE1 = "table1"
    FIG2 = "fig2"
    ALL = "all"


class Form(StrEnum):
    """How claims are printed on standard output."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def register(app: typer.Typer) -> None:
    """Add the ``reproduce`` command to the application."""
    app.command(name="reproduce")(reproduce)


def reproduce(
    target: Annotated[Target, typer.Argument(help="Figure or table of the paper, or all.")],
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
    form: Annotated[Form, typer.Option("--format", help="Claims on standard output.")] = Form.TABLE,
) -> None:
    """Measure the paper's figures and tables again, and test its claims.

    Writes tidy CSV files, PNG and SVG figures, and report.html, one self-contained page that sets
    every claim of the paper beside what was measured. Stopped and started again with the same
    folder, it continues where it was.

    Example: edgewise reproduce table1 --quick --graphs star,circle --out reproduction

    Exit code: 0 done (whatever the claims turned out to be), 2 wrong input, 130 interrupted.
    """
    progress = Console(stderr=True, highlight=False)
    try:
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
        result = _run(target.value, settings, out, jobs, dask, progress)
    except EdgewiseError as error:
        progress.print(f"edgewise: {error}", markup=False)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        progress.print(f"Interrupted; the same command continues from {out / 'cells.jsonl'}.")
        raise typer.Exit(INTERRUPTED) from None
    _show(result, form)
    progress.print(f"Report: {result.report}", markup=False, soft_wrap=True)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _run(
    target: str, settings: Settings, out: Path, jobs: int, dask: str | None, console: Console
) -> Reproduction:
    from edgewise.reproduction import cells_of, reproduce

    total = sum(cell.cost for cell in cells_of(target, settings))
    with _bar(console, target, total) as advance:
        return reproduce(target, settings, out=out, jobs=jobs, dask=dask, watch=advance)


class _bar(AbstractContextManager["Callable[[Cell], None]"]):  # noqa: N801
    """A progress bar on standard error, in units of expected work."""

    def __init__(self, console: Console, title: str, total: float) -> None:
        columns = (
            TextColumn(title),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
        )
        self._progress = Progress(*columns, console=console)
        self._task = self._progress.add_task(title, total=total)

    def __enter__(self) -> Callable[[Cell], None]:
        self._progress.start()
        return lambda cell: self._progress.advance(self._task, cell.cost)

    def __exit__(self, *exception: object) -> None:
        self._progress.stop()


def _show(result: Reproduction, form: Form) -> None:
    from edgewise.reproduction.report import measured_text

    rows = [
        {
            "experiment": finding.name,
            "claim": claim.statement,
            "status": claim.status.value,
            "measured": measured_text(claim),
        }
        for finding in result.findings
        for claim in finding.claims
    ]
    if form is Form.JSON:
        files = [str(path) for path in result.files]
        typer.echo(json.dumps({"claims": rows, "files": files}, indent=2))
    elif form is Form.CSV:
        writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    else:
        table = Table("experiment", "claim", "result", "measured (weakest test)")
        for row in rows:
            table.add_row(*row.values())
        Console(highlight=False, markup=False).print(table)

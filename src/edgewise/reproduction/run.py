"""From settings to files: sweep, analyse, write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edgewise.errors import InvalidArgument
from edgewise.plots.figures import new_figure, save
from edgewise.reproduction.beyond import Beyond
from edgewise.reproduction.cell import Cell
from edgewise.reproduction.fig1_dimension import FIG1_DIMENSION
from edgewise.reproduction.fig1_edges import FIG1_EDGES
from edgewise.reproduction.fig2 import Fig2
from edgewise.reproduction.finding import Experiment, Finding
from edgewise.reproduction.frame import as_csv
from edgewise.reproduction.report import html_report
from edgewise.reproduction.settings import Settings
from edgewise.reproduction.store import ResultStore
from edgewise.reproduction.sweep import Watcher, sweep
from edgewise.reproduction.table1 import Table1

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (FIG1_EDGES, FIG1_DIMENSION, Table1(), Fig2(), Beyond())
}


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What was found, and the files that show it."""

    findings: tuple[Finding, ...]
    report: Path
    files: tuple[Path, ...]


def experiments_of(name: str) -> tuple[Experiment, ...]:
    """The experiment of that name, or ``all`` of them."""
    if name == "all":
        return tuple(EXPERIMENTS.values())
    if name not in EXPERIMENTS:
        raise InvalidArgument(
            f"no experiment is called {name!r}; choose one of {', '.join(EXPERIMENTS)}, or all"
        )
    return (EXPERIMENTS[name],)


def cells_of(name: str, settings: Settings) -> list[Cell]:
    """The distinct cells of an experiment: what has to be computed."""
    cells = (cell for experiment in experiments_of(name) for cell in experiment.cells(settings))
    return list({cell.key: cell for cell in cells}.values())


def reproduce(
    name: str,
    settings: Settings | None = None,
    *,
    out: str | Path,
    jobs: int = 1,
    dask: str | None = None,
    watch: Watcher | None = None,
) -> Reproduction:
    """Run one experiment, or ``all``, and write data, figures and report into ``out``.

    Finished pieces are kept in ``out/cells.jsonl``: started again, a run continues. Files are
    the same, to the byte, for the same settings, however the work was done: ``jobs`` and ``dask``
    are those of :func:`~edgewise.reproduction.sweep.sweep`.
    """
    chosen = settings or Settings()
    experiments = experiments_of(name)
    new_figure()  # no use computing for minutes what cannot be drawn
    folder = Path(out)
    store = ResultStore(folder / "cells.jsonl")
    results = sweep(cells_of(name, chosen), store, jobs=jobs, dask=dask, watch=watch)
    findings = tuple(experiment.analyse(chosen, results) for experiment in experiments)
    pictures = _write_pictures(findings, folder)
    report = folder / "report.html"
    report.write_text(html_report(chosen, findings, pictures), encoding="utf-8")
    tables = _write_tables(findings, folder)
    images = [path.with_suffix(suffix) for path in pictures.values() for suffix in (".png", ".svg")]
    return Reproduction(findings, report, (report, *tables, *images))


def _write_tables(findings: Sequence[Finding], folder: Path) -> list[Path]:
    written = []
    for finding in findings:
        for name, rows in finding.data.items():
            path = folder / f"{name}.csv"
            path.write_text(as_csv(rows), encoding="utf-8", newline="")
            written.append(path)
    return written


def _write_pictures(findings: Sequence[Finding], folder: Path) -> dict[str, Path]:
    """PNG and SVG of every figure; the SVG's path by name."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {}
    for finding in findings:
        for name, figure in finding.figures.items():
            save(figure, folder / f"{name}.png")
            figure.set_layout_engine(None)  # laid out once: it takes as long as drawing
            pictures[name] = save(figure, folder / f"{name}.svg")
    return pictures

"""From settings to files: sweep, analyse, write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edgewise.base.choice import pick
from edgewise.plots.figures import new_figure, save
from edgewise.reproduction.experiments.beyond import Beyond
from edgewise.reproduction.experiments.fig1_dimension import FIG1_DIMENSION
from edgewise.reproduction.experiments.fig1_edges import FIG1_EDGES
from edgewise.reproduction.experiments.fig2 import Fig2
from edgewise.reproduction.experiments.table1 import Table1
from edgewise.reproduction.outcome import Experiment, Outcome
from edgewise.reproduction.report import html_report
from edgewise.reproduction.settings import Settings
from edgewise.reproduction.sweep.cell import Cell
from edgewise.reproduction.sweep.frame import as_csv
from edgewise.reproduction.sweep.running import Watcher, sweep
from edgewise.reproduction.sweep.store import ResultStore
from edgewise.writing import write_text

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (FIG1_EDGES, FIG1_DIMENSION, Table1(), Fig2(), Beyond())
}


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What was found, and the files that show it."""

    outcomes: tuple[Outcome, ...]
    report: Path
    files: tuple[Path, ...]


def experiments_of(name: str) -> tuple[Experiment, ...]:
    """The experiment of that name, or ``all`` of them."""
    alone = {known: (experiment,) for known, experiment in EXPERIMENTS.items()}
    return pick("experiment", name, {**alone, "all": tuple(EXPERIMENTS.values())})


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
    are those of :func:`~edgewise.reproduction.sweep.running.sweep`.
    """
    chosen = settings or Settings()
    experiments = experiments_of(name)
    new_figure()  # no use computing for minutes what cannot be drawn
    folder = Path(out)
    store = ResultStore(folder / "cells.jsonl")
    results = sweep(cells_of(name, chosen), store, jobs=jobs, dask=dask, watch=watch)
    outcomes = tuple(experiment.analyse(chosen, results) for experiment in experiments)
    pictures = _write_pictures(outcomes, folder)
    report = folder / "report.html"
    write_text(report, html_report(chosen, outcomes, pictures))
    tables = _write_tables(outcomes, folder)
    images = [path.with_suffix(suffix) for path in pictures.values() for suffix in (".png", ".svg")]
    return Reproduction(outcomes, report, (report, *tables, *images))


def _write_tables(outcomes: Sequence[Outcome], folder: Path) -> list[Path]:
    written = []
    for outcome in outcomes:
        for name, rows in outcome.data.items():
            path = folder / f"{name}.csv"
            write_text(path, as_csv(rows))
            written.append(path)
    return written


def _write_pictures(outcomes: Sequence[Outcome], folder: Path) -> dict[str, Path]:
    """PNG and SVG of every figure; the SVG's path by name."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {}
    for outcome in outcomes:
        for name, figure in outcome.figures.items():
            save(figure, folder / f"{name}.png")
            figure.set_layout_engine(None)  # laid out once: it takes as long as drawing
            pictures[name] = save(figure, folder / f"{name}.svg")
    return pictures

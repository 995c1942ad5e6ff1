import sys
from collections.abc import Iterator
from pathlib import Path

import distributed
import pytest

from edgewise.errors import InvalidArgument, MissingExtra
from edgewise.reproduction import Settings, cells_of, reproduce
from edgewise.reproduction.settings import EASY
from edgewise.reproduction.sweep import running as sweep_module
from edgewise.reproduction.sweep.cell import Cell
from edgewise.reproduction.sweep.frame import as_csv, table_of
from edgewise.reproduction.sweep.points import RoundsPoint
from edgewise.reproduction.sweep.running import sweep
from edgewise.reproduction.sweep.store import ResultStore

SMALL = Settings(
    quick=True, repetitions=12, omegas=(EASY,), methods=("mixture",), graphs=("star", "circle")
)
NAME = "fig1-edges"


def csv_of(folder: Path, *, jobs: int = 1, dask: str | None = None) -> str:
    """The tidy table, without the pictures."""
    cells = cells_of(NAME, SMALL)
    results = sweep(cells, ResultStore(folder / "cells.jsonl"), jobs=jobs, dask=dask)
    return as_csv(table_of(cells, results))


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".jsonl"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an uninterrupted run."""
    folder = tmp_path_factory.mktemp("whole")
    reproduce(NAME, SMALL, out=folder)
    return folder


@pytest.fixture(scope="module")
def expected(whole: Path) -> str:
    return (whole / f"{NAME}.csv").read_text()


def test_an_interrupted_run_continues(tmp_path: Path, whole: Path) -> None:
    total = len(cells_of(NAME, SMALL))
    finished: list[Cell] = []

    def pull_the_plug(cell: Cell) -> None:
        finished.append(cell)
        if len(finished) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(NAME, SMALL, out=tmp_path, watch=pull_the_plug)
    store = tmp_path / "cells.jsonl"
    assert len(store.read_text().splitlines()) == 4
    reproduce(NAME, SMALL, out=tmp_path)
    assert len(store.read_text().splitlines()) == total
    assert written(tmp_path) == written(whole)


@pytest.mark.parametrize("torn", [1, 40, -1])
def test_a_torn_last_line_is_computed_again(
    tmp_path: Path, whole: Path, expected: str, torn: int
) -> None:
    lines = (whole / "cells.jsonl").read_bytes().splitlines(keepends=True)
    store = tmp_path / "cells.jsonl"
    store.write_bytes(b"".join(lines[:3]) + lines[3][:torn])
    found = ResultStore(store).finished(cells_of(NAME, SMALL))
    assert len(found) == (4 if torn == -1 else 3)  # only the newline missing: the line is whole
    assert csv_of(tmp_path) == expected
    assert len(ResultStore(store).finished(cells_of(NAME, SMALL))) == len(lines)


def test_results_of_other_code_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = Cell(RoundsPoint(1.5, "star", 30, 2, "mixture", 0.05), 0, 1, 0)
    store = ResultStore(tmp_path / "cells.jsonl")
    store.append(cell, [{"rounds": 1}])
    assert store.finished([cell]) == {cell.key: [{"rounds": 1}]}
    monkeypatch.setattr("edgewise.reproduction.sweep.store.code_version", lambda: "another")
    assert store.finished([cell]) == {}


def test_equal_cells_are_computed_once(tmp_path: Path) -> None:
    cell = Cell(RoundsPoint(1.5, "star", 30, 2, "mixture", 0.05), 0, 1, 0)
    seen: list[Cell] = []
    sweep([cell, cell], ResultStore(tmp_path / "cells.jsonl"), watch=seen.append)
    assert seen == [cell]


def test_two_processes_give_the_same_table(tmp_path: Path, expected: str) -> None:
    assert csv_of(tmp_path, jobs=2) == expected


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    with distributed.LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


def test_a_dask_cluster_of_two_processes_gives_the_same_table(
    tmp_path: Path, expected: str, scheduler: str
) -> None:
    assert csv_of(tmp_path, dask=scheduler) == expected


def test_a_dask_worker_with_other_code_is_refused(
    tmp_path: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_module, "code_version", lambda: "another")
    with pytest.raises(InvalidArgument, match="same edgewise on the workers"):
        csv_of(tmp_path, dask=scheduler)


def test_a_missing_scheduler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_module, "_PATIENCE", "1s")
    with pytest.raises(InvalidArgument, match="dask scheduler"):
        csv_of(tmp_path, dask="tcp://127.0.0.1:9")


@pytest.mark.parametrize(("module", "options"), [("joblib", {"jobs": 2}), ("distributed", {})])
def test_missing_extras_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, options: dict[str, int]
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    dask = None if options else "tcp://127.0.0.1:9"
    with pytest.raises(MissingExtra, match=r"pip install 'edgewise\["):
        csv_of(tmp_path, dask=dask, jobs=options.get("jobs", 1))


def test_a_wrong_number_of_jobs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="jobs is 0"):
        csv_of(tmp_path, jobs=0)

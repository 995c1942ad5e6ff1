"""Running the cells of a sweep here, on several cores, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from edgewise.base.extras import required
from edgewise.errors import InvalidArgument
from edgewise.reproduction.sweep.cell import Cell, Row, code_version
from edgewise.reproduction.sweep.store import ResultStore

Finished: TypeAlias = tuple[Cell, list[Row]]
_PATIENCE = "10s"
"""How long to wait for a Dask scheduler."""

Watcher: TypeAlias = Callable[[Cell], None]


def sweep(
    cells: Iterable[Cell],
    store: ResultStore,
    *,
    jobs: int = 1,
    dask: str | None = None,
    watch: Watcher | None = None,
) -> dict[str, list[Row]]:
    """Rows of every cell by key, computing only those that are not in the store.

    Parameters
    ----------
    cells
        What to compute; equal cells are computed once.
    store
        Where finished cells are found and kept.
    jobs
        Processes on this machine (-1: one per core; other than 1 needs ``edgewise[parallel]``).
    dask
        Address of a Dask scheduler to use instead, such as ``tcp://host:8786``; needs
        ``edgewise[dask]``, and on its workers this version of edgewise.
    watch
        Called with every cell as it is finished or found.
    """
    distinct = {cell.key: cell for cell in cells}
    results = store.finished(distinct.values())
    for key in results:
        if watch:
            watch(distinct[key])
    # Longest first: the last cells to finish are short, so no worker waits long for another.
    missing = [cell for key, cell in distinct.items() if key not in results]
    missing.sort(key=lambda cell: (-cell.cost, cell.key))
    for cell, rows in _computed(missing, jobs, dask):
        store.append(cell, rows)
        results[cell.key] = rows
        if watch:
            watch(cell)
    return results


def _computed(cells: Sequence[Cell], jobs: int, dask: str | None) -> Iterator[Finished]:
    if not cells:
        return iter(())
    if dask is not None:
        return _on_dask(cells, dask)
    if jobs == 0 or jobs < -1:
        raise InvalidArgument(f"jobs is {jobs}; pass the number of processes, or -1 for all cores")
    if jobs == 1:
        return (_run(cell) for cell in cells)
    return _on_cores(cells, jobs)


def _run(cell: Cell) -> Finished:
    return cell, cell.run()


def _on_cores(cells: Sequence[Cell], jobs: int) -> Iterator[Finished]:
    joblib = required("joblib", "jobs other than 1 need joblib", "parallel")
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    finished: Iterator[Finished] = parallel(joblib.delayed(_run)(cell) for cell in cells)
    return finished


def _run_checked(cell: Cell, code: str) -> list[Row]:
    if code_version() != code:
        raise InvalidArgument(
            f"a Dask worker runs edgewise {code_version()}, this process {code}; results of "
            "different code are not mixed: install the same edgewise on the workers"
        )
    return cell.run()


def _on_dask(cells: Sequence[Cell], address: str) -> Iterator[Finished]:
    distributed = required("distributed", "a Dask cluster needs distributed", "dask")
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InvalidArgument(
            f"no Dask scheduler answers at {address} ({error}); start one with "
            "`dask scheduler` and `dask worker ADDRESS`, and pass its address"
        ) from error
    with client:
        # priority keeps our order: Dask by itself does not know which cells are long
        futures = {
            client.submit(
                _run_checked, cell, code_version(), priority=-rank, pure=False, key=_task(cell)
            ): cell
            for rank, cell in enumerate(cells)
        }
        for future, rows in distributed.as_completed(futures, loop=client.loop, with_results=True):
            yield futures[future], rows


def _task(cell: Cell) -> str:
    return f"edgewise-{code_version()}-{cell.key}"

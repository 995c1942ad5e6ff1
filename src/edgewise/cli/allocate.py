"""``edgewise allocate``: an arm for every node when the model is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

import edgewise as ew
from edgewise.cli.partitions import allocate_partitions
from edgewise.cli.terminal.choice import one_of
from edgewise.cli.terminal.options import (
    ArmsSource,
    Beta,
    CandidatesFile,
    GraphSource,
    MatrixSource,
    OutputFormat,
    Plot,
    Seed,
)
from edgewise.cli.terminal.plotting import check_plot, save_plot
from edgewise.cli.terminal.shell import Command, Format, Output, emit, note
from edgewise.cli.terminal.sources import (
    arms_from,
    beta_from,
    candidates_from,
    graph_from,
    matrix_from,
)
from edgewise.formats import ArmTable, check_writable, write_rows

if TYPE_CHECKING:
    from edgewise.allocation.instance.search import Progress


_BOUNDS = {"fast": "fast", "tight": "tight", "none": None}
"""How hard to try for a good upper bound."""


_WORTH = 0.01
"""A gap that a tight bound may close for the most part."""
_TIGHT_EDGES = 100_000
"""Edges up to which a tight bound takes no more than minutes."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=Command)(allocate)


def _methods() -> list[str]:
    from edgewise.allocation.allocate import METHODS

    return list(METHODS)


def allocate(
    graph: GraphSource,
    arms: ArmsSource,
    matrix: MatrixSource,
    method: Annotated[
        str, typer.Option(autocompletion=_methods, help="How to search, see above.")
    ] = "auto",
    bound: Annotated[
        str | None,
        one_of("effort for the bound", _BOUNDS, text="Effort for the upper bound."),
    ] = "fast",
    beta: Beta = None,
    candidates: CandidatesFile = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds to spend at most.", show_default="none")
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|local",
            help="GRAPH is a folder of Parquet partitions: work there, on a Dask cluster.",
        ),
    ] = None,
    relabel: Annotated[
        bool,
        typer.Option("--relabel", help="With --dask: Nodes have any ids, numbers or texts."),
    ] = False,
    seed: Seed = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Also write the node table here.")
    ] = None,
    plot: Plot = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    r"""Give every node an arm, the total reward as large as possible.

    The model is known: the reward of an observed direction (i, j) is x_i' M x_j, plus x_i' beta
    with --beta, times the weight of the edge. The answer comes with an upper bound that no
    allocation can exceed; gap is the distance to it: 0 proved optimal, 1 no better than the worst.

    --method is auto (optimal at once where that is easy, else the best of several searches),
    bipartite (Algorithm 1 of the paper), two-arm, greedy, local-search, anneal, exact (needs
    edgewise[exact] where dynamic programming does not do), or brute-force (very small problems).

    Examples:
      $ edgewise allocate examples/data/graph.csv examples/data/arms.csv examples/data/matrix.csv
      $ edgewise allocate examples/data/wakes.csv examples/data/yaw.csv \
          examples/data/wake-matrices.csv --candidates examples/data/service-road.csv --out plan.csv

    With --dask a network may be larger than this machine: GRAPH is a folder with one Parquet file
    per partition (source, target, and if wanted kind, weight; nodes numbered from 0, or --relabel),
    prepared once in its subfolder _edgewise; --method is then auto, bipartite, two-arm, greedy,
    best-response or anneal, and --out writes the joint arm, a line per node.

    Output: one row per node; with --dask the facts alone. Exit code 0; 2 wrong input.
    """
    check_plot(plot)
    if dask is not None:
        unused = {"--candidates": candidates, "--time-limit": time_limit, "--plot": plot}
        allocate_partitions(
            graph, arms, matrix, beta, dask, relabel, unused, method, bound, seed, out, output
        )
        return
    if out is not None:
        check_writable(out)
    network, table = graph_from(graph), arms_from(arms)
    known = matrix_from(matrix, network, table)
    with _progress() as progress:
        found = ew.allocate(
            network,
            table.arms,
            known,
            method=method,
            bound=bound,
            beta=beta_from(beta, network, table),
            candidates=candidates_from(candidates, network, table),
            rng=np.random.default_rng(seed),
            time_limit=time_limit,
            progress=progress,
        )
    answer = _answer(found, network, table)
    emit(answer, output)
    _explain_gap(found, bound, len(network.edges))
    if out is not None:
        write_rows(out, answer.columns, answer.rows)
        note(f"node table in {out}")
    if plot is not None:
        _draw(found, network, table, plot)


@contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """A line on stderr, if that is a terminal, that says where the search stands."""
    from rich.console import Console

    with Console(stderr=True, highlight=False).status("searching") as status:
        yield lambda now: status.update(
            f"{now.stage}: {now.value:.6g} of at most {now.upper_bound:.6g}, {now.seconds:.0f} s"
        )


def _explain_gap(found: ew.Allocation, bound: str | None, edges: int) -> None:
    """What the gap is, where it is printed, and whether a better bound is worth its time."""
    if found.gap == 0.0:
        return
    note(
        f"gap {found.gap:.3g} = (upper bound - value) / (upper bound - the least possible): "
        "0 is proved optimal, 1 no better than the worst"
    )
    if bound != "tight" and found.gap >= _WORTH and edges <= _TIGHT_EDGES:
        note("--bound tight may prove much more; it takes seconds to minutes here")


def _answer(found: ew.Allocation, graph: ew.Graph, table: ArmTable) -> Output:
    facts = {
        "value": found.value,
        "upper_bound": found.upper_bound,
        "gap": found.gap,
        "proved_optimal": found.proved_optimal,
        "method": found.method,
        "bound": found.bound,
    }
    rows = [
        (node, table.labels[arm], degree)
        for node, arm, degree in zip(
            graph.labels, found.arms.tolist(), graph.degrees.tolist(), strict=True
        )
    ]
    return Output(facts, "nodes", ("node", "arm", "degree"), rows)


def _draw(found: ew.Allocation, graph: ew.Graph, table: ArmTable, path: Path) -> None:
    from edgewise.plots import figure_graph, graph_data

    title = f"reward {found.value:.4g}, at most {found.upper_bound:.4g}"
    data = graph_data(graph, found.arms, arm_labels=table.labels, title=title)
    save_plot(figure_graph(data), path)

"""``edgewise identify``: rounds on a network in Parquet partitions, live or simulated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import edgewise as ew
from edgewise.cli.partitions import PREPARED, prepared, write_plan
from edgewise.cli.terminal.options import ArmsSource, Delta, Noise, OutputFormat, Seed
from edgewise.cli.terminal.shell import UNCERTIFIED, Command, Format, Output, emit, note
from edgewise.cli.terminal.sources import arms_from, matrix_from
from edgewise.errors import InvalidArgument
from edgewise.formats import ArmTable

if TYPE_CHECKING:
    from edgewise.cluster import PartitionedGraph, PartitionedLearner
    from edgewise.core.report import Report


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=Command)(identify)


def identify(
    edges: Annotated[
        Path,
        typer.Argument(
            metavar="EDGES",
            show_default=False,
            help="Folder with one Parquet file or folder per partition: columns source, target "
            "(nodes numbered from 0, or --relabel) and, if wanted, kind, weight.",
        ),
    ],
    arms: ArmsSource,
    measured: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where measurements arrive, a folder per round."),
    ] = None,
    deploy: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where joint arms are written, a folder per round."),
    ] = None,
    matrix: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Simulate the network instead: the true matrix."),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Holds the run after every closed round; the same command goes on from it.",
            show_default="DEPLOY/run.json",
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|local", help="Dask cluster to work on.", show_default="this process"
        ),
    ] = None,
    prepared_in: Annotated[
        Path | None,
        typer.Option(
            "--prepared",
            metavar="FOLDER",
            help="Where to keep what is checked and sorted.",
            show_default="EDGES/_edgewise",
        ),
    ] = None,
    directed: Annotated[
        bool, typer.Option("--directed", help="Rewards from source to target only.")
    ] = False,
    relabel: Annotated[
        bool,
        typer.Option("--relabel", help="Nodes have any ids, numbers or texts."),
    ] = False,
    strategy: Annotated[str, typer.Option(help="contrast or g-optimal.")] = "contrast",
    stopping: Annotated[
        str | None,
        typer.Option(
            help="anytime, mixture, union or rivalwise.", show_default="the strategy's own"
        ),
    ] = None,
    delta: Delta = 0.05,
    epsilon: Annotated[
        float | None, typer.Option(help="Tolerated loss per edge.", show_default="0")
    ] = None,
    noise: Noise = 1.0,
    max_rounds: Annotated[int, typer.Option(min=1, help="Round budget.")] = 1_000_000,
    seed: Seed = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Also write the joint arm here.")
    ] = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    r"""Find the best pair of arms of a network in Parquet partitions, and allocate it.

    Partitions may be larger than this machine: rewards are summed where they lie, and the answer
    is the same to the last bit for any number of workers.

    Live: --deploy gets the joint arm of the next round as round-00001/arms-*.parquet (node, arm);
    deploy it, deliver a file per partition into --measured as round-00001/PARTITION.parquet (column
    reward, a number per arc in the partition's order), and give the same command again. With
    --matrix the network is simulated, and the run goes through. What is stored in --state is the
    last closed round: after a lost cluster the same command goes on from there.

    Examples:
      $ edgewise identify examples/data/partitions examples/data/arms.csv \
          --matrix examples/data/matrix.csv --prepared prepared
      $ edgewise identify examples/data/partitions examples/data/arms.csv --prepared prepared \
          --deploy deploy --measured measured

    Output: what was found, or which round is waiting for measurements. Progress goes to stderr.
    Exit code 0; 2 wrong input; 3 the budget was spent without a certificate.
    """
    live = _live(measured, deploy, matrix)
    from edgewise import cluster

    table = arms_from(arms)
    with cluster.working_on(dask) as engine:
        client = getattr(engine, "client", None)
        place = edges / PREPARED if prepared_in is None else prepared_in
        graph = prepared(edges, place, client, directed=directed, relabel=relabel)
        environment = _environment(graph, table, measured, matrix, noise)
        problem = ew.Problem(graph, table.arms, noise=noise, arm_labels=table.labels)
        kept = deploy / "run.json" if state is None and deploy is not None else state
        learner = _begun(
            problem,
            kept,
            dask=engine,
            delta=delta,
            epsilon=epsilon,
            strategy=strategy,
            stopping=stopping,
            rng=seed,
        )
        _proceed(learner, environment, max_rounds, kept, live=live)
        if learner.ending(max_rounds=max_rounds) is ew.Ending.RUNNING:
            assert deploy is not None  # a simulation goes on until it is over
            ticket = learner.ask(deploy)
            waiting = {"round": ticket.round, "deploy": ticket.folder, "measured": str(measured)}
            note(f"round {ticket.round} is waiting: deploy it, deliver its rewards, run this again")
            emit(Output(waiting, "rounds", (), []), output)
            return
        report = learner.report(max_rounds=max_rounds)
    emit(_answer(report, graph, table), output)
    if out is not None and report.allocation is not None:
        write_plan(out, graph, report.allocation.arms, table.labels)
    if not report.certified:
        raise typer.Exit(UNCERTIFIED)


def _live(measured: Path | None, deploy: Path | None, matrix: Path | None) -> bool:
    """Whether rewards come from files; InvalidArgument if that is not clear."""
    given = measured is not None, deploy is not None
    if given == (matrix is None, matrix is None):
        return matrix is None
    raise InvalidArgument(
        "where rewards come from is not clear; give --deploy and --measured for a live network, or "
        "--matrix to simulate one"
    )


def _environment(
    graph: PartitionedGraph,
    table: ArmTable,
    measured: Path | None,
    matrix: Path | None,
    noise: float,
) -> Any:
    from edgewise.allocation.instance.tables import tables_of
    from edgewise.cluster import MeasuredRewards, SimulatedRewards

    if matrix is None:
        return MeasuredRewards(str(measured))
    known = matrix_from(matrix, graph, table)
    return SimulatedRewards(tables_of(table.arms, known, None, n_kinds=graph.n_kinds), noise)


def _begun(problem: ew.Problem, kept: Path | None, **options: Any) -> PartitionedLearner:
    from edgewise.cluster.identification.running import begin

    learner = begin(problem, kept, **options)
    if learner.rounds:
        note(f"{kept}: going on after round {learner.rounds}")
    return learner


def _proceed(
    learner: PartitionedLearner, environment: Any, max_rounds: int, kept: Path | None, *, live: bool
) -> None:
    """Rounds until it is over, or until measurements are missing."""
    from edgewise.cluster.identification.running import proceed

    names = learner.graph.summary.names

    def delivered(number: int) -> bool:
        return all(environment.path(name, number).exists() for name in names)

    ready = delivered if live else None
    proceed(learner, environment, max_rounds, kept, progress=True, ready=ready)


def _answer(report: Report, graph: PartitionedGraph, table: ArmTable) -> Output:
    facts: dict[str, Any] = {
        "n_nodes": graph.n_nodes,
        "n_arcs": graph.n_arcs,
        "rounds": report.rounds,
        "certified": report.certified,
        "progress": report.verdict.progress,
    }
    if report.allocation is not None:
        facts |= {"value": report.allocation.value, "upper_bound": report.allocation.upper_bound}
    rows = [
        (kind, table.labels[pair[0]], table.labels[pair[1]])
        for kind, pair in enumerate(report.best_pairs or ())
    ]
    return Output(facts, "pairs", ("kind", "first", "second"), rows)

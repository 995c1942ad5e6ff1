"""Commands of ``edgewise``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

import edgewise as ew
from edgewise.cli.demo import Comparison, compare

UNCERTIFIED = 3
"""Exit code when a run ended without a certificate."""

app = typer.Typer(
    help="Find the best joint configuration of a network, with a proof, in few deployments.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


class Family(StrEnum):
    """Graph families of the paper."""

    CIRCLE = "circle"
    STAR = "star"
    COMPLETE = "complete"
    MATCHING = "matching"


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(ew.__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Find the best joint configuration of a network, with a proof, in few deployments."""


@app.command()
def demo(
    graph: Annotated[Family, typer.Option(help="Graph family.")] = Family.CIRCLE,
    edges: Annotated[int, typer.Option(help="Observed directions per round, the paper's m.")] = 156,
    dimension: Annotated[int, typer.Option(min=2, help="Length of an arm, d.")] = 5,
    omega: Annotated[
        float, typer.Option(help="Angle of the rival arm: 0.1 is hard, 1.5708 easy.")
    ] = 0.1,
    delta: Annotated[float, typer.Option(help="Largest probability of a wrong answer.")] = 0.05,
    max_rounds: Annotated[int, typer.Option(min=1, help="Round budget.")] = 100_000,
    seed: Annotated[int, typer.Option(help="Seed of the simulated run.")] = 0,
) -> None:
    """Identify the best joint arm of the paper's own instance, live.

    Each node of the graph gets one of d + 1 arms; the reward of an edge is x' M x' plus noise of
    deviation 1. The true M is hidden from the learner and used only to grade the answer.

    Example: edgewise demo --graph star --omega 0.5

    Exit code: 0 certified, 3 round budget spent without a certificate, 2 wrong input.
    """
    out, progress = Console(highlight=False), Console(stderr=True, highlight=False)
    try:
        network = getattr(ew.Graph, graph.value)(n_edges=edges)
        arms, matrix = ew.simulation.paper_instance(dimension, omega)
        problem = ew.Problem(network, arms, noise=1.0)
        progress.print(
            f"{graph.value} of {network.n_nodes} nodes, {network.n_edges} rewards per round, "
            f"{problem.n_arms} arms in R^{dimension}, omega = {omega:g}, delta = {delta:g}"
        )
        environment = ew.BilinearEnvironment(problem, matrix, rng=seed)
        report = ew.identify(
            problem, environment, delta=delta, max_rounds=max_rounds, rng=seed + 1, progress=True
        )
        comparison = compare(report, matrix, seed=seed)
    except ew.EdgewiseError as error:
        progress.print(f"edgewise: {error}")
        raise typer.Exit(2) from None
    out.print(str(report), soft_wrap=True)
    _show(out, comparison)
    raise typer.Exit(0 if report.certified else UNCERTIFIED)


def _show(out: Console, comparison: Comparison) -> None:
    joint = Table(title="True global reward per round", title_justify="left")
    joint.add_column("joint arm")
    joint.add_column("reward", justify="right")
    joint.add_column("of the optimum's upper bound", justify="right")
    for name, value in comparison.rewards:
        joint.add_row(name, f"{value:.2f}", f"{value / comparison.upper_bound:.1%}")
    rounds = Table(title="Rounds at the same confidence", title_justify="left")
    rounds.add_column("method")
    rounds.add_column("rounds", justify="right")
    for name, value in comparison.rounds:
        rounds.add_row(name, f"{value:,.1f}".removesuffix(".0"))
    out.print()
    out.print(joint)
    out.print()
    out.print(rounds)

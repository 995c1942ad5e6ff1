"""``edgewise demo paper``: the whole method on the paper's instance, live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import edgewise as ew
from edgewise.cli.terminal.choice import one_of
from edgewise.cli.terminal.options import Delta, OutputFormat, Seed
from edgewise.cli.terminal.shell import UNCERTIFIED, Format, Output, emit, note
from edgewise.network.families import FAMILIES, graph_of

if TYPE_CHECKING:
    from edgewise.cli.grading import Grades


def paper(
    graph: Annotated[
        str,
        one_of("graph family", {name: name for name in FAMILIES}, text="Graph family."),
    ] = "circle",
    edges: Annotated[int, typer.Option(help="Observed directions per round, the paper's m.")] = 156,
    dimension: Annotated[int, typer.Option(help="Length of an arm, d.")] = 5,
    omega: Annotated[
        float, typer.Option(help="Angle of the rival arm: 0.1 is hard, 1.5708 easy.")
    ] = 0.1,
    strategy: Annotated[
        str, typer.Option(help="adaptive, contrast, g-optimal, optimistic, paper or thompson.")
    ] = "adaptive",
    delta: Delta = 0.05,
    max_rounds: Annotated[int, typer.Option(help="Round budget.")] = 100_000,
    seed: Seed = 0,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Identify the best joint arm of the paper's own instance, live.

    Each node of the graph gets one of d + 1 arms; the reward of an edge is x' M x' plus noise of
    deviation 1. The true M is hidden from the learner and used only to grade the answer, beside
    simple alternatives and beside the paper's own method.

    Example:
      $ edgewise demo paper --graph star --omega 0.5

    Exit code 0; 2 wrong input; 3 round budget spent without a certificate.
    """
    from edgewise.cli.grading import graded  # loads the compiler, which help does not need

    network = graph_of(graph, edges)
    arms, matrix = ew.simulation.paper_instance(dimension, omega)
    problem = ew.Problem(network, arms, noise=1.0)
    note(
        f"{graph} of {network.n_nodes} nodes, {network.n_arcs} rewards per round, "
        f"{problem.n_arms} arms in R^{dimension}, omega = {omega:g}, delta = {delta:g}"
    )
    environment = ew.BilinearEnvironment(problem, matrix, rng=seed)
    report = ew.identify(
        problem,
        environment,
        delta=delta,
        strategy=strategy,
        max_rounds=max_rounds,
        rng=seed + 1,
        progress=True,
    )
    emit(_answer(report, graded(report, matrix, seed=seed)), output)
    raise typer.Exit(0 if report.certified else UNCERTIFIED)


def _answer(report: ew.Report, grades: Grades) -> Output:
    facts = {
        "rounds": report.rounds,
        "certified": report.certified,
        "delta": report.delta,
        "best_pairs": [list(pair) for pair in report.best_pairs],
        "guarantee": report.guarantee,
    }
    rewards = [
        ("true global reward", name, value, f"{value / grades.upper_bound:.1%} of the bound")
        for name, value in grades.rewards
    ]
    rounds = [
        ("rounds", name, value, f"{value / report.rounds:.3g} x edgewise")
        for name, value in grades.rounds
    ]
    columns = ("quantity", "method", "value", "compared")
    return Output(facts, "comparison", columns, [*rewards, *rounds], text=str(report))

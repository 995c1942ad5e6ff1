"""``edgewise theory``: the paper's numbers for a problem, and what each of them means."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

import edgewise as ew
from edgewise.base.arrays import Array
from edgewise.cli.terminal.options import ArmsSource, Delta, GraphSource, Noise, OutputFormat
from edgewise.cli.terminal.shell import Command, Format, Output, emit
from edgewise.cli.terminal.sources import arms_from, graph_from, matrix_from

if TYPE_CHECKING:
    from edgewise.theory.convergence import Form


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=Command)(theory)


def theory(
    graph: GraphSource,
    arms: ArmsSource,
    matrix: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Known M (or paper:d:omega): adds rounds needed."),
    ] = None,
    delta: Delta = 0.05,
    noise: Noise = 1.0,
    rounds: Annotated[float, typer.Option(help="Rounds t at which alpha is evaluated.")] = 1000.0,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Compute the numbers of the paper's theorems, and explain them.

    How well random draws imitate the optimal design on this graph (variance, alpha, burn-in)
    and, given the matrix, how many rounds the paper's method needs and how many any method
    needs. The theorems hold for undirected, unweighted graphs with one kind of edges.

    Examples:
      $ edgewise theory star:156 paper:5:0.1 --matrix paper:5:0.1
      $ edgewise theory examples/data/graph.csv examples/data/arms.csv --rounds 50 --format json

    Output: one row per number. Exit code 0; 2 wrong input.
    """
    network, table = graph_from(graph), arms_from(arms)
    design = ew.g_optimal(table.arms)
    numbers = _of_the_arms(network, table.arms, design, delta)
    numbers += _of_the_draws(network, table.arms, design, delta, rounds)
    if matrix is not None:
        known = matrix_from(matrix, network, table)
        numbers += _of_the_model(network, table.arms, known, delta, noise)
    facts = {"delta": delta, "noise": noise, "rounds": rounds}
    emit(Output(facts, "numbers", ("quantity", "value", "meaning"), numbers), output)


class Number(NamedTuple):
    """A number with its name and one line on what it means."""

    quantity: str
    value: float
    meaning: str


_ALPHA: dict[Form, str] = {
    "leading": "relative loss of random draws against the optimal design after these rounds: the "
    "paper's main term, with its cruder constants",
    "non-asymptotic": "the same as a bound, as the paper's proof gives it; inf: too few rounds",
    "whitened": "the same as a bound, ours, far smaller; inf: too few rounds",
}


def _of_the_arms(graph: ew.Graph, arms: Array, design: ew.Design, delta: float) -> list[Number]:
    constants = ew.theory.constants(arms)
    t0 = ew.theory.burn_in(arms, delta=delta)
    return [
        Number("m", graph.n_arcs, "rewards per round: an edge counts in both directions"),
        Number(
            "worst_variance",
            design.worst_variance,
            "of the best design of a node, at least d; its square is that of an edge, at least d^2",
        ),
        Number("L", constants.edge_arm_norm, "largest squared length of a pair of arms"),
        Number("nu_min", constants.nu_min, "what uniform draws tell of the least known direction"),
        Number("burn_in", t0, "rounds t0 from which Theorem 4.2 speaks"),
    ]


def _of_the_draws(
    graph: ew.Graph, arms: Array, design: ew.Design, delta: float, rounds: float
) -> list[Number]:
    law = design.weights
    exact = ew.theory.variance(graph, arms, law)
    printed = ew.theory.paper_decomposition(graph, arms, law)
    numbers = [
        Number(
            "degree_excess",
            exact.degree_excess,
            "ordered pairs of edges that meet in a node: all that matters of the graph's shape",
        ),
        Number("variance", exact.norm, "how much the information of a round varies, exact"),
        Number(
            "paper_decomposition",
            printed.norm,
            "the same as printed in the paper, which omits terms: too small where edges meet",
        ),
    ]
    for form, meaning in _ALPHA.items():
        value = ew.theory.alpha(graph, arms, rounds, delta=delta, weights=law, form=form)
        numbers.append(Number(f"alpha_{form.replace('-', '_')}", value, meaning))
    return numbers


def _of_the_model(
    graph: ew.Graph, arms: Array, matrix: Array, delta: float, noise: float
) -> list[Number]:
    needed = ew.theory.sample_complexity(graph, arms, matrix, noise=noise, delta=delta)
    bound = ew.theory.lower_bound(graph, arms, matrix, noise=noise, delta=delta)
    printed = ew.theory.lower_bound(graph, arms, matrix, noise=noise, delta=delta, nats="printed")
    here = ew.theory.lower_bound(
        graph, arms, matrix, noise=noise, delta=delta, designs="realisable"
    )
    ordered = ew.theory.lower_bound(graph, arms, matrix, noise=noise, delta=delta, model="ordered")
    return [
        Number(
            "sample_complexity",
            needed,
            "rounds after which the paper's rule has stopped, with the optimal design (alpha = 0)",
        ),
        Number(
            "rho_star",
            bound.rho,
            "difficulty: observations needed per unit of 2 sigma^2 kl(delta, 1 - delta)",
        ),
        Number(
            "rho_independent",
            ew.theory.rho_independent(arms, matrix).value,
            "the same when all nodes draw independently from one law, the best there is",
        ),
        Number(
            "rho_realisable",
            here.rho,
            "the same when joint arms of this graph are mixed; equals rho_star if it is bipartite",
        ),
        Number("lower_bound", bound.rounds, "expected rounds that no method can beat"),
        Number(
            "lower_bound_realisable",
            here.rounds,
            "the same for this graph: what its joint arms cannot show is taken into account",
        ),
        Number(
            "lower_bound_printed",
            printed.rounds,
            "lower_bound as the paper prints it, with log(1/(2.4 delta)) for kl(delta, 1 - delta)",
        ),
        Number(
            "lower_bound_ordered",
            ordered.rounds,
            "the same in the paper's model of ordered pairs; inf: the best pair is tied there",
        ),
    ]

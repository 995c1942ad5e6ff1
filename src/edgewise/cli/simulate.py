"""``edgewise simulate``: how many rounds would it take, and how often would it be wrong?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

import edgewise as ew
from edgewise.cli.terminal.limits import (
    BaselineSource,
    Changed,
    LargestLoss,
    Steps,
    SwitchingCost,
    Within,
    WorstLoss,
    baseline_from,
    limited,
)
from edgewise.cli.terminal.options import (
    ArmsSource,
    Beta,
    CandidatesFile,
    Delta,
    GraphSource,
    MatrixSource,
    Noise,
    OutputFormat,
    Plot,
    Project,
    Seed,
)
from edgewise.cli.terminal.plotting import check_plot, save_plot
from edgewise.cli.terminal.shell import UNCERTIFIED, Command, Format, Output, emit
from edgewise.cli.terminal.sources import (
    arms_from,
    beta_from,
    candidates_from,
    graph_from,
    matrix_from,
)

if TYPE_CHECKING:
    from edgewise.simulation.replicate import Replications


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=Command)(simulate)


def _strategies() -> list[str]:
    from edgewise.core.strategies import STRATEGIES

    return list(STRATEGIES)


def _rules() -> list[str]:
    from edgewise.core.stopping import RULES

    return list(RULES)


def simulate(
    graph: GraphSource,
    arms: ArmsSource,
    matrix: MatrixSource,
    strategy: Annotated[
        str,
        typer.Option(
            autocompletion=_strategies,
            help="adaptive, contrast, g-optimal, optimistic, paper or thompson.",
        ),
    ] = "adaptive",
    stopping: Annotated[
        str | None,
        typer.Option(
            autocompletion=_rules,
            help="anytime, mixture, union, paper or rivalwise.",
            show_default="the strategy's own",
        ),
    ] = None,
    delta: Delta = 0.05,
    target: Annotated[
        str | None,
        typer.Option(
            help="pair (the best pair of arms) or allocation (the global reward).",
            show_default="pair in the paper's setting, else allocation",
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="Tolerated loss: per edge for a pair, of the global reward for an allocation.",
            show_default="0; 1 % of the range of global rewards",
        ),
    ] = None,
    noise: Noise = 1.0,
    estimate_noise: Annotated[
        bool, typer.Option("--estimate-noise", help="Do not tell the learner the noise.")
    ] = False,
    beta: Beta = None,
    candidates: CandidatesFile = None,
    baseline: BaselineSource = None,
    changed: Changed = None,
    steps: Steps = None,
    within: Within = None,
    switching_cost: SwitchingCost = None,
    largest_loss: LargestLoss = None,
    worst_loss: WorstLoss = None,
    project: Project = False,
    repetitions: Annotated[int, typer.Option("--repetitions", "-n", help="Runs.")] = 100,
    max_rounds: Annotated[int, typer.Option(help="Round budget of a run.")] = 1_000_000,
    seed: Seed = 0,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = 1,
    plot: Plot = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    r"""Run the method on a known model, count rounds and errors.

    Every run learns the model from simulated noisy rewards until its answer is certified or
    --max-rounds is reached. An error is a certified answer that is not as good as certified:
    a pair of arms that is not the best (within --epsilon), or a joint arm further from the best
    than its regret bound; --delta limits how often that happens.

    Examples:
      $ edgewise simulate examples/data/graph.csv examples/data/arms.csv \
          examples/data/matrix.csv --repetitions 50 --plot rounds.png
      $ edgewise simulate circle:156 paper:5:1.5708 paper:5:1.5708 --strategy paper -n 5 -f csv
      $ edgewise simulate circle:24 paper:3:1.5 paper:3:1.5 --baseline 0 --changed 2 -n 20

    Output: a summary; with --format csv one row per run, with json both. The same seed gives the
    same runs whatever --jobs. Exit code 0; 2 wrong input; 3 some run was not certified.
    """
    check_plot(plot)
    network, table = graph_from(graph), arms_from(arms)
    problem = ew.Problem(
        network,
        table.arms,
        noise="estimate" if estimate_noise else noise,
        node_term=beta is not None,
        candidates=candidates_from(candidates, network, table),
        project=project,
        arm_labels=table.labels,
        baseline=baseline_from(baseline, network, table),
    )
    options = {
        "matrix": matrix_from(matrix, network, table),
        "strategy": limited(
            strategy,
            changed=changed,
            steps=steps,
            within=within,
            switching_cost=switching_cost,
            largest_loss=largest_loss,
            worst_loss=worst_loss,
        ),
        "stopping": stopping,
        "delta": delta,
        "epsilon": epsilon,
        "target": target,
        "noise": noise,
        "beta": beta_from(beta, network, table),
        "max_rounds": max_rounds,
        "jobs": jobs,
    }
    runs = _replicate(problem, repetitions, seed, options)
    emit(_answer(runs, delta), output)
    if plot is not None:
        _draw(runs, plot)
    raise typer.Exit(0 if runs.certified.all() else UNCERTIFIED)


def _replicate(
    problem: ew.Problem, repetitions: int, seed: int, options: dict[str, Any]
) -> Replications:
    """All repetitions, in batches between which the progress bar moves.

    Generators are spawned one after the other from the same parent, so batches change nothing.
    """
    from rich.console import Console
    from rich.progress import Progress

    rng = np.random.default_rng(seed)
    jobs: int = options["jobs"]
    batch = max(jobs, repetitions // 20, (os.cpu_count() or 1) if jobs < 0 else 1)
    console = Console(stderr=True)
    done: list[Replications] = []
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("runs", total=repetitions)
        # At least once, so that the library can refuse a number that is not positive.
        for start in range(0, max(repetitions, 1), batch):
            size = min(batch, repetitions - start)
            done.append(
                ew.simulation.replicate(
                    problem, repetitions=size, rng=rng, progress=False, **options
                )
            )
            progress.advance(task, size)
    return ew.simulation.Replications.joined(done)


def _answer(runs: Replications, delta: float) -> Output:
    facts = {
        "runs": len(runs.rounds),
        "certified": int(runs.certified.sum()),
        "errors": runs.errors,
        "delta": delta,
        "mean_rounds": runs.mean_rounds,
        "median_rounds": float(np.median(runs.rounds)),
        "min_rounds": int(runs.rounds.min()),
        "max_rounds": int(runs.rounds.max()),
    }
    columns = zip(runs.rounds.tolist(), runs.certified.tolist(), runs.correct.tolist(), strict=True)
    rows = [(i, *row) for i, row in enumerate(columns)]
    return Output(facts, "per_run", ("run", "rounds", "certified", "correct"), rows, shown=0)


def _draw(runs: Replications, path: Path) -> None:
    from edgewise.plots import figure_histogram

    save_plot(figure_histogram(runs), path)

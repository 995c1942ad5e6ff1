"""``edgewise study confirm``: is the recommended configuration really better than today's?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from edgewise.base.choice import instead
from edgewise.cli.study.options import StorageUrl, StudyName, find_study
from edgewise.cli.terminal.options import OutputFormat
from edgewise.cli.terminal.plotting import check_plot, save_plot
from edgewise.cli.terminal.shell import UNCERTIFIED, Command, Format, emit, note
from edgewise.errors import InvalidArgument
from edgewise.formats import read_joint_arm

if TYPE_CHECKING:
    from edgewise.base.arrays import Indices
    from edgewise.core.model.problem import Problem
    from edgewise.study import Study


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command(cls=Command)(confirm)


def confirm(
    storage: StorageUrl = None,
    name: StudyName = None,
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Begin a trial against this configuration: node,arm."),
    ] = None,
    baseline_arm: Annotated[
        str | None, typer.Option(metavar="ARM", help="The same, one arm for all nodes.")
    ] = None,
    candidate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="What to compare with it: node,arm.", show_default="recommended"
        ),
    ] = None,
    tournament: Annotated[
        bool,
        typer.Option(
            "--tournament", help="Compare the recommended, the best common and the best seen."
        ),
    ] = False,
    delta: Annotated[float, typer.Option(help="Largest probability of a wrong ending.")] = 0.05,
    margin: Annotated[
        float, typer.Option(help="End also when it is worse by less than this.")
    ] = 0.0,
    width: Annotated[
        float | None, typer.Option(help="End when the interval is this narrow, not before.")
    ] = None,
    max_pairs: Annotated[int, typer.Option(help="End undecided after so many pairs.")] = 100,
    seed: Annotated[int | None, typer.Option(help="Of the coins.", show_default="fresh")] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say how many pairs to expect; begin nothing.")
    ] = False,
    end: Annotated[bool, typer.Option("--end", help="End the running trial by hand.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the difference over the pairs: .svg, .png, .pdf."),
    ] = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Measure whether the recommended configuration is better than the one in use.

    No model is used: both are deployed in pairs, in an order decided by a coin, until the interval
    of their difference decides. With --baseline or --baseline-arm a trial begins. Then ask, tell
    and status serve the trial until it is over: tell --total NUMBER, or all rewards of the round in
    a file; an empty reward is a gap, and the pair is repeated, as after cancel. Without either,
    prints where the trial stands. recommend and report say whether their answer is confirmed,
    unconfirmed or contradicted.

    Examples:
      $ edgewise study confirm --storage sqlite:///farm.db --baseline-arm left --plan
      $ edgewise study confirm --storage sqlite:///farm.db --baseline-arm left --max-pairs 20
      $ edgewise study confirm --storage sqlite:///farm.db

    Output: one row per comparison. Exit code 0; 2 wrong input, and nothing was changed; 3 the trial
    is over and its question is not decided.
    """
    check_plot(plot)
    study = find_study(storage, name)
    begins = baseline is not None or baseline_arm is not None
    if begins:
        arms = _joint_arm(study.problem, "--baseline", baseline, baseline_arm)
        other = None if candidate is None else _read(study.problem, candidate)
        if plan:
            _plan(study, arms, other, delta, output)
            return
        _announce(study, arms, other, delta)
        names = ("recommended", "best common", "best seen") if tournament else None
        study.confirm(
            baseline=arms,
            candidate=other,
            candidates=names,
            delta=delta,
            margin=margin,
            width=width,
            max_pairs=max_pairs,
            rng=seed,
        )
    _show(study, end, plot, output)


def _show(study: Study, end: bool, plot: Path | None, output: str) -> None:
    """Where the trial stands."""
    from edgewise.study.views.outputs import trial_output

    trial = study.trial
    if trial is None:
        raise InvalidArgument(
            "this study has no trial; begin one with --baseline or --baseline-arm"
        )
    if end:
        trial.end()
    report = trial.report()
    emit(trial_output(report), output)
    if plot is not None:
        from edgewise.plots import figure_trial

        save_plot(figure_trial(report), plot)
    if report.is_undecided:
        raise typer.Exit(UNCERTIFIED)


def _plan(study: Study, arms: Indices, other: Indices | None, delta: float, output: str) -> None:
    """How many pairs to expect, and nothing else."""
    from edgewise.study.views.outputs import plan_output

    emit(plan_output(study.pairs_needed(baseline=arms, candidate=other, delta=delta)), output)


def _announce(study: Study, arms: Indices, other: Indices | None, delta: float) -> None:
    """How many pairs to expect, as far as the model can tell."""
    try:
        note(f"expect {study.pairs_needed(baseline=arms, candidate=other, delta=delta)}")
    except InvalidArgument as error:
        if error.argument not in {"difference", "noise"}:
            raise
        note(f"how many pairs to expect is not known: {error}")


def _joint_arm(problem: Problem, option: str, file: Path | None, arm: str | None) -> Indices:
    if file is not None and arm is not None:
        raise InvalidArgument(f"{option} and {option}-arm were both given; give one")
    if file is not None:
        return _read(problem, file)
    import numpy as np

    names = [str(label) for label in problem.arm_labels or range(problem.n_arms)]
    if arm not in names:
        raise InvalidArgument(f"no arm is called {arm!r}; {instead(arm, names)}")
    return np.full(problem.graph.n_nodes, names.index(arm))


def _read(problem: Problem, file: Path) -> Indices:
    arms = problem.arm_labels or range(problem.n_arms)
    return read_joint_arm(file, nodes=problem.graph.labels, arms=arms)

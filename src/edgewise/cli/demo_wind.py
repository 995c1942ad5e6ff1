"""``edgewise demo wind``: the yaw angles of a wind farm, simulated by FLORIS, live."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

import edgewise as ew
from edgewise.cli.terminal.options import OutputFormat, Plot, Seed
from edgewise.cli.terminal.plotting import check_plot, save_plot
from edgewise.cli.terminal.shell import Format, Output, emit, note
from edgewise.errors import InvalidArgument

if TYPE_CHECKING:
    from edgewise.base.arrays import Array
    from edgewise.core.learner import Learner
    from edgewise.core.strategies import Strategy
    from edgewise.integrations.floris import FlorisEnvironment, YawComparison, YawTask


def wind(
    direction: Annotated[
        float, typer.Option(help="Where the wind comes from, degrees clockwise from north.")
    ] = 273.0,
    speed: Annotated[float, typer.Option(help="Wind speed in metres per second.")] = 8.0,
    columns: Annotated[int, typer.Option(min=1, help="Turbines from west to east.")] = 5,
    rows: Annotated[int, typer.Option(min=1, help="Turbines from south to north.")] = 5,
    spacing: Annotated[
        tuple[float, float],
        typer.Option(help="Distance between columns and between rows, in rotor diameters."),
    ] = (7.0, 5.0),
    rounds: Annotated[int, typer.Option(min=1, help="Settings tried.")] = 50,
    noise: Annotated[
        float, typer.Option(help="Deviation of one measured power, in megawatts.")
    ] = 0.1,
    epsilon: Annotated[
        float,
        typer.Option(
            help="Stop early once the answer is certified, within the model, to be at most so "
            "many megawatts below the best."
        ),
    ] = 0.0,
    safe: Annotated[
        float | None,
        typer.Option(
            help="Explore only where the predicted power is at least this fraction of that at "
            "zero yaw, such as 0.95.",
            show_default="no limit",
        ),
    ] = None,
    optimiser: Annotated[
        bool, typer.Option(help="Compare with FLORIS' own optimiser, which takes longest.")
    ] = True,
    seed: Seed = 0,
    plot: Plot = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Find the yaw angles that give a wind farm the most power, live.

    Turbines shade each other; turning one out of the wind costs it power and helps those behind
    it. FLORIS (pip install 'edgewise[wind]') plays the farm: edgewise sees noisy powers only, and
    is graded by the true ones, beside simple rules and FLORIS' own optimiser, which knows
    the wake model.

    Example:
      $ edgewise demo wind --rows 2 --columns 3 --rounds 30 --plot farm.png

    Exit code 0; 2 wrong input.
    """
    from edgewise.integrations.floris import FlorisEnvironment, WindFarm, YawTask, compare
    from edgewise.progress import ProgressLine

    check_plot(plot)
    farm = WindFarm.grid(columns, rows, spacing=spacing, wind_direction=direction, wind_speed=speed)
    task = YawTask.of(farm, noise=noise)
    environment = FlorisEnvironment(task, rng=seed)
    note(
        f"{columns} x {rows} turbines, {speed:g} m/s from {direction:g} degrees, {rounds} rounds, "
        f"noise {noise:g} MW"
    )
    report = ew.identify(
        task.problem,
        environment,
        epsilon=epsilon,
        strategy=_strategy(environment, safe),
        max_rounds=rounds,
        rng=seed + 1,
        progress=ProgressLine(line=lambda learner: _line(learner, environment, rounds)),
    )
    if report.allocation is None:
        raise InvalidArgument(
            f"{rounds} rounds do not show every pair of angles once; allow more --rounds"
        )
    if optimiser:
        note("running FLORIS' own optimiser for comparison")
    comparison = compare(environment, report, optimiser=optimiser, rng=seed)
    emit(_answer(task, report, comparison), output)
    if plot is not None:
        _save_picture(task, environment, comparison, plot)


def _strategy(environment: FlorisEnvironment, safe: float | None) -> Strategy:
    from edgewise.integrations.floris import EXPLORE, safe_exploration

    if safe is None:
        return EXPLORE
    zero = np.zeros(environment.task.farm.n_turbines)
    present = float(environment.simulator.farm_power(zero)[0])
    return safe_exploration(environment.task, present_power=present, fraction=safe)


def _line(learner: Learner, environment: FlorisEnvironment, rounds: int) -> str:
    measured = [deployment.measured.sum() for deployment in environment.record]
    filled = round(24 * learner.rounds / rounds)
    return (
        f"[{'#' * filled}{'.' * (24 - filled)}] round {learner.rounds} of {rounds}  "
        f"farm {measured[-1]:.1f} MW  best so far {max(measured):.1f} MW"
    )


def _answer(task: YawTask, report: ew.Report, comparison: YawComparison) -> Output:
    from edgewise.integrations.floris import explain

    exploration, fit = comparison.exploration, comparison.fit
    spread = report.noise_estimate
    facts = {
        "rounds": report.rounds,
        "power_while_exploring": exploration.mean,
        "lowest_power_while_exploring": exploration.lowest,
        "explained_per_turbine": fit.per_turbine,
        "explained_of_farm": fit.farm,
        "noise_stated": report.problem.stated_noise,
        "spread_measured": None if spread is None else spread.deviation,
        "lack_of_fit_p": None if report.lack_of_fit is None else report.lack_of_fit.p_value,
        "certified": report.certified,
    }
    rows = [
        (row.name, row.power, f"{comparison.gain(row.name):+.2%}", _by_depth(task, row.yaws))
        for row in comparison.settings
    ]
    columns = ("setting", "farm_mw", "gain", "mean yaw by wake depth")
    return Output(facts, "settings", columns, rows, text=explain(report, comparison))


def _by_depth(task: YawTask, yaws: Array) -> str:
    depths = task.wakes.depths
    return " / ".join(f"{yaws[depths == depth].mean():.1f}" for depth in np.unique(depths))


def _save_picture(
    task: YawTask, environment: FlorisEnvironment, comparison: YawComparison, path: Path
) -> None:
    from edgewise.integrations.floris import farm_data
    from edgewise.plots import figure_farm

    panels = []
    for name in ("zero yaw", "edgewise"):
        setting = comparison[name]
        gain = "" if name == "zero yaw" else f" ({comparison.gain(name):+.1%})"
        panels.append(
            farm_data(
                task,
                setting.yaws,
                title=f"{name}: {setting.power:.1f} MW{gain}",
                flow=environment.simulator.flow(setting.yaws),
            )
        )
    save_plot(figure_farm(*panels), path)

"""``edgewise demo wind``: the yaw angles of a wind farm, simulated by FLORIS, live."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from edgewise.cli.exploring import explored, graded_answer, tried
from edgewise.cli.terminal.options import OutputFormat, Plot, Seed
from edgewise.cli.terminal.plotting import check_plot, save_plot
from edgewise.cli.terminal.shell import Format, emit, note

if TYPE_CHECKING:
    from edgewise.integrations.floris import FlorisSystem
    from edgewise.integrations.gains import Outcome
    from edgewise.integrations.running import Exploration


def wind(
    layout: Annotated[
        str,
        typer.Option(
            metavar="<regular|random|FILE>",
            help="A grid, random places, or a file: .csv with the columns x and y in metres, or a "
            "FLORIS file (.yaml).",
        ),
    ] = "regular",
    turbines: Annotated[int, typer.Option(min=2, help="How many; a file has its own number.")] = 25,
    layout_seed: Annotated[int, typer.Option(min=0, help="Of random places.")] = 0,
    wake: Annotated[
        str | None,
        typer.Option(
            metavar="<gch|cc|jensen|empirical gauss>",
            help="FLORIS' wake model.",
            show_default="gch, or the file's",
        ),
    ] = None,
    direction: Annotated[
        float | None,
        typer.Option(
            help="Where the wind comes from, degrees clockwise from north.",
            show_default="273 for regular, 270 for random places, or the file's",
        ),
    ] = None,
    speed: Annotated[
        float | None,
        typer.Option(help="Wind in metres per second.", show_default="8, or the file's"),
    ] = None,
    rounds: Annotated[int, typer.Option(min=3, help="Settings tried.")] = 100,
    noise: Annotated[
        float, typer.Option(help="Deviation of one measured power, in megawatts.")
    ] = 0.1,
    optimiser: Annotated[
        bool, typer.Option(help="Compare with FLORIS' own optimiser, which takes longest.")
    ] = True,
    rivals: Annotated[
        bool, typer.Option(help="Compare with other methods on as many rounds of their own.")
    ] = True,
    pairs: Annotated[
        int, typer.Option(min=1, help="Randomised pairs that confirm the answer, at most.")
    ] = 10,
    seed: Seed = 0,
    plot: Plot = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Find the yaw angles that give a wind farm the most power, live.

    Turbines shade each other; turning one out of the wind costs it power and helps those behind
    it. FLORIS (pip install 'edgewise[wind]') plays the farm: edgewise sees noisy powers only, and
    is graded by the true ones, beside other methods and FLORIS' own optimiser, which knows
    the wake model. At last a trial measures the answer against zero yaw in randomised pairs. Gains
    and powers while exploring are shares of the power at zero yaw.

    Example:
      $ edgewise demo wind --layout random --turbines 12 --rounds 40 --plot farm.png

    Exit code 0; 2 wrong input.
    """
    from edgewise.integrations.confirming import confirm
    from edgewise.integrations.floris import EXPLORE, FlorisSystem, YawTask
    from edgewise.integrations.floris.layouts import farm_of
    from edgewise.integrations.gains import outcome_of
    from edgewise.integrations.rivals import RIVALS

    check_plot(plot)
    farm = farm_of(
        layout,
        n_turbines=turbines,
        seed=layout_seed,
        wind_direction=direction,
        wind_speed=speed,
        wake=wake,
    )
    system = FlorisSystem(YawTask.of(farm), noise)
    note(f"{farm!r}, wake model {farm.wake}, {rounds} rounds, noise {noise:g} MW")
    run = explored(
        system, EXPLORE, rounds=rounds, seed=seed, shown=lambda power: f"farm {power:.1f} MW"
    )
    others = tried(RIVALS, system, run.trail.marks.tolist(), seed) if rivals else []
    outcome = outcome_of(
        system, run, rivals=others, optimiser=_optimised(system) if optimiser else None
    )
    trial = confirm(system, run.estimate.allocation.arms, pairs=pairs, rng=seed)
    answer = graded_answer(
        outcome,
        trial,
        worth="farm_mw",
        ceiling="share of optimiser",
        system="the farm",
        today="zero yaw",
    )
    emit(answer, output)
    if plot is not None:
        _save_picture(system, run, outcome, plot)


def _optimised(system: FlorisSystem) -> tuple[str, float]:
    note("running FLORIS' own optimiser for comparison")
    values, simulator = system.task.settings.values, system.simulator
    best = simulator.optimised(float(values[0]), float(values[-1]))
    zero, power = simulator.farm_power(np.stack([np.zeros_like(best), best]))
    return "FLORIS optimiser", float(power / zero - 1.0)


def _save_picture(system: FlorisSystem, run: Exploration, outcome: Outcome, path: Path) -> None:
    from edgewise.integrations.floris import farm_data
    from edgewise.integrations.gains import gains_data
    from edgewise.plots import figure_farm

    task, panels = system.task, []
    found = task.yaws(run.estimate.allocation.arms)
    gain = outcome.edgewise.gain
    for name, yaws in (("zero yaw", np.zeros_like(found)), (f"edgewise ({gain:+.1%})", found)):
        flow = system.simulator.flow(yaws)
        panels.append(farm_data(task, yaws, title=name, flow=flow))
    curves = gains_data(outcome.courses, outcome.optimiser, today="zero yaw")
    save_plot(figure_farm(*panels, gains=curves), path)

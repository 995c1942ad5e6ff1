"""``edgewise demo cells``: the antenna tilts of a radio network, simulated by CRRM, live."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from edgewise.cli.exploring import explored, graded_answer, tried
from edgewise.cli.terminal.options import OutputFormat, Plot, Seed
from edgewise.cli.terminal.plotting import check_plot, save_plot
from edgewise.cli.terminal.shell import Format, Output, emit, note
from edgewise.errors import InvalidArgument

if TYPE_CHECKING:
    from edgewise.integrations.cells import RadioEnvironment
    from edgewise.integrations.gains import Outcome
    from edgewise.integrations.running import Exploration, Trail

_TODAY = "best common tilt"


def cells(
    layout: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A .csv with a row per cell: site, x, y, height, azimuth.",
            show_default="random places",
        ),
    ] = None,
    hot_spots: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A .csv: x, y, radius, share.", show_default="random, or none"
        ),
    ] = None,
    layout_seed: Annotated[int, typer.Option(min=0, help="Of random places.")] = 5,
    sites: Annotated[int, typer.Option(min=2, help="How many, with three cells each.")] = 9,
    rounds: Annotated[int, typer.Option(min=3, help="Settings tried.")] = 50,
    users: Annotated[int, typer.Option(min=1, help="Fresh users in every round.")] = 4000,
    error: Annotated[
        float, typer.Option(help="Deviation of the logarithm of a reported rate.")
    ] = 0.3,
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
    """Find the antenna tilts that give the users of a radio network the highest rates, live.

    An antenna that looks further down disturbs its neighbours less and reaches less far. CRRM
    (pip install 'edgewise[cells]') plays the network, with fresh users in every round: edgewise
    sees the rates they report, booked by the cell that their place had before, and changes no tilt
    by more than a step from the answer so far. It is graded by the true geometric mean rate,
    beside hill climbing, CMA-ES, TPE and a coordinate ascent that knows the simulator (the
    ceiling). At last a trial measures the answer against the best common tilt in randomised pairs.
    Gains and rates while exploring are shares of the rate at the best common tilt.

    Example:
      $ edgewise demo cells --layout-seed 5 --rounds 50 --plot cells.png

    Exit code 0; 2 wrong input.
    """
    from edgewise.integrations.cells import EXPLORE, RadioEnvironment, RadioNetwork
    from edgewise.integrations.confirming import confirm
    from edgewise.integrations.gains import outcome_of

    check_plot(plot)
    if layout is not None:
        network = RadioNetwork.from_file(layout, hot_spots)
    elif hot_spots is not None:
        raise InvalidArgument(
            f"--hot-spots is {hot_spots}, but random places have hot spots of their own; pass "
            "--layout with the cells that go with the file"
        )
    else:
        network = RadioNetwork.random(layout_seed, n_sites=sites)
    system = RadioEnvironment.of(network, error=error, n_users=users)
    note(f"{network!r}, {rounds} rounds, {users} users each")
    run = explored(
        system, EXPLORE, rounds=rounds, seed=seed, shown=lambda rate: f"{rate:.4f} Mbit/s"
    )
    others = _rivals(system, run, seed) if rivals else []
    outcome = outcome_of(system, run, rivals=others, optimiser=_ceiling(system))
    trial = confirm(system, run.estimate.allocation.arms, pairs=pairs, rng=seed)
    answer = graded_answer(
        outcome,
        trial,
        worth="mbit_s",
        ceiling="share of ceiling",
        system="the network",
        today=_TODAY,
    )
    emit(_with_users(answer, system, run, outcome), output)
    if plot is not None:
        _save_picture(system, run, outcome, plot)


def _rivals(system: RadioEnvironment, run: Exploration, seed: int) -> list[Trail]:
    from edgewise.integrations.climbing import hill_climbing
    from edgewise.integrations.parzen import tpe
    from edgewise.integrations.rivals import cma_es

    climbing = partial(hill_climbing, near=system.task.near)
    rivals: dict[str, Callable[..., Trail]] = {
        "hill climbing": climbing,
        "CMA-ES": cma_es,
        "TPE": tpe,
    }
    return tried(rivals, system, run.trail.marks.tolist(), seed)


def _ceiling(system: RadioEnvironment) -> tuple[str, float]:
    from edgewise.integrations.climbing import coordinate_ascent
    from edgewise.integrations.running import gain_of

    note("coordinate ascent that knows the simulator, for comparison")
    best = coordinate_ascent(system)
    return "coordinate ascent", gain_of(system, float(system.means(best[None]).sum()))


def _with_users(
    answer: Output, system: RadioEnvironment, run: Exploration, outcome: Outcome
) -> Output:
    """With the rivals' gains by name, and how the users that fare worst do."""
    before = system.quality(system.today)
    after = system.quality(run.estimate.allocation.arms)
    worst = after.fifth_percentile / before.fifth_percentile - 1.0
    facts = {
        **answer.facts,
        "ceiling": answer.facts["optimiser_gain"],
        **{_key(course.name): course.gain for course in outcome.courses[1:]},
        "fifth_percentile_gain": worst,
        "weak_users": [before.weak, after.weak],
    }
    said = (
        f"The 5th percentile of users' rates changed by {worst:+.1%}, the share of users below "
        f"-6 dB from {before.weak:.2%} to {after.weak:.2%}."
    )
    return replace(answer, facts=facts, text=f"{answer.text}\n{said}")


def _key(rival: str) -> str:
    return f"{rival.lower().replace(' ', '_').replace('-', '_')}_gain"


def _save_picture(system: RadioEnvironment, run: Exploration, outcome: Outcome, path: Path) -> None:
    from edgewise.integrations.cells.picture import radio_data
    from edgewise.integrations.gains import gains_data
    from edgewise.plots import figure_radio

    gain = f"edgewise ({outcome.edgewise.gain:+.1%})"
    panels = [
        radio_data(system, arms, title=title)
        for arms, title in ((system.today, _TODAY), (run.estimate.allocation.arms, gain))
    ]
    curves = gains_data(outcome.courses, outcome.optimiser, today=_TODAY)
    save_plot(figure_radio(*panels, gains=curves), path)

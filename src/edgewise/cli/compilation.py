"""``edgewise compile``: what would be compiled at first use is compiled now."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from edgewise.cli.terminal.compiling import compilation_counted
from edgewise.cli.terminal.options import OutputFormat
from edgewise.cli.terminal.shell import Command, Format, Output, emit, note

if TYPE_CHECKING:
    import edgewise as ew


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compile", cls=Command)(compile_kernels)


def compile_kernels(output: OutputFormat = Format.TABLE) -> None:
    """Compile the numerical kernels now, so that no later command waits for them.

    Kernels are machine code for this processor, compiled when a command first needs them (up to a
    minute) and kept on disk. Run this once after installing, when you build a container, or before
    a service starts; a second time nothing is left to do. "edgewise doctor" names the folder.

    Example:
      $ edgewise compile

    Exit code 0.
    """
    began = time.process_time()
    with compilation_counted() as count:
        for name, step in _STEPS.items():
            note(name)
            step()
    seconds = round(time.process_time() - began, 1)
    facts = {"compiled": count.compiled, "cpu_seconds": seconds}
    emit(Output(facts, "steps", ("step",), [(name,) for name in _STEPS]), output)


# Small runs of what people do first; every one of them ends within seconds once compiled.


def _acts_of_the_demo() -> None:
    from edgewise.cli.tour import tour

    tour(0, False)


def _strategies() -> None:
    import edgewise as ew

    problem = _problem()
    for strategy in ("paper", "g-optimal", "contrast", "thompson", "optimistic"):
        ew.identify(problem, _system(problem), strategy=strategy, max_rounds=20, rng=1)


def _simulation() -> None:
    import edgewise as ew

    for strategy in ("adaptive", "g-optimal"):
        ew.simulation.replicate(
            _problem(), _MATRIX, repetitions=2, strategy=strategy, max_rounds=200, rng=1
        )


def _a_study() -> None:
    import edgewise as ew

    problem = _problem()
    study = ew.Study.create("first", problem, target="allocation", max_rounds=3, rng=1)
    system = _system(problem)
    while not study.stopped:
        ticket = study.ask()
        study.tell(ticket, system(ticket.arms))
    study.report()


_STEPS: dict[str, Callable[[], None]] = {
    "the acts of the demo": _acts_of_the_demo,
    "strategies": _strategies,
    "simulation": _simulation,
    "a study": _a_study,
}

_MATRIX = [[1.0, 0.2], [0.2, 0.4]]


def _problem() -> ew.Problem:
    import numpy as np

    import edgewise as ew

    arms = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
    return ew.Problem(ew.Graph.circle(n_nodes=7), arms, noise=0.1)


def _system(problem: ew.Problem) -> ew.BilinearEnvironment:
    import edgewise as ew

    return ew.BilinearEnvironment(problem, _MATRIX, rng=2)

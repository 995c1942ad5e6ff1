"""``edgewise demo``: three acts on built-in examples; and the demos below it."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from edgewise.cli.demo_cells import cells
from edgewise.cli.demo_paper import paper
from edgewise.cli.demo_wind import wind
from edgewise.cli.terminal.options import OutputFormat, Seed
from edgewise.cli.terminal.plotting import check_plot, save_plot
from edgewise.cli.terminal.shell import Command, Format, Group, Output, emit, note
from edgewise.errors import MissingExtra

if TYPE_CHECKING:
    from edgewise.cli.tour import Act, Tour

_PICTURE = Path("edgewise-demo.png")


def register(app: typer.Typer) -> None:
    """Add the command, which runs by itself or hands over to a demo below it."""
    group = typer.Typer(name="demo", cls=Group, invoke_without_command=True, rich_markup_mode=None)
    group.callback()(demo)
    group.command(cls=Command)(paper)
    group.command(cls=Command)(wind)
    group.command(cls=Command)(cells)
    app.add_typer(group)


def demo(
    context: typer.Context,
    seed: Seed = 0,
    plot: Annotated[
        Path, typer.Option(metavar="FILE", help="Where the picture goes: .png, .svg or .pdf.")
    ] = _PICTURE,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Three acts in a minute: the paper's instance, a network, a world that is not the model.

    1. The best pair of arms on the paper's hard instance, beside the paper's own method and the
    lower bound for any method. 2. Ten radio cells choose frequency bands, where no setting is
    right for all of them; the answer comes with a bound. 3. Links are unequal and a number is
    mistyped: edgewise asks, withholds the certificate, fits a model in which links differ, and
    confirms its answer by measurement. Everything is simulated; the truth is hidden from the
    learner. "edgewise demo paper", "wind" and "cells" are demos with options.

    Example:
      $ edgewise demo --plot tour.png

    Exit code 0; 2 wrong input.
    """
    if context.invoked_subcommand is not None:
        return
    drawn = _can_be_drawn(plot)
    from edgewise.cli.tour import tour  # loads the compiler, which help does not need

    note("three acts, about a minute")
    found = tour(seed, watch=True)
    emit(_answer(found), output)
    if drawn:
        from edgewise.cli.tour_picture import figure_tour

        save_plot(figure_tour(found), plot)


def _can_be_drawn(plot: Path) -> bool:
    """Whether there will be a picture; one that was asked for by name must be possible."""
    try:
        check_plot(plot)
    except MissingExtra as error:
        if plot != _PICTURE:
            raise
        note(f"no picture: {error}")
        return False
    return True


def _answer(found: Tour) -> Output:
    rows = [
        (number, act.title, name, value)
        for number, act in enumerate(found.acts, 1)
        for name, value in act.figures
    ]
    text = "\n\n".join(_in_words(number, act) for number, act in enumerate(found.acts, 1))
    return Output({}, "figures", ("act", "title", "what", "value"), rows, shown=0, text=text)


def _in_words(number: int, act: Act) -> str:
    lines = [f"Act {number}. {act.title}"]
    for sentence in filter(None, act.story):
        lines += textwrap.wrap(sentence, 96, initial_indent="  ", subsequent_indent="  ")
    return "\n".join(lines)

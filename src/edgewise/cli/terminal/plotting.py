"""Figures that commands save on request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from edgewise.cli.terminal.shell import note
from edgewise.errors import InvalidFile

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def check_plot(path: Path | None) -> None:
    """Refuse a figure that could not be saved before the work, not after it."""
    if path is None:
        return
    from edgewise.plots.figures import FORMATS, new_figure

    new_figure()  # raises when matplotlib is missing
    if path.suffix.removeprefix(".").lower() not in FORMATS:
        raise InvalidFile(
            f"{path}: the extension chooses the format of the figure; end the name in "
            f"{', '.join(f'.{name}' for name in FORMATS)}"
        )
    if not path.absolute().parent.is_dir():
        raise InvalidFile(f"{path}: the folder {path.parent} does not exist; create it first")


def save_plot(figure: Figure, path: Path) -> None:
    """Write the figure and say so."""
    from edgewise.plots import save

    note(f"figure in {save(figure, path)}")

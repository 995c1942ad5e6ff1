"""The live view of ``edgewise study status --watch``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from edgewise.study import Study, StudyStatus


def watch_study(study: Study, interval: float) -> None:
    """Draw the status again and again, until the study stops."""
    status = study.status()
    with Live(view(status), console=Console(highlight=False), auto_refresh=False) as live:
        while not status.stopped:
            time.sleep(interval)
            status = study.status()
            live.update(view(status), refresh=True)


def view(status: StudyStatus) -> Group:
    """The status as it looks on a terminal."""
    grid = Table.grid(padding=(0, 2), expand=True)
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    for label, text in status.rows():
        grid.add_row(Text(label), Text(text))
    done = ProgressBar(total=1.0, completed=min(max(status.progress, 0.0), 1.0), width=60)
    seen = Text(time.strftime("seen at %H:%M:%S; Ctrl-C ends watching, not the study"), "dim")
    bar = Table.grid()  # a bar alone does not end its line
    bar.add_row(done)
    return Group(Text(status.headline, "bold"), bar, grid, seen)

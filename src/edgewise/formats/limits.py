"""How large a file may be before it is refused: a small file can ask for all the memory there is.

The limits are far above what the method can use. To read something larger, assign another number
to the name that the message gives, e.g. ``edgewise.formats.limits.CELLS = 10**10``.
"""

from __future__ import annotations

from pathlib import Path

from edgewise.errors import InvalidFile

CELLS = 500_000_000
"""Cells of a table: rows times columns."""
COLUMNS = 10_000
NODES = 200_000_000
"""Nodes of a graph, whose number is read from a file."""
ISOLATED = 10_000_000
"""Nodes that no edge names: a file of a few bytes can announce as many as it likes."""
DIGITS = 400
"""Digits of a number."""


def refuse_beyond(file: Path | str, what: str, found: int, name: str) -> None:
    """Raise if a file has more of something than the limit of that name allows."""
    limit = globals()[name]
    if found > limit:
        raise InvalidFile(
            f"{file}: it has {found} {what}, and the limit is {limit}; check the file, or raise "
            f"edgewise.formats.limits.{name}"
        )


def refuse_nodes(file: Path | str, n_nodes: int, n_edges: int) -> None:
    """Raise if there are too many nodes, or far more than edges could name."""
    refuse_beyond(file, "nodes", n_nodes, "NODES")
    refuse_beyond(file, "nodes without an edge", n_nodes - 2 * n_edges, "ISOLATED")

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

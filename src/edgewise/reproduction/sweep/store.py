"""Finished cells on disk: one JSON line each, appended as they finish."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from edgewise.reproduction.sweep.cell import Cell, Row, code_version


class ResultStore:
    """Appends finished cells to a file and finds them again.

    A line is complete or ignored: a process that dies while writing loses that cell only. Cells
    computed by other code (another version, or edited sources) are ignored as well. Two processes
    may share a store; at worst both compute a cell, with equal results.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def finished(self, cells: Iterable[Cell]) -> dict[str, list[Row]]:
        """Rows by key of those cells that are done."""
        wanted = {cell.key for cell in cells}
        found: dict[str, list[Row]] = {}
        if not self.path.exists():
            return found
        with self.path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                entry = _parsed(line)
                if entry is not None and entry[0] in wanted:
                    found[entry[0]] = entry[1]
        return found

    def append(self, cell: Cell, rows: Sequence[Row]) -> None:
        """Add a finished cell."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"code": code_version(), "key": cell.key, "rows": list(rows)})
        # A torn last line of a killed process is closed first, not cut off: someone may share it.
        lead = b"\n" if self._is_torn() else b""
        with self.path.open("ab") as file:
            file.write(lead + line.encode() + b"\n")

    def _is_torn(self) -> bool:
        if not self.path.exists() or self.path.stat().st_size == 0:
            return False
        with self.path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) != b"\n"


def _parsed(line: str) -> tuple[str, list[Row]] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    if not isinstance(entry, dict) or entry.get("code") != code_version():
        return None
    return entry["key"], entry["rows"]

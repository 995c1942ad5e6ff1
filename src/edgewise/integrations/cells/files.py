"""Networks from files: a table of cells, and one of hot spots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from edgewise.base.arrays import Array
from edgewise.errors import InvalidFile
from edgewise.formats.files import FilePath, blaming, read_by_extension
from edgewise.formats.table import Table, read_csv
from edgewise.integrations.cells.network import HotSpots

_CELLS = ("site", "x", "y", "height", "azimuth")
_SPOTS = ("x", "y", "radius", "share")


def read_cells(path: FilePath) -> dict[str, Any]:
    """What a :class:`RadioNetwork` is made from; cells of a site need not stand together."""
    return read_by_extension(path, {".csv": _cells}, "a network")


def read_hot_spots(path: FilePath) -> HotSpots:
    """Clouds of users."""
    return read_by_extension(path, {".csv": _spots}, "hot spots")


def _cells(file: Path) -> dict[str, Any]:
    table = read_csv(file)
    site, *numbers = _columns(table, _CELLS, "a network")
    names = table.texts(site)
    x, y, height, azimuth = (table.numbers(name) for name in numbers)
    first = list(dict.fromkeys(names))
    owners = np.array([first.index(name) for name in names])
    firsts = np.array([names.index(name) for name in first])
    _require_one_place(table, names, np.column_stack([x, y, height]), firsts[owners])
    order = np.argsort(owners, kind="stable")
    return {
        "sites": np.column_stack([x, y])[firsts],
        "masts": height[firsts],
        "site_of_cell": owners[order],
        "azimuths": azimuth[order],
        "names": tuple(first),
    }


def _spots(file: Path) -> HotSpots:
    table = read_csv(file)
    x, y, radius, share = (table.numbers(name) for name in _columns(table, _SPOTS, "hot spots"))
    with blaming(file):
        return HotSpots(np.column_stack([x, y]), radius, share)


def _columns(table: Table, wanted: tuple[str, ...], what: str) -> list[str]:
    found = [table.find(name) for name in wanted]
    if None in found:
        raise InvalidFile(
            f"{table.file}: the columns are {', '.join(table.columns)}; {what} has the columns "
            f"{', '.join(wanted)}: rename them"
        )
    return [name for name in found if name is not None]


def _require_one_place(table: Table, names: list[str], places: Array, first: Array) -> None:
    """The cells of a site are on one mast."""
    apart = np.flatnonzero((places != places[first]).any(axis=1))
    if len(apart):
        row = int(apart[0])
        raise InvalidFile(
            f"{table.at(row)}: site {names[row]} stands elsewhere, or higher, than in "
            f"{table.unit} {table.places[int(first[row])]}; cells of a site share x, y and height: "
            "mend it, or name another site"
        )

"""Farms from files: a table of positions, or what FLORIS reads itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from edgewise.base.extras import required
from edgewise.errors import InvalidFile
from edgewise.formats.files import FilePath, read_by_extension
from edgewise.formats.table import read_csv

_USUAL = {"wind_direction": 270.0, "wind_speed": 8.0}


def read_farm(path: FilePath, *, one_wind: bool) -> dict[str, Any]:
    """What a :class:`WindFarm` is made from; ``one_wind``: the file must know which wind."""
    floris = partial(_from_floris, one_wind=one_wind)
    readers: dict[str, Callable[[Path], dict[str, Any]]] = {
        ".csv": _from_csv,
        ".yaml": floris,
        ".yml": floris,
    }
    return read_by_extension(path, readers, "a layout")


def _from_csv(file: Path) -> dict[str, Any]:
    table = read_csv(file)
    names = [table.find("x"), table.find("y")]
    if None in names:
        raise InvalidFile(
            f"{file}: the columns are {', '.join(table.columns)}; a layout has the columns x and "
            "y, metres east and north: rename them"
        )
    places = np.column_stack([table.numbers(name) for name in names if name is not None])
    return {"positions": places, **_USUAL}


def _from_floris(file: Path, *, one_wind: bool) -> dict[str, Any]:
    floris = required("floris", "reading a FLORIS file needs FLORIS", "wind")
    loading = required("floris.utilities", "reading a FLORIS file needs FLORIS", "wind")
    try:
        settings = loading.load_yaml(str(file))
        model = floris.FlorisModel(settings)
    except Exception as error:  # FLORIS raises what comes: KeyError, TypeError, ValueError, ...
        raise InvalidFile(
            f"{file}: FLORIS refuses it ({type(error).__name__}: {error}); mend the file"
        ) from error
    field = model.core.flow_field
    if one_wind and field.n_findex != 1:
        raise InvalidFile(
            f"{file}: it has {field.n_findex} winds, and angles are chosen for one; pass "
            "wind_direction and wind_speed (--direction and --speed)"
        )
    return {
        "positions": np.column_stack([model.layout_x, model.layout_y]),
        "wind_direction": float(field.wind_directions[0]),
        "wind_speed": float(field.wind_speeds[0]),
        "turbulence": float(field.turbulence_intensities[0]),
        "diameter": float(np.max(model.core.farm.rotor_diameters)),
        "wake": "file",
        "source": settings,
    }

"""Where the edges of a large network come from: one partition at a time, never all at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from edgewise.base.extras import required
from edgewise.errors import InvalidFile, InvalidGraph

COLUMNS = ("source", "target", "kind", "weight")
"""What a table of edges has; the last two may be absent."""


class Rows(NamedTuple):
    """The edges of one partition as they were given."""

    source: NDArray[Any]
    target: NDArray[Any]
    kind: NDArray[Any] | None = None
    weight: NDArray[Any] | None = None


class Source(Protocol):
    """One partition of the edges; read where it is needed."""

    @property
    def name(self) -> str:
        """For messages: the file, or the number."""

    def read(self) -> Rows:
        """Its edges, always the same in the same order."""


@dataclass(frozen=True)
class ParquetSource:
    """A file or a folder of files with the columns source, target and perhaps kind, weight."""

    path: str

    @property
    def name(self) -> str:
        """The path's last part."""
        return Path(self.path).name

    @property
    def written(self) -> float:
        """When the last of its files was, in seconds since 1970."""
        return max(file.stat().st_mtime for file in _files(Path(self.path)))

    def read(self) -> Rows:
        """The files of a folder in the order of their names."""
        return rows_of(read_table(self.path, COLUMNS))


@dataclass(frozen=True)
class MadeSource:
    """What a function makes of the partition's number: (source, target), kind and weight after."""

    function: Callable[[int], Any]
    number: int

    @property
    def name(self) -> str:
        """Its number."""
        return f"partition {self.number}"

    def read(self) -> Rows:
        """Call the function; an (E, 2) array will do."""
        made = self.function(self.number)
        if isinstance(made, np.ndarray):
            if made.ndim != 2 or made.shape[1] != 2:
                raise InvalidGraph(
                    f"the function gave an array of shape {made.shape}; edges are "
                    "(E, 2), or a tuple (source, target[, kind[, weight]])"
                )
            return Rows(made[:, 0], made[:, 1])
        if not isinstance(made, tuple) or not 2 <= len(made) <= 4:
            raise InvalidGraph(
                f"the function gave a {type(made).__name__}; it must give an (E, 2) "
                "array or a tuple (source, target[, kind[, weight]])"
            )
        columns: list[Any] = [None if one is None else np.asarray(one) for one in made]
        return Rows(*columns)


@dataclass(frozen=True)
class FrameSource:
    """A partition of a ``dask.dataframe``."""

    frame: Any
    """Delayed."""
    number: int

    @property
    def name(self) -> str:
        """Its number."""
        return f"partition {self.number}"

    def read(self) -> Rows:
        """Compute this partition alone, where it is read."""
        frame = self.frame.compute(scheduler="synchronous")
        return rows_of({one: frame[one].to_numpy() for one in COLUMNS if one in frame})


def parquet_sources(folder: str | Path) -> list[ParquetSource]:
    """The partitions of a folder, by name: its Parquet files, and its folders of such files."""
    place = Path(folder)
    if place.is_file():
        return [ParquetSource(str(place))]
    inside = sorted(place.iterdir()) if place.is_dir() else []
    found = [ParquetSource(str(one)) for one in inside if _holds_edges(one)]
    if not found:
        raise InvalidFile(
            f"{place}: no partitions there; give a Parquet file, or a folder with one file or "
            "folder per partition (*.parquet)"
        )
    return found


def _holds_edges(path: Path) -> bool:
    if path.name.startswith((".", "_")):
        return False
    return path.suffix == ".parquet" or (path.is_dir() and any(path.glob("*.parquet")))


def _files(place: Path) -> list[Path]:
    return sorted(place.glob("*.parquet")) if place.is_dir() else [place]


def read_table(path: str | Path, columns: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The wanted columns that are there, of a Parquet file or of all in a folder."""
    parquet = required("pyarrow.parquet", "Parquet files need pyarrow", "dask")
    place = Path(path)
    parts = []
    for file in _files(place):
        try:
            there = parquet.read_schema(file).names
            parts.append(parquet.read_table(file, columns=[one for one in columns if one in there]))
        except Exception as error:  # pyarrow has a dozen sorts of them
            raise InvalidFile(
                f"{file}: it cannot be read as Parquet ({error}); write it again"
            ) from error
    names = [name for name in columns if all(name in part.column_names for part in parts)]
    return {
        name: np.concatenate([part.column(name).to_numpy() for part in parts]) for name in names
    }


def rows_of(table: Mapping[str, NDArray[Any]]) -> Rows:
    """The columns of a table of edges."""
    for needed in COLUMNS[:2]:
        if needed not in table:
            raise InvalidGraph(
                f"there is no column {needed!r}; a table of edges has the columns source "
                "and target, and may have kind and weight"
            )
    return Rows(*(table.get(one) for one in COLUMNS))  # type: ignore[arg-type]

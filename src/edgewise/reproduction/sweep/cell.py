"""Cells of a sweep: independent pieces of work, each a pure function of its key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

import edgewise
from edgewise.errors import InvalidArgument

Value: TypeAlias = str | int | float | bool
Row: TypeAlias = dict[str, Value]

CHUNK = 10
"""Repetitions in a cell: what an interruption loses at most, per worker."""


class SweepPoint(Protocol):
    """A point of an experiment: everything that fixes the law of a run. A frozen dataclass."""

    @property
    def cost(self) -> float:
        """Expected work of one repetition, in any unit common to all points."""

    def run(self, seed: int, first: int, count: int) -> list[Row]:
        """Rows of the repetitions ``first .. first + count - 1``, whatever else is run."""


@dataclass(frozen=True)
class Cell:
    """Some repetitions at one point."""

    point: SweepPoint
    first: int
    count: int
    seed: int

    @property
    def key(self) -> str:
        """Names the cell; equal keys mean equal results."""
        return f"{point_key(self.point)} seed={self.seed} {self.first}+{self.count}"

    @property
    def cost(self) -> float:
        """Expected work."""
        return self.point.cost * self.count

    def run(self) -> list[Row]:
        """Do the work."""
        return self.point.run(self.seed, self.first, self.count)


def point_key(point: SweepPoint) -> str:
    """The point as text, the same in every process and on every machine."""
    fields = json.dumps(asdict(point), sort_keys=True)  # type: ignore[call-overload]
    return f"{type(point).__name__} {fields}"


def split(point: SweepPoint, repetitions: int, seed: int, chunk: int = CHUNK) -> Iterator[Cell]:
    """The cells of a point. More repetitions only add cells: full chunks stay what they are."""
    for first in range(0, repetitions, chunk):
        yield Cell(point, first, min(chunk, repetitions - first), seed)


def generator_from(seed: int, key: str, *, first: int = 0) -> np.random.Generator:
    """A generator whose ``spawn`` continues at child ``first``.

    Child i depends on (seed, key, i) alone, so repetitions are the same however they are
    grouped into cells, on whatever machine.

    >>> whole = [child.random() for child in generator_from(7, "here").spawn(4)]
    >>> whole[2:] == [child.random() for child in generator_from(7, "here", first=2).spawn(2)]
    True
    """
    if seed < 0:
        raise InvalidArgument(f"seed is {seed}; seeds are not negative: pass 0 or more")
    words = np.frombuffer(hashlib.sha256(key.encode()).digest(), dtype="<u4")
    entropy = [seed, *(int(word) for word in words)]
    sequence = np.random.SeedSequence(entropy, n_children_spawned=first)
    return np.random.Generator(np.random.PCG64(sequence))


@cache
def code_version() -> str:
    """Version and digest of the sources: results of other code are not mixed with ours.

    The digest covers what computes results, not what draws or allocates.
    """
    root = Path(edgewise.__file__).parent
    rings = ("base", "network", "core", "simulation", "theory")
    sources = [path for ring in rings for path in (root / ring).rglob("*.py")]
    measured = ("cell.py", "points.py", "random_points.py")
    sources += [root / "reproduction" / "sweep" / name for name in measured]
    digest = hashlib.sha256()
    for path in sorted(sources):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return f"{edgewise.__version__}+{digest.hexdigest()[:12]}"


def as_plain(value: Any) -> Value:
    """A numpy scalar as the Python value that JSON and CSV keep exactly."""
    plain: Value = value.item() if isinstance(value, np.generic) else value
    return plain

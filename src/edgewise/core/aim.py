"""What is still open, and what it needs: what a phase of rounds is laid out for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.core.model.cells import Cells

_A_LITTLE = 0.05
"""Part of the information wanted that is asked for even if it is there: gaps are uncertain."""


@dataclass(frozen=True, eq=False)
class Aim:
    """The open contrasts between leaders and rivals, and what each still needs.

    Without contrasts, everything alike.
    """

    kinds: Indices
    """(T,) edge kind of each contrast."""
    leaders: Indices
    """(T,) pair of arms that is held to be better."""
    rivals: Indices
    """(T,) pair of arms it is compared with."""
    needs: Array
    """(T,) information still needed on the contrast, in any unit."""
    length: int = 0
    """Rounds the phase lasts at least; 0 until a plan has decided."""

    @classmethod
    def everything(cls, length: int) -> Aim:
        """The aim of the first phase."""
        none = np.zeros(0, np.int64)
        return cls(none, none, none, np.zeros(0), length)

    @classmethod
    def lacking(
        cls, kinds: Indices, leaders: Indices, rivals: Indices, *, wanted: Array, had: Array
    ) -> Aim:
        """Contrasts that would be settled by the information ``wanted`` (T,) and have ``had``."""
        needs = np.maximum(wanted - had, _A_LITTLE * wanted)
        return cls(kinds, leaders, rivals, needs)

    def at_most(self, count: int, *, length: int) -> Aim:
        """The contrasts that need most, in units of the largest need, for a phase."""
        most = np.sort(np.argsort(-self.needs, kind="stable")[:count])
        return Aim(
            kinds=self.kinds[most],
            leaders=self.leaders[most],
            rivals=self.rivals[most],
            needs=self.needs[most] / self.needs.max(initial=0.0),
            length=length,
        )

    def contrasts(self, cells: Cells) -> Array:
        """(T, p) feature differences."""
        difference: Array = (
            cells.features[self.kinds, self.leaders] - cells.features[self.kinds, self.rivals]
        )
        return difference

"""What is still open, and how much information it needs: what a phase is laid out for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, Indices


@dataclass(frozen=True, eq=False)
class Needs:
    """Contrasts between pairs of arms of one kind that are not settled yet."""

    kinds: Indices
    """(T,) edge kind of each contrast."""
    leaders: Indices
    """(T,) pair of arms that is held to be better."""
    rivals: Indices
    """(T,) pair of arms it is compared with."""
    wanted: Array
    """(T,) information that would settle the contrast, for sigma = 1."""
    had: Array
    """(T,) information there is."""

    @property
    def lacking(self) -> Array:
        """(T,) what is missing; a little is always wanted, as gaps are uncertain."""
        return np.maximum(self.wanted - self.had, 0.05 * self.wanted)

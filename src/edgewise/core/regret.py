"""How far a recommended joint arm may be from the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from edgewise.base.arrays import Indices, frozen


@dataclass(frozen=True)
class Regret:
    """How much global reward an allocation can miss, in units of the global reward."""

    bound: float
    """With the confidence asked for, no joint arm is better by more; infinity if unknown."""
    optimisation: float
    """The part due to optimisation: what would remain if the estimate were exact."""

    @property
    def estimation(self) -> float:
        """The part due to estimation: what more rounds can remove."""
        return self.bound - self.optimisation


@dataclass(frozen=True, eq=False)
class Answer:
    """A joint arm that was recommended, and how far it may be from the best."""

    arms: Indices
    """(n,)"""
    regret: Regret

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Answer:
        """The inverse of :meth:`to_tree`."""
        return cls(frozen(tree["arms"], np.int64), Regret(**tree["regret"]))

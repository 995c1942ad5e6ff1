"""Upper bounds on the global reward of every allocation."""

from edgewise.allocation.bounds.best import best_upper_bound
from edgewise.allocation.bounds.bound import Bound

__all__ = ["Bound", "best_upper_bound"]

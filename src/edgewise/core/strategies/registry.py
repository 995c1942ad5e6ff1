"""The strategies that edgewise brings, by name: what files may name and databases may hold."""

from __future__ import annotations

from edgewise.core.strategies.safe import Safe
from edgewise.core.strategies.strategy import Adaptive, Contrast, GOptimal, Paper, Strategy

BUILT_IN: dict[str, type[Strategy]] = {
    kind.name: kind for kind in (Adaptive, Contrast, GOptimal, Paper, Safe)
}
"""The classes; their settings are their fields."""

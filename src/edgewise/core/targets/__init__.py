"""Targets: what is to be found. Proofs are in docs/stopping.md."""

from __future__ import annotations

from edgewise.core.targets.allocation import BestAllocation as BestAllocation
from edgewise.core.targets.allocation import recommend as recommend
from edgewise.core.targets.pair import BestPair as BestPair
from edgewise.core.targets.target import Finding as Finding
from edgewise.core.targets.target import Target as Target

TARGETS: dict[str, Target] = {"pair": BestPair(), "allocation": BestAllocation()}
"""Every target by its public name."""

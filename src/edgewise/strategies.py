"""Strategies to pass as ``strategy=``, and what one of your own must look like."""

from __future__ import annotations

from edgewise.core.aim import Aim as Aim
from edgewise.core.model.cells import Cells as Cells
from edgewise.core.state import LearnerState as LearnerState
from edgewise.core.strategies import Adaptive as Adaptive
from edgewise.core.strategies import Contrast as Contrast
from edgewise.core.strategies import GOptimal as GOptimal
from edgewise.core.strategies import Limited as Limited
from edgewise.core.strategies import Optimistic as Optimistic
from edgewise.core.strategies import Paper as Paper
from edgewise.core.strategies import Phasing as Phasing
from edgewise.core.strategies import Plan as Plan
from edgewise.core.strategies import Safe as Safe
from edgewise.core.strategies import Strategy as Strategy
from edgewise.core.strategies import Thompson as Thompson
from edgewise.core.strategies.phases import GrowingPhases as GrowingPhases
from edgewise.core.strategies.phases import OnePhase as OnePhase

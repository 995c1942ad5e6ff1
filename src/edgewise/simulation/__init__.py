"""Simulated environments and repeated runs."""

from __future__ import annotations

from edgewise.simulation.compare import Comparison as Comparison
from edgewise.simulation.compare import compare as compare
from edgewise.simulation.environment import BilinearEnvironment as BilinearEnvironment
from edgewise.simulation.hierarchical import HierarchicalWorld as HierarchicalWorld
from edgewise.simulation.instances import paper_instance as paper_instance
from edgewise.simulation.replicate import Replications as Replications
from edgewise.simulation.replicate import replicate as replicate
from edgewise.simulation.trace import Trace as Trace
from edgewise.simulation.trace import trace as trace

"""Networks beyond one machine, on Dask: see docs/large.md. Needs ``edgewise[dask]``."""

from __future__ import annotations

from edgewise.cluster.allocating import allocate as allocate
from edgewise.cluster.allocating import allocate_table as allocate_table
from edgewise.cluster.engine import ClusterLost as ClusterLost
from edgewise.cluster.engine import working_on as working_on
from edgewise.cluster.graph import PartitionedGraph as PartitionedGraph
from edgewise.cluster.learning import PartitionedLearner as PartitionedLearner
from edgewise.cluster.learning import identify as identify
from edgewise.cluster.measuring import MeasuredRewards as MeasuredRewards
from edgewise.cluster.measuring import SimulatedRewards as SimulatedRewards
from edgewise.cluster.rounds import Share as Share

__all__ = [
    "ClusterLost",
    "MeasuredRewards",
    "PartitionedGraph",
    "PartitionedLearner",
    "Share",
    "SimulatedRewards",
    "allocate",
    "allocate_table",
    "identify",
    "working_on",
]

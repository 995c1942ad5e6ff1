"""Networks beyond one machine, on Dask: see docs/large.md. Needs ``edgewise[dask]``."""

from __future__ import annotations

from edgewise.cluster.allocation.allocating import allocate as allocate
from edgewise.cluster.allocation.allocating import allocate_table as allocate_table
from edgewise.cluster.engine import ClusterLost as ClusterLost
from edgewise.cluster.engine import working_on as working_on
from edgewise.cluster.identification.learning import PartitionedLearner as PartitionedLearner
from edgewise.cluster.identification.measuring import MeasuredRewards as MeasuredRewards
from edgewise.cluster.identification.measuring import SimulatedRewards as SimulatedRewards
from edgewise.cluster.identification.rounds import Share as Share
from edgewise.cluster.identification.running import identify as identify
from edgewise.cluster.partitions.graph import PartitionedGraph as PartitionedGraph

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

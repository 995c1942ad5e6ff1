"""What a report recommends on a partitioned graph: the cluster allocates for the estimate."""

from __future__ import annotations

import numpy as np

from edgewise.base.arrays import Array
from edgewise.cluster.allocation.work import Work
from edgewise.cluster.engine import Engine
from edgewise.cluster.partitions.graph import PartitionedGraph
from edgewise.core.report import Baseline
from edgewise.core.reporting import Advice, Adviser
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState

_SWEEPS = 10


def adviser(engine: Engine, graph: PartitionedGraph) -> Adviser:
    """Best response for the estimated tables, with the bound edge by edge."""

    def advise(
        setting: Setting,  # noqa: ARG001
        state: LearnerState,
        theta: Array,
        tables: Array,
    ) -> Advice | None:
        if not np.isfinite(theta).all():
            return None
        work = Work(engine, graph, tables, state.seed)
        found = work.certified(*work.run("auto", _SWEEPS, None), cycles=False)
        arm, value = work.common()
        everywhere = np.broadcast_to(np.int64(arm), graph.n_nodes)
        return Advice(found, None, (Baseline("best common", everywhere, value),))

    return advise

"""What the local model works with, from a learner or a fit of it."""

from __future__ import annotations

from edgewise.core.evidence.by_edge import from_tree, local_network
from edgewise.core.learner import Learner
from edgewise.core.local.estimate import LocalEstimate, estimate_locally
from edgewise.core.local.normal_equations import Phase
from edgewise.errors import InvalidArgument


def seen_by_edge(learner: Learner) -> Phase:
    """What the edges have shown one by one."""
    seen = from_tree(learner.save()["state"]["by_edge"])
    if seen is None:
        raise InvalidArgument(
            "what edges show one by one is not kept for so large a graph unless it is asked for; "
            "start the learner with Problem(..., pooling='partial')"
        )
    return seen


def local_fit(learner: Learner, pooling: str = "partial") -> LocalEstimate:
    """The local model fitted to all rounds, whatever the learner itself pools."""
    problem = learner.problem
    seen = seen_by_edge(learner)
    found = estimate_locally(local_network(problem), seen, pooling=pooling)
    if found is None:
        raise InvalidArgument(
            f"after {learner.rounds} round(s) nothing can be told about edges; tell more rounds"
        )
    return found

"""edgewise: find the best joint configuration of a network, with a proof, in few deployments.

>>> import edgewise as ew
>>> arms, matrix = ew.simulation.paper_instance(dimension=3, omega=0.5)
>>> problem = ew.Problem(ew.Graph.circle(n_edges=40), arms, noise=1.0)
>>> environment = ew.BilinearEnvironment(problem, matrix, rng=0)   # your system goes here
>>> report = ew.identify(problem, environment, delta=0.05, rng=1)
>>> report.certified, report.best_pair
(True, (0, 0))

Names are imported when first used, so that ``import edgewise`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edgewise import plots as plots
    from edgewise import simulation as simulation
    from edgewise import stopping as stopping
    from edgewise import strategies as strategies
    from edgewise import targets as targets
    from edgewise import theory as theory
    from edgewise import trial as trial
    from edgewise.allocation.allocate import allocate as allocate
    from edgewise.allocation.allocate import allocate_table as allocate_table
    from edgewise.allocation.instance.result import Allocation as Allocation
    from edgewise.base.threads import using_threads as using_threads
    from edgewise.core.design.g_optimal import Design as Design
    from edgewise.core.design.g_optimal import g_optimal as g_optimal
    from edgewise.core.earnings import Earnings as Earnings
    from edgewise.core.ending import Ending as Ending
    from edgewise.core.gate.options import Gate as Gate
    from edgewise.core.learner import Learner as Learner
    from edgewise.core.learner import Ticket as Ticket
    from edgewise.core.model.problem import Problem as Problem
    from edgewise.core.report import Report as Report
    from edgewise.core.stopping import Verdict as Verdict
    from edgewise.errors import EdgewiseError as EdgewiseError
    from edgewise.identification import identify as identify
    from edgewise.network.graph import Graph as Graph
    from edgewise.simulation.environment import BilinearEnvironment as BilinearEnvironment
    from edgewise.study.study import Study as Study
    from edgewise.trial.trial import Trial as Trial

__version__ = "0.2.0"

_HOME = {
    "Allocation": "edgewise.allocation.instance.result",
    "BilinearEnvironment": "edgewise.simulation.environment",
    "Design": "edgewise.core.design.g_optimal",
    "Earnings": "edgewise.core.earnings",
    "EdgewiseError": "edgewise.errors",
    "Ending": "edgewise.core.ending",
    "Gate": "edgewise.core.gate.options",
    "Graph": "edgewise.network.graph",
    "Learner": "edgewise.core.learner",
    "Problem": "edgewise.core.model.problem",
    "Report": "edgewise.core.report",
    "Study": "edgewise.study.study",
    "Ticket": "edgewise.core.learner",
    "Trial": "edgewise.trial.trial",
    "Verdict": "edgewise.core.stopping",
    "allocate": "edgewise.allocation.allocate",
    "allocate_table": "edgewise.allocation.allocate",
    "g_optimal": "edgewise.core.design.g_optimal",
    "identify": "edgewise.identification",
    "using_threads": "edgewise.base.threads",
}
_MODULES = ("plots", "simulation", "stopping", "strategies", "targets", "theory", "trial")
_ROOMS = ("cluster", "errors")
"""Loaded by name as well, but not among what everybody starts with."""

__all__ = [*sorted([*_HOME, *_MODULES]), "__version__"]


def __getattr__(name: str) -> Any:
    if name in _MODULES or name in _ROOMS:
        value: Any = importlib.import_module(f"edgewise.{name}")
    elif name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'edgewise' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

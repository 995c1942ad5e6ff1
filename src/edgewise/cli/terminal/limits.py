"""What runs today, and limits on what may change from round to round: options of commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import numpy as np
import typer

from edgewise.base.arrays import Indices
from edgewise.base.choice import instead
from edgewise.errors import InvalidArgument
from edgewise.formats import ArmTable, read_joint_arm
from edgewise.network.graph import Graph

if TYPE_CHECKING:
    from edgewise.core.strategies import Strategy

BaselineSource: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="ARM|FILE",
        help="What runs today: an arm for all nodes, or a .csv file with the columns node,arm.",
    ),
]
Changed: TypeAlias = Annotated[
    int | None, typer.Option(help="Limit: nodes that change at most in a round.")
]
Steps: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Limit: steps of a node at most in a round, in the order of the arms."),
]
Within: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Limit: steps from the present recommendation, a trust region."),
]
SwitchingCost: TypeAlias = Annotated[
    float, typer.Option(help="What the change of a node costs, in units of global reward.")
]


def baseline_from(source: str | None, graph: Graph, arms: ArmTable) -> Indices | None:
    """(n,) the joint arm that an option names, by an arm's label or number, or in a file."""
    if source is None:
        return None
    if source.lower().endswith(".csv"):
        return np.asarray(read_joint_arm(Path(source), nodes=graph.labels, arms=arms.labels))
    names = [str(label) for label in arms.labels]
    if source in names:
        return np.full(graph.n_nodes, names.index(source))
    if source.isdigit() and int(source) < len(names):
        return np.full(graph.n_nodes, int(source))
    remedy = instead(source, names, "their numbers from 0, or a .csv file")
    raise InvalidArgument(f"--baseline: no arm is called {source!r}; {remedy}")


def limited(
    strategy: str,
    *,
    changed: int | None,
    steps: int | None,
    within: int | None,
    switching_cost: float,
) -> str | Strategy:
    """The strategy of that name, within limits if there are any."""
    from edgewise.core.strategies import Limited, sampling_strategy

    if changed is steps is within is None and switching_cost == 0.0:
        return strategy
    return Limited(
        sampling_strategy(strategy),
        changed=changed,
        steps=steps,
        within=within,
        switching_cost=switching_cost,
    )

"""What runs today, and limits on what may change from round to round: options of commands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

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
    float | None, typer.Option(help="What the change of a node costs, in units of global reward.")
]
LargestLoss: TypeAlias = Annotated[
    float | None,
    typer.Option(
        help="Limit: predicted loss of a round against the baseline, in units of global reward; "
        "needs --worst-loss."
    ),
]
WorstLoss: TypeAlias = Annotated[
    float | None,
    typer.Option(
        help="What a reward may lose where nothing is known yet: your assumption, for "
        "--largest-loss."
    ),
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
    strategy: str | Strategy,
    *,
    largest_loss: float | None,
    worst_loss: float | None,
    **changes: float | None,
) -> str | Strategy:
    """The strategy, or that of the name, within the limits that are given.

    Those that it has already are kept unless they are given anew. ``changes`` are the settings of
    ``Limited``.
    """
    from edgewise.core.strategies import sampling_strategy

    given = {name: value for name, value in changes.items() if value is not None}
    losses = {"largest_loss": largest_loss, "worst_loss": worst_loss}
    lost = {name: value for name, value in losses.items() if value is not None}
    found = _changing_little(sampling_strategy(strategy), given) if given else strategy
    return _losing_little(sampling_strategy(found), lost) if lost else found


def _changing_little(strategy: Strategy, given: dict[str, Any]) -> Strategy:
    from edgewise.core.strategies import Limited, Safe

    if isinstance(strategy, Safe):
        return replace(strategy, strategy=_changing_little(strategy.strategy, given))
    if isinstance(strategy, Limited):
        return replace(strategy, **given)
    return Limited(strategy, **given)


def _losing_little(strategy: Strategy, lost: dict[str, Any]) -> Strategy:
    from edgewise.core.strategies import Safe

    if isinstance(strategy, Safe):
        return replace(strategy, **lost)
    if len(lost) < 2:
        raise InvalidArgument(
            f"--{next(iter(lost)).replace('_', '-')} alone limits nothing; give both "
            "--largest-loss, of a round, and --worst-loss, of a reward that was never tried"
        )
    return Safe(strategy=strategy, **lost)

"""``edgewise study create``: from a file that describes the network to a study."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from edgewise.cli.study.options import STORAGE, checked_storage
from edgewise.cli.terminal.limits import (
    BaselineSource,
    Changed,
    LargestLoss,
    Steps,
    SwitchingCost,
    Within,
    WorstLoss,
    baseline_from,
    limited,
)
from edgewise.cli.terminal.options import OutputFormat
from edgewise.cli.terminal.shell import Command, Format, Output, emit, note
from edgewise.errors import InvalidArgument
from edgewise.formats import ArmTable

if TYPE_CHECKING:
    from edgewise.core.model.problem import Problem
    from edgewise.study import Study


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command(cls=Command)(create)


def create(
    config: Annotated[
        Path | None,
        typer.Argument(
            metavar="CONFIG.toml",
            show_default=False,
            help="Describes the graph, the arms, the noise and the confidence; --example shows "
            "how. Paths in it are seen from its own folder.",
        ),
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help=f"Where to keep the study, instead of what the file says (or {STORAGE}).",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the study, instead of what the file says.")
    ] = None,
    trust_model: Annotated[
        bool,
        typer.Option(
            "--trust-model", help="Certify whatever the data say against the model; reports say so."
        ),
    ] = False,
    baseline: BaselineSource = None,
    changed: Changed = None,
    steps: Steps = None,
    within: Within = None,
    switching_cost: SwitchingCost = None,
    largest_loss: LargestLoss = None,
    worst_loss: WorstLoss = None,
    example: Annotated[
        bool, typer.Option("--example", help="Print a commented file to start from, and end.")
    ] = False,
    output: OutputFormat = Format.TABLE,
) -> None:
    r"""Set up a study from a TOML file.

    The file is read once: the study keeps the problem, with your names of nodes and arms, and
    needs the file no more. A SQLite file is made if there is none. Limits stand around the file's
    strategy, instead of those that it has; they start from --baseline, or the file's.

    Examples:
      $ edgewise study create --example > farm.toml
      $ edgewise study create examples/data/cells.toml --storage sqlite:///cells.db
      $ edgewise study create examples/data/cells.toml --storage sqlite:///few.db \
          --baseline 0 --changed 2

    Output: what was understood. Exit code 0; 2 wrong input, and nothing was created.
    """
    if example:
        from edgewise.study.files.document import EXAMPLE

        typer.echo(EXAMPLE.read_text(encoding="utf-8"), nl=False)
        return
    if config is None:
        raise InvalidArgument(
            "which file? Name a TOML file; edgewise study create --example prints one"
        )
    from edgewise.study.files.config import read_config
    from edgewise.study.storage.secrets import masked

    found = read_config(config)
    strategy = limited(
        found.options.get("strategy", "adaptive"),
        changed=changed,
        steps=steps,
        within=within,
        switching_cost=switching_cost,
        largest_loss=largest_loss,
        worst_loss=worst_loss,
    )
    given = {"strategy": strategy} | ({"trust_model": True} if trust_model else {})
    found = replace(
        found, problem=_with_baseline(found.problem, baseline), options={**found.options, **given}
    )
    chosen = name or found.name
    if chosen is None:
        raise InvalidArgument(f'{config}: there is no name; add name = "...", or pass --name')
    place = checked_storage(storage or found.storage or os.environ.get(STORAGE))
    study = found.create(name=chosen, storage=place)
    shown = masked(place)
    emit(_answer(study, shown), output)
    note(f"next: edgewise study ask --storage {shown} --name {chosen!r}")


def _with_baseline(problem: Problem, source: str | None) -> Problem:
    if source is None:
        return problem
    labels = tuple(problem.arm_labels or range(problem.n_arms))
    return replace(
        problem, baseline=baseline_from(source, problem.graph, ArmTable(problem.arms, labels))
    )


def _model(problem: Problem) -> dict[str, Any]:
    """What differs from the plain model."""
    if problem.is_plain:
        return {}
    covariates = problem.graph.covariate_names
    return {
        "measured": problem.measured,
        "levels": problem.levels,
        "pooling": problem.pooling,
        **({} if covariates is None else {"covariates": ", ".join(covariates)}),
    }


def _answer(study: Study, storage: str) -> Output:
    problem, status = study.problem, study.seen.status()
    graph = problem.graph
    facts = {
        "study": study.name,
        "storage": storage,
        "nodes": graph.n_nodes,
        "edges": len(graph.edges),
        "kinds": graph.n_kinds,
        "directed": graph.directed,
        "rewards_per_round": problem.n_rewards,
        **_model(problem),
        "noise": problem.noise,
        "target": status.target,
        "delta": status.delta,
        "epsilon": status.epsilon,
        "max_rounds": status.max_rounds,
    }
    labels = problem.arm_labels or range(problem.n_arms)
    rows = [(label, *arm) for label, arm in zip(labels, problem.arms.tolist(), strict=True)]
    unnamed = tuple(f"feature_{i + 1}" for i in range(problem.dimension))
    features = unnamed if problem.feature_names is None else tuple(problem.feature_names)
    return Output(facts, "arms", ("arm", *features), rows)

"""The verbs of a study as clients speak them: while a trial runs, rounds are those of the trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from edgewise.base.arrays import Indices
from edgewise.base.choice import instead
from edgewise.core.model.problem import Problem
from edgewise.core.outlook import Explanation
from edgewise.errors import Call, InvalidArgument, UnknownTicket
from edgewise.formats import RoundRewards
from edgewise.formats.measurements import rewards_of_tree
from edgewise.service.uploads import agreed_round
from edgewise.study import Study, StudyTicket, StudyTrial
from edgewise.trial.ticket import TrialTicket, is_key

Deployed: TypeAlias = str | int | float | Mapping[str, str | int | float]
"""A configuration by labels: one arm for all nodes, or the arm of every node."""


def ask(study: Study) -> StudyTicket | TrialTicket:
    """The round to deploy."""
    return study.now().trial_ticket or study.ask()


def ticket(study: Study, key: str) -> StudyTicket | TrialTicket:
    """A round that is out or closed; of a trial, the one that is out."""
    out = study.now().trial_ticket
    return out if out is not None and out.key == key else study.ticket(key)


def tell(study: Study, key: str, read: RoundRewards, *, accept_outliers: bool) -> None:
    """Record measurements."""
    named = agreed_round(key, read.round)
    if is_key(named):
        the_trial(study).tell(named, read.rewards)
    else:
        study.tell(named, read.rewards, accept_outliers=accept_outliers)


def tell_total(study: Study, key: str, total: float) -> None:
    """Record the figure of a round of a trial."""
    if not is_key(key):
        raise InvalidArgument(
            "a total alone is the figure of a round of a trial; tell the measurements instead",
            argument="total",
        )
    the_trial(study).tell(key, total)


def correct(study: Study, key: str, read: RoundRewards) -> None:
    """Replace measurements."""
    named = agreed_round(key, read.round)
    if is_key(named):
        the_trial(study).correct(named, read.rewards)
    else:
        study.correct(named, read.rewards)


def cancel(study: Study, key: str) -> None:
    """Forget a round; of a trial, begin the pair that is out again."""
    if is_key(key):
        the_trial(study).repeat()
    else:
        study.cancel(key)


def the_trial(study: Study) -> StudyTrial:
    """The trial begun last; there must be one."""
    trial = study.trial
    if trial is None:
        raise UnknownTicket(
            "this study has no trial; nothing was changed: begin one with ", Call("confirm")
        )
    return trial


def add(study: Study, given: Sequence[Mapping[str, Any]], source: str, accept: bool) -> None:
    """Put rounds on record that were deployed elsewhere: ``arms`` by label, ``rewards`` as told."""
    problem = study.problem
    arms, rewards = [], []
    for place, one in enumerate(given, start=1):
        arms.append(joint_arm(problem, one["arms"], f"configuration of round {place}"))
        rewards.append(rewards_of_tree(f"round {place}", one["rewards"], problem).rewards)
    study.add(arms, rewards, source=source, accept_outliers=accept)


def explain(study: Study, node: str) -> Explanation:
    """What another arm at a node would change."""
    by_text = {str(label): label for label in study.problem.graph.labels}
    return study.explain(by_text.get(node, node))


def joint_arm(problem: Problem, deployed: Deployed, what: str = "baseline") -> Indices:
    """(n,) a configuration in the numbers of arms; ``what`` is for messages."""
    arms = [str(label) for label in problem.arm_labels or range(problem.n_arms)]
    nodes = [str(label) for label in problem.graph.labels]
    if not isinstance(deployed, Mapping):
        return np.full(len(nodes), _index("arm", str(deployed), arms, what))
    given = {str(node): str(arm) for node, arm in deployed.items()}
    for node in given:
        _index("node", node, nodes, what)
    lacking = [node for node in nodes if node not in given]
    if lacking:
        raise InvalidArgument(
            f"the {what} has no arm for node {lacking[0]!r}; give every node one", argument=what
        )
    return np.array([_index("arm", given[node], arms, what) for node in nodes])


def _index(kind: str, name: str, names: list[str], what: str) -> int:
    if name not in names:
        raise InvalidArgument(
            f"the {what}: no {kind} is called {name!r}; {instead(name, names)}", argument=what
        )
    return names.index(name)

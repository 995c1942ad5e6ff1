"""Writes assets: learners, studies and an export as some version of edgewise stored them.

Kept to show how the assets were made (by this script as it stood then), and to make those of the
next format::

    python -m tests.golden.legacy.write_assets FOLDER

====================  ========  ===============================================================
folder                commit    what was stored
====================  ========  ===============================================================
``legacy``            5e22628   before the house was rebuilt: export format 1, schema 2, saves 2
``legacy/chained``    db01fd3   with a gate and checksums: export format 2, schema 3, saves 3
====================  ========  ===============================================================

Seeds and clock are fixed, so the same version writes the same bytes. What is expected of the
stored data is what the learners and studies that stored it did next, never what a restored one did.
"""

from __future__ import annotations

import gc
import itertools
import json
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from tests.golden.legacy.facts import of_learner, of_log, of_study, plain
from tests.golden.legacy.problems import problems

import edgewise as ew
from edgewise.study.log.codec import pack_line

NEXT = 3
"""Rounds taken after storing."""

_PLANE = [[1.5, 0.3], [-0.1, 0.4]]
_CROSS = [[0.2, 1.2], [0.9, -0.5]]
_SPACE = [[1.2, 0.2, -0.1], [0.1, 0.4, 0.3], [0.0, -0.2, 0.6]]
_TWO = [_PLANE, [[0.2, -0.6], [1.4, 0.1]]]
_TRUTH: dict[str, tuple[Any, Any, float]] = {
    "undirected": ([_SPACE], None, 0.2),
    "noise-unknown": ([_PLANE], None, 0.1),
    "directed": (_TWO, None, 0.3),
    "farm": ([_PLANE], None, 0.5),
    "labelled": ([_CROSS], None, 0.4),
    "flows": (_TWO, [[0.1, 0.3], [-0.2, 0.2]], 0.2),
}
"""M and beta by edge kind, and the deviation of the noise."""

_LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "adaptive, target pair": ("undirected", {"strategy": "adaptive", "target": "pair"}),
    "adaptive, target allocation": ("directed", {"strategy": "adaptive", "target": "allocation"}),
    "contrast": ("undirected", {"strategy": "contrast"}),
    "g-optimal, mixture": ("undirected", {"strategy": "g-optimal", "stopping": "mixture"}),
    "g-optimal, union": ("directed", {"strategy": "g-optimal", "stopping": "union"}),
    "paper": ("undirected", {"strategy": "paper"}),
    "noise estimated": ("noise-unknown", {"strategy": "adaptive", "delta": 1e-9}),
}


def measured(name: str, number: int, arms: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """(m,) the rewards of a round, to six decimals: nothing hangs on the last digit."""
    problem = problems()[name]
    graph, (matrices, betas, noise) = problem.graph, _TRUTH[name]
    ends = problem.arms[arms[graph.arcs]]
    each = 1 if graph.directed else 2
    kinds = np.zeros(len(graph.arcs), int) if graph.kinds is None else graph.kinds.repeat(each)
    mean = np.einsum("ai,aij,aj->a", ends[:, 0], np.array(matrices)[kinds], ends[:, 1])
    if betas is not None:
        mean += np.einsum("ai,ai->a", ends[:, 0], np.array(betas)[kinds])
    if graph.weights is not None:
        mean *= graph.weights.repeat(each)
    generator = np.random.default_rng([sum(name.encode()), number])
    rewards: NDArray[np.float64] = mean + noise * generator.standard_normal(len(mean))
    return rewards.round(6)


# -- learners --------------------------------------------------------------------------------


def write_learners(folder: Path) -> dict[str, Any]:
    """Store learners, then see what they do next."""
    lines, expected = [], {}
    for seed, (title, (name, options)) in enumerate(_LEARNERS.items()):
        learner = ew.Learner(problems()[name], **{"delta": 1e-30, "rng": seed} | options)
        for _ in range(7):
            ticket = learner.ask()
            rewards = measured(name, ticket.round, ticket.arms)
            if ticket.round == 3:
                rewards[1] = np.nan
            learner.tell(ticket, rewards)
        lines.append(f"{json.dumps(title)}:{pack_line(learner.save())}")
        expected[title] = {"problem": name, **of_learner(learner), "next": _go_on(learner, name)}
    (folder / "learner.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return expected


def _go_on(learner: ew.Learner, name: str) -> list[dict[str, Any]]:
    steps = []
    for _ in range(NEXT):
        ticket = learner.ask()
        rewards = measured(name, ticket.round, ticket.arms)
        learner.tell(ticket, rewards)
        step = {"round": ticket.round, "arms": plain(ticket.arms), "rewards": plain(rewards)}
        steps.append({**step, "after": of_learner(learner)})
    return steps


# -- studies ---------------------------------------------------------------------------------


def run(study: ew.Study, name: str, n_rounds: int) -> ew.Study:
    """Take rounds, each answered in full."""
    for _ in range(n_rounds):
        ticket = study.ask()
        study.tell(ticket, measured(name, ticket.round, ticket.arms))
    return study


def eventful(url: str) -> ew.Study:
    """Adaptive; everything has happened to it."""
    study = ew.Study.create("eventful", problems()["farm"], storage=url, delta=0.2, rng=5)
    ticket = run(study, "farm", 2).ask()
    study.tell(ticket, {("a", "b"): 0.25, ("c", "a"): 0.5})
    study.close(ticket)
    study.correct(study.ticket(2), {("a", "b"): None, ("c", "d"): 0.75})
    while not study.stopped:
        run(study, "farm", 1)
    assert study.status().ending is ew.Ending.CERTIFIED
    study.extend(rounds=5)
    run(study, "farm", 5)
    study.extend(delta=1e-9, epsilon=0.001)
    run(study, "farm", 12)
    study.cancel(study.ask())
    ticket = study.ask()
    assert ticket.key.endswith(".2")
    rewards = measured("farm", ticket.round, ticket.arms)
    study.tell(ticket, np.where(np.arange(12) % 3 == 0, rewards, np.nan))
    study.correct(ticket, {("a", "b"): 0.125})
    return study


def budgeted(url: str) -> ew.Study:
    """G-optimal with the union rule, and labels; its budget is spent."""
    study = ew.Study.create(
        "budgeted",
        problems()["labelled"],
        storage=url,
        delta=1e-12,
        strategy="g-optimal",
        stopping="union",
        max_rounds=33,
        rng=6,
    )
    return run(study, "labelled", 33)


def directed(url: str) -> ew.Study:
    """Directed edges of two kinds, weights, candidates and a node term."""
    problem = problems()["flows"]
    return run(ew.Study.create("directed", problem, storage=url, delta=1e-6, rng=7), "flows", 9)


def write_studies(folder: Path) -> dict[str, Any]:
    """Store studies, then see what they do next."""
    names = {"eventful": "farm", "budgeted": "labelled", "directed": "flows"}
    ticks = itertools.count(1_767_225_600.0, 60.25)
    with tempfile.TemporaryDirectory() as place, mock.patch("time.time", side_effect=ticks):
        path = Path(place) / "study.db"
        studies = [make(f"sqlite:///{path}") for make in (eventful, budgeted, directed)]
        studies[0].export(folder / "study.jsonl")
        copy = _fresh(folder / "study.db")
        with closing(sqlite3.connect(path)) as source, closing(copy) as stored:
            assert source.execute("SELECT count(*) FROM edgewise_snapshots").fetchone()[0] >= 2
            source.backup(stored)
        expected = {study.name: _expected(study, names[study.name]) for study in studies}
        del studies
        gc.collect()  # closes the connections before the folder goes
    return expected


def _fresh(path: Path) -> sqlite3.Connection:
    path.unlink(missing_ok=True)
    return sqlite3.connect(path)


def _expected(study: ew.Study, name: str) -> dict[str, Any]:
    """What a study says, and what it does next."""
    result = {"problem": name, "status": of_study(study), "log": of_log(study), "extend": 0}
    if study.stopped:
        result["extend"] = NEXT
        study.extend(rounds=NEXT)
    return {**result, "next": [_step(study, name) for _ in range(NEXT)]}


def _step(study: ew.Study, name: str) -> dict[str, Any]:
    """Take a round; what was told of it before stays."""
    ticket = study.ask()
    missing = np.isnan(study.rewards(ticket))
    study.tell(ticket, np.where(missing, measured(name, ticket.round, ticket.arms), np.nan))
    return {
        "key": ticket.key,
        "arms": plain(ticket.arms),
        "rewards": plain(study.rewards(ticket)),
        "after": of_study(study),
    }


def main(folder: Path) -> None:
    """Write all assets anew."""
    folder.mkdir(exist_ok=True)
    expected = {"learners": write_learners(folder), "studies": write_studies(folder)}
    (folder / "expected.json").write_text(_text(expected), encoding="utf-8")


def _text(tree: dict[str, dict[str, Any]]) -> str:
    """As JSON, with a line for every learner and every study."""
    groups = []
    for name, cases in tree.items():
        lines = [
            f"{json.dumps(title)}:{json.dumps(case, separators=(',', ':'), allow_nan=False)}"
            for title, case in cases.items()
        ]
        groups.append(f"{json.dumps(name)}:{{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(groups) + "\n}\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))

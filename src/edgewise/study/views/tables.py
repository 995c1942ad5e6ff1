"""What a study has on record, as tables: for data frames, files and other tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from edgewise.base.choice import pick
from edgewise.formats.channels import channel_columns, channel_names
from edgewise.formats.names import labelled
from edgewise.formats.output import Output
from edgewise.study.log.codec import kind_of
from edgewise.study.log.events import round_of
from edgewise.study.log.history import Dated, event_of, read_dated
from edgewise.study.views.chronicle import Narrator
from edgewise.study.views.ticket import StudyTicket

if TYPE_CHECKING:
    from edgewise.study.study import Study


def table_of(study: Study, what: str) -> Output:
    """A table by its name: measurements, configurations, rounds, log or recommendation."""
    return pick("table of a study", what, TABLES, argument="what")(study)


def measurements(study: Study) -> Output:
    """One row per measured number: round, what was measured, arms, reward (None if missing)."""
    problem = study.problem
    ends, names = channel_columns(problem), channel_names(problem)
    arms = {1: ("arm",), 2: ("source_arm", "target_arm")}.get(len(ends), ())
    rows: list[tuple[Any, ...]] = []
    for key, dated in _rounds(study):
        arm_of = {row["node"]: row["arm"] for row in labelled(problem, dated.round.arms)}
        for name, value in zip(names, dated.round.rewards.tolist(), strict=True):
            where = name if isinstance(name, tuple) and len(ends) == 2 else (name,) * len(ends)
            shown = (arm_of[node] for node in where)
            rows.append((key, *where, *shown, None if value != value else value))  # NaN
    return Output({"study": study.name}, "measurements", ("round", *ends, *arms, "reward"), rows)


def configurations(study: Study) -> Output:
    """One row per round and node: the arm it was given."""
    rows = [
        (key, row["node"], row["arm"])
        for key, dated in _rounds(study)
        for row in labelled(study.problem, dated.round.arms)
    ]
    return Output({"study": study.name}, "configurations", ("round", "node", "arm"), rows)


def rounds(study: Study) -> Output:
    """One row per round: phase, where from, when handed out and last answered, total, progress."""
    state = study.now().cursor.state
    columns = ("round", "phase", "source", "asked", "told", "missing", "total", "progress")
    rows = []
    for key, dated in _rounds(study):
        number, total = dated.round.number, float(dated.round.rewards.sum())
        closed = number <= state.learner.rounds
        source = next((one.source for one in state.outside if one.first <= number <= one.last), "")
        rows.append(
            (
                key,
                state.phase_of(number) if closed else len(state.phase_ends),
                source,
                _when(dated.asked),
                _when(dated.told) if dated.told > dated.asked or source else None,
                dated.round.missing,
                None if total != total else total,
                float(state.progress[number - 1]) if closed else None,
            )
        )
    return Output({"study": study.name}, "rounds", columns, rows)


def log(study: Study) -> Output:
    """One row per event: its number, time, kind and round, and what happened in words."""
    base, narrator = study.seen.cursor.base, Narrator(study.problem.n_rewards)
    rows = []
    with study.storage.reading(study.name) as journal:
        for entry in journal.read(0):
            event = event_of(entry, base)
            what = (kind_of(event), round_of(event) or None, narrator(event))
            rows.append((entry.sequence, _when(entry.at), *what))
    return Output({"study": study.name}, "log", ("event", "when", "kind", "round", "what"), rows)


def recommendation(study: Study) -> Output:
    """One row per node: the arm recommended for it."""
    found = study.recommend()
    rows = [(row["node"], row["arm"]) for row in found.table()]
    return Output({"study": study.name}, "recommendation", ("node", "arm"), rows)


TABLES: dict[str, Callable[[Study], Output]] = {
    "measurements": measurements,
    "configurations": configurations,
    "rounds": rounds,
    "log": log,
    "recommendation": recommendation,
}


def _rounds(study: Study) -> Iterator[tuple[str, Dated]]:
    """Every round by its key, the one that is out included."""
    base, identity = study.now().cursor.base, study.seen.cursor.identity
    last = study.seen.rounds + 1
    with study.storage.reading(study.name) as journal:
        for dated in read_dated(journal, base, 1, last):
            ticket = StudyTicket.of(study.name, identity, base.problem, dated.round)
            yield ticket.key, dated


def _when(at: float) -> str:
    """Of the clock, in UTC, as ISO 8601 to the second."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

"""The studies that a server has open, and what was computed of them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, TypeVar

from edgewise.base.arrays import Array
from edgewise.core.report import Report
from edgewise.errors import StudyReplaced
from edgewise.plots.layout import node_positions
from edgewise.study import Recommendation, Storage, Study, StudyStatus
from edgewise.study.log.fold import StudyState
from edgewise.study.views.chronicle import Excerpt, recent
from edgewise.study.views.moment import Moment

T = TypeVar("T")

_OPEN = 16
"""So many studies stay in memory; others are loaded again when they are asked for."""


class View:
    """A study at one moment; everything is computed once, however many look at it."""

    def __init__(self, moment: Moment) -> None:
        self.moment = moment
        self._lock = threading.RLock()
        self._known: dict[str, Any] = {}

    def followed_by(self, moment: Moment) -> View:
        """The next view; what a round that is still out does not change is not computed again."""
        view = View(moment)
        if _differ_in_pending_only(self.moment.cursor.state, moment.cursor.state):
            if "status" in self._known:
                view._known["status"] = replace(self.status, pending=moment.pending)
            if "report" in self._known:
                view._known["report"] = self.report
        return view

    @property
    def position(self) -> int:
        """How many events were recorded until then."""
        return self.moment.cursor.position

    @property
    def status(self) -> StudyStatus:
        """Where the study stands."""
        return self.once("status", self.moment.status)

    @property
    def report(self) -> Report:
        """The answer so far; large networks take their time."""
        return self.once("report", self.moment.report)

    @property
    def recommendation(self) -> Recommendation:
        """The best joint arm, as the report has it."""
        return Recommendation.of(self.report, self.moment.remodelled_from)

    def once(self, name: str, compute: Callable[[], T]) -> T:
        """A value that is computed when it is first asked for."""
        with self._lock:
            if name not in self._known:
                self._known[name] = compute()
            known: T = self._known[name]
            return known


def _differ_in_pending_only(before: StudyState, after: StudyState) -> bool:
    return all(
        getattr(before, one.name) is getattr(after, one.name)
        for one in fields(StudyState)
        if one.name not in ("pending", "attempts")
    )


class Desk:
    """Finds studies by name, and their latest views. Threads may share it."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._lock = threading.Lock()
        self._open: OrderedDict[str, tuple[Study, View]] = OrderedDict()
        self._layouts: OrderedDict[str, Array] = OrderedDict()

    def names(self) -> list[str]:
        """The studies, in alphabetical order."""
        return self.storage.names()

    def study(self, name: str) -> Study:
        """A study by name; UnknownStudy if there is none."""
        with self._lock:
            found = self._open.get(name)
        return found[0] if found is not None else self._keep(Study.load(name, storage=self.storage))

    def forget(self, name: str) -> None:
        """Load a study anew when it is asked for again, if it still exists."""
        with self._lock:
            self._open.pop(name, None)

    def rename(self, name: str, new: str) -> None:
        """Call a study something else."""
        self.study(name).rename(new)
        self.forget(name)

    def delete(self, name: str) -> int:
        """Delete a study for good; how many rounds it had."""
        rounds = self.view(name).moment.rounds
        self.study(name).delete()
        self.forget(name)
        return rounds

    def view(self, name: str) -> View:
        """A study as it stands; the same object until something is recorded."""
        study = self.study(name)
        try:
            moment = study.now()
        except StudyReplaced:
            self.forget(name)
            study = self.study(name)
            moment = study.now()
        with self._lock:
            before = self._open.get(name)
            if before is not None and before[1].moment.cursor is moment.cursor:
                self._open.move_to_end(name)
                return before[1]
            view = View(moment) if before is None else before[1].followed_by(moment)
            self._open[name] = (study if before is None else before[0], view)
            self._trim()
            return view

    def position(self, name: str) -> int:
        """How many events are on record, without reading them."""
        with self.storage.reading(name) as journal:
            return journal.length

    def excerpt(self, name: str, *, last: int, before: int | None = None) -> Excerpt:
        """What happened last (before an event), in words."""
        base = self.study(name).seen.cursor.base
        with self.storage.reading(name) as journal:
            return recent(journal, base, last=last, before=before)

    def layout(self, name: str) -> Array:
        """(n, 2) where to draw the nodes; computed once."""
        study = self.study(name)
        identity = study.seen.cursor.identity  # a name may come to mean another study
        if identity not in self._layouts:
            self._layouts[identity] = node_positions(study.problem.graph)
            while len(self._layouts) > _OPEN:
                self._layouts.popitem(last=False)
        return self._layouts[identity]

    def _keep(self, study: Study) -> Study:
        with self._lock:
            kept, _ = self._open.setdefault(study.name, (study, View(study.seen)))
            self._trim()
            return kept

    def _trim(self) -> None:
        while len(self._open) > _OPEN:
            self._open.popitem(last=False)

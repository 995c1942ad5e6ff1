"""The study: ask and tell against a live network, with every measurement on record."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack, cast

from numpy.typing import ArrayLike

from edgewise.base.arrays import Array
from edgewise.base.border import border
from edgewise.base.extras import required
from edgewise.base.randomness import Rng, draw_seed
from edgewise.core.ending import Ending
from edgewise.core.gate.options import Gate
from edgewise.core.model.configuration import checked_configuration
from edgewise.core.model.problem import Problem
from edgewise.core.outlook import Explanation, Prediction, explain_recommended, predict
from edgewise.core.report import Report
from edgewise.core.setting import Setting
from edgewise.core.stopping import StoppingRule
from edgewise.core.strategies import Strategy
from edgewise.core.targets import Target
from edgewise.formats.files import FilePath
from edgewise.study.confirming import StudyTrial
from edgewise.study.copying import copied, tidy, told_again
from edgewise.study.files.measurements import Measurements, read_measurements
from edgewise.study.files.rounds import Configurations, read_rounds
from edgewise.study.log import decide, decide_outside, decide_trial
from edgewise.study.log.cursor import Cursor, begin, begin_log
from edgewise.study.log.events import Event
from edgewise.study.log.fold import Round
from edgewise.study.log.history import event_of
from edgewise.study.log.history import read_rounds as read_recorded
from edgewise.study.log.outside import SOURCE
from edgewise.study.log.recipe import record
from edgewise.study.log.session import Session
from edgewise.study.remodelling import Changes, Place, Question
from edgewise.study.storage.base import Journal, Storage
from edgewise.study.storage.opening import open_storage
from edgewise.study.views.confirmation import Candidates, candidates_of
from edgewise.study.views.export import read_export, write_export
from edgewise.study.views.moment import Moment
from edgewise.study.views.status import History, Recommendation, StudyStatus
from edgewise.study.views.tables import table_of
from edgewise.study.views.ticket import RoundName, StudyTicket
from edgewise.trial.planning import PairsNeeded
from edgewise.trial.setup import set_up

if TYPE_CHECKING:
    import pandas as pd


class Study:
    """Finds the best joint arm of a live network, over weeks, without losing a measurement.

    A study is a fold over an append-only log of events. Every method is one transaction: it is on
    record when the method returns, or nothing has changed. Several processes may work on a study
    at once; each sees what the others did. Repeating a request after a crash is harmless.

    Examples
    --------
    >>> import numpy as np, edgewise as ew
    >>> graph = ew.Graph.from_edges([("north", "hub"), ("south", "hub")])
    >>> problem = ew.Problem(graph, np.eye(2), noise=0.1, arm_labels=["low", "high"])
    >>> study = ew.Study.create("yaw", problem, storage="memory", rng=0)
    >>> ticket = study.ask()
    >>> [row["node"] for row in ticket.table()]
    ['north', 'hub', 'south']
    >>> study.tell(ticket, {("north", "hub"): 0.9})
    >>> study.pending.missing
    3
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @classmethod
    @border
    def create(
        cls,
        name: str,
        problem: Problem,
        *,
        storage: str | Storage = "memory",
        delta: float = 0.05,
        epsilon: float | None = None,
        target: str | Target | None = None,
        strategy: str | Strategy = "adaptive",
        stopping: str | StoppingRule | None = None,
        gate: Gate | None = None,
        trust_model: bool = False,
        robust: bool = False,
        max_rounds: int | None = None,
        rng: Rng = None,
    ) -> Study:
        """Set up a study.

        Parameters
        ----------
        name
            What to load it by.
        problem
            The graph, the arms and the noise; stored with the study, labels included.
        storage
            ``"memory"``, ``"sqlite:///file.db"``, ``"postgresql://user@host/database"``, or the
            ``storage`` of another study.
        delta, epsilon, target, strategy, stopping, gate, trust_model, robust, rng
            As in :class:`~edgewise.Learner`: with the same ``rng`` both ask for the same rounds.
        max_rounds
            Round budget; None for no limit.
        """
        decide.check_name(name)
        budget = decide.check_budget(max_rounds)
        setting = Setting.of(
            problem,
            delta=delta,
            epsilon=epsilon,
            strategy=strategy,
            stopping=stopping,
            target=target,
            gate=gate,
            trust_model=trust_model,
            robust=robust,
        )
        created = record(setting, seed=draw_seed(rng), max_rounds=budget)
        # before any file is made: labels may not do
        entry, cursor = begin_log(setting, created, time.time())
        place = open_storage(storage, create=True)
        with place.creating(name) as journal:
            journal.append(entry)
        return cls(Session(name, place, cursor))

    @classmethod
    @border
    def load(
        cls,
        name: str,
        *,
        storage: str | Storage,
        strategy: Strategy | None = None,
        stopping: StoppingRule | None = None,
    ) -> Study:
        """A study that exists, as it stands.

        ``strategy`` and ``stopping`` are needed only if they are not part of edgewise.
        """
        place = open_storage(storage, create=False)
        with place.reading(name) as journal:
            cursor = begin(journal, strategy, stopping).catch_up(journal)
        return cls(Session(name, place, cursor))

    @staticmethod
    @border
    def names(storage: str | Storage) -> list[str]:
        """The studies of a storage, in alphabetical order."""
        return open_storage(storage, create=False).names()

    @property
    def name(self) -> str:
        """What the study is called."""
        return self._session.name

    @property
    def problem(self) -> Problem:
        """What is being solved."""
        return self._session.cursor.base.problem

    @property
    def storage(self) -> Storage:
        """Where the log is."""
        return self._session.storage

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {self.problem!r})"

    # -- asking and telling ------------------------------------------------------------------

    def ask(self) -> StudyTicket:
        """The round that is out for measurement, or else the next one.

        All processes that ask get the same ticket until the round is closed. After the stop, or
        with the budget spent, :class:`~edgewise.errors.LearnerStopped` says how to go on.
        """
        # what asking decides can be decided again alike: only answers must survive a power cut
        after = self._request(lambda at, _: decide.ask(at.setting, at.state), durable=False)
        return cast(StudyTicket, after.pending)

    def ticket(self, key: str | int) -> StudyTicket:
        """The ticket of a round that is out or closed, by its number or its ``key``."""
        identity = self._session.cursor.identity
        return StudyTicket.of(self.name, identity, self.problem, self._find(key))

    def tell(
        self, ticket: RoundName, rewards: Measurements, *, accept_outliers: bool = False
    ) -> None:
        """Record measurements of a round; more may follow. It closes when none is missing.

        ``ticket`` is what ``ask`` returned, or its key: ``"7"``, or ``"7.2"`` for a second attempt.
        ``rewards`` is an array (m,) in ``graph.arcs`` order, a mapping ``{(u, v): value}`` with
        the labels of the nodes, or a data frame with the columns source, target and reward; of
        nodes (n,), ``{node: value}`` or the columns node and reward; of links (E,) or as arcs, in
        either order; of the total, a number. NaN or None where missing. Telling the same again is
        harmless; another value is refused. Wrong input raises and changes nothing, and so does a
        value that can hardly be right (:class:`~edgewise.errors.UnlikelyReward`: 12 deviations of
        the noise outside its prediction interval; before there is one, 1,000 times the round's
        others), unless ``accept_outliers``.
        """
        problem = self.problem
        self._require_own(ticket)
        which, values = read_measurements(problem, rewards)
        self._request(
            lambda at, records: decide.tell(
                problem,
                at.state,
                records,
                ticket,
                which,
                values,
                accept_outliers=accept_outliers or at.setting.robust,
            )
        )

    def close(self, ticket: RoundName) -> None:
        """Close a round with what has arrived; the rest counts as missing."""
        self._require_own(ticket)
        self._request(lambda at, records: decide.close(at.state, records, ticket))

    def cancel(self, ticket: RoundName) -> None:
        """Forget a round that is out: ``ask`` hands it out again, with the same arms.

        If its arms cannot be deployed at all, :meth:`close` it instead.
        """
        self._require_own(ticket)
        self._request(lambda at, records: decide.cancel(at.state, records, ticket))

    def correct(self, ticket: RoundName, rewards: Measurements) -> None:
        """Replace measurements that were wrong; the old values stay in the log.

        ``rewards`` as in :meth:`tell`, but NaN means that there is no measurement: an array is all
        of the round, a mapping or data frame what it names. Late measurements of a closed round
        are corrections too. Rounds deployed since stay; the evidence is judged anew.
        """
        self._require_own(ticket)
        which, values = read_measurements(self.problem, rewards)
        self._request(
            lambda at, records: decide.correct(at.setting, at.state, records, ticket, which, values)
        )

    @border
    def add(
        self,
        arms: Configurations,
        rewards: Measurements | Sequence[Measurements],
        *,
        source: str = SOURCE,
        accept_outliers: bool = False,
    ) -> None:
        """Put rounds on record that were deployed before the study, or outside of it.

        They count as evidence, as a phase of their own; the phase that is running ends before
        them. They cost no budget. What is proved holds if neither their arms nor the choice which
        rounds to add, nor the moment, looked at their rewards or at those of the running phase:
        the report says so. Adding the same rounds of the same source again changes nothing.

        Parameters
        ----------
        arms
            What was deployed: (n,) in numbers, ``{node: arm}`` by label, or one arm for all
            nodes; of R rounds (R, n), or a list of mappings.
        rewards
            What was measured, as in :meth:`tell`; of R rounds (R, m), or a list.
        source
            Where they come from, such as ``"baseline of 2025"``; reports name it.
        accept_outliers
            As in :meth:`tell`.
        """
        named = decide_outside.check_source(source)
        given = read_rounds(self.problem, arms, rewards)
        self._session.change(
            lambda _, at: decide_outside.add(
                at.setting,
                at.state,
                *given,
                named,
                accept_outliers=accept_outliers or at.setting.robust,
            )
        )

    @border
    def extend(
        self,
        *,
        rounds: int | None = None,
        delta: float | None = None,
        epsilon: float | None = None,
    ) -> None:
        """Go on after the stop, or after the budget.

        ``rounds``: so many more, whatever the rule says. ``delta``, ``epsilon``: judge by these.
        """
        self._request(
            lambda at, _: decide.extend(at.state, rounds=rounds, delta=delta, epsilon=epsilon)
        )

    @border
    def remodel(
        self, name: str, *, storage: Place = None, rng: Rng = None, **changes: Unpack[Changes]
    ) -> Study:
        """Make a study that reads the same measurements under another model; this one stays.

        ``changes``: options of :class:`~edgewise.Problem` (``measured`` where the new numbers are
        sums of the old), ``covariates``, or options of :meth:`create`. The new study goes on after
        all rounds of this one, which it says were seen before its model was chosen.
        """
        return Study(told_again(self._session, name, storage, changes, rng))

    @border
    def copy(
        self, name: str, *, storage: Place = None, rng: Rng = None, **changes: Unpack[Question]
    ) -> Study:
        """Make a study that asks something else of the same measurements; this one stays.

        ``changes``: ``target``, ``delta``, ``epsilon``, ``strategy``, ``stopping``, ``gate``,
        ``trust_model``, ``robust`` or ``max_rounds``, as in :meth:`create`. What was chosen after
        the rounds were seen is said in its reports. Without changes it is the same study, with its
        trials and certificates, under another name.
        """
        return Study(copied(self._session, name, storage, changes, rng))

    @border
    def rename(self, name: str) -> None:
        """Call the study something else; other processes find it under the new name only."""
        tidy(self.storage).rename(self.name, decide.check_name(name))
        self._session.name = name

    def delete(self) -> None:
        """Delete the study with its log, for good; :meth:`export` it first if in doubt."""
        tidy(self.storage).delete(self.name)

    # -- confirming ----------------------------------------------------------------------------

    def confirm(
        self,
        *,
        baseline: ArrayLike,
        candidate: ArrayLike | None = None,
        candidates: Candidates | None = None,
        delta: float = 0.05,
        margin: float = 0.0,
        width: float | None = None,
        max_pairs: int = 100,
        rng: Rng = None,
    ) -> StudyTrial:
        """Begin a trial: is the recommended joint arm better than the baseline? No model is used.

        It is on record like everything else; until it is over, :meth:`ask` waits. What it finds
        is part of :meth:`recommend` and :meth:`report`.

        Parameters
        ----------
        baseline
            (n,) today's arm of every node, or one arm for all of them.
        candidate
            (n,) what to compare with it; the recommended joint arm by default.
        candidates
            Several: joint arms by name, or names out of "recommended", "best common" and
            "best seen".
        delta, margin, width, max_pairs, rng
            As in :class:`~edgewise.Trial`.
        """
        design = set_up(
            self.problem,
            baseline=baseline,
            candidates=candidates_of(self.report(), candidate, candidates),
            delta=delta,
            margin=margin,
            width=width,
            max_pairs=max_pairs,
            rng=rng,
        )
        after = self._session.change(lambda _, at: decide_trial.begin(at.state, design))
        return StudyTrial(self._session, len(after.state.trials))

    def pairs_needed(
        self,
        *,
        baseline: ArrayLike,
        candidate: ArrayLike | None = None,
        difference: float | None = None,
        delta: float = 0.05,
    ) -> PairsNeeded:
        """How many pairs :meth:`confirm` may be expected to take; nothing is recorded.

        ``difference`` is what the model expects, by default; the noise is that measured so far.
        """
        return self.now().pairs_needed(baseline, candidate, difference, delta)

    @property
    def trial(self) -> StudyTrial | None:
        """The trial begun last, running or over; None if there was none."""
        count = len(self._session.present().state.trials)
        return StudyTrial(self._session, count) if count else None

    # -- looking -----------------------------------------------------------------------------

    def now(self) -> Moment:
        """The study as it stands; what is asked of the same moment agrees."""
        return Moment(self.name, self._session.present())

    @property
    def seen(self) -> Moment:
        """The study as this process saw it last, by any of its methods: the log is not read."""
        return Moment(self.name, self._session.cursor)

    @property
    def pending(self) -> StudyTicket | None:
        """The round that is out for measurement, and what it lacks: see ``missing``."""
        return self.now().pending

    @property
    def stopped(self) -> bool:
        """Whether the study takes no further rounds, until it is extended."""
        return self.now().ending is not Ending.RUNNING

    def status(self) -> StudyStatus:
        """Where the study stands."""
        return self.now().status()

    def recommend(self) -> Recommendation:
        """The best joint arm by what is known, and what is proved about it."""
        return self.now().recommend()

    def report(self) -> Report:
        """The answer so far, its guarantee, and what it rests on."""
        return self.now().report()

    @border
    def predict(self, arms: Any, *, against: Any = None) -> Prediction:
        """The global reward expected of a joint arm, with an interval for planning.

        ``arms`` is (n,) in numbers, ``{node: arm}`` by label, or one arm for all nodes;
        ``against`` another, for the difference of the two. The interval is that of one joint arm
        chosen beforehand: no certificate.
        """
        problem, at = self.problem, self.now().cursor
        first = checked_configuration(problem, "arms", arms)
        second = None if against is None else checked_configuration(problem, "against", against)
        return predict(at.setting, at.state.learner, first, second)

    def explain(self, node: Hashable) -> Explanation:
        """What changes if a node takes another arm than recommended, and which links decide."""
        at = self.now().cursor
        return explain_recommended(at.setting, at.state.learner, node)

    def history(self) -> History:
        """Totals and progress of every round, without reading the log."""
        return self.now().history()

    def rewards(self, ticket: RoundName) -> Array:
        """(m,) what is on record of a round, one per measured number, NaN where nothing is."""
        return self._find(ticket).rewards

    def log(self) -> Iterator[tuple[float, Event]]:
        """Every event so far, with the time it was recorded (seconds since 1970, UTC)."""
        base = self._session.cursor.base
        with self.storage.reading(self.name) as journal:
            for entry in journal.read(0):
                yield entry.at, event_of(entry, base)

    @border
    def to_frame(self, what: str = "measurements") -> pd.DataFrame:
        """What is on record as a data frame; needs ``edgewise[pandas]``.

        ``"measurements"``, one row per measured number with the arms that showed it;
        ``"configurations"``, the arm of every node in every round; ``"rounds"``, with totals,
        times and progress; ``"log"``, every event; or ``"recommendation"``.
        """
        pd = required("pandas", "a frame needs pandas", "pandas")
        found = table_of(self, what)
        return pd.DataFrame(list(found.rows), columns=list(found.columns))

    @border
    def export(self, path: FilePath) -> None:
        """Write the study to a file of JSON Lines, one event a line."""
        with self._session.reading() as (journal, cursor):
            write_export(path, self.name, journal, cursor)

    @classmethod
    @border
    def from_export(
        cls,
        path: FilePath,
        *,
        storage: str | Storage = "memory",
        name: str | None = None,
        strategy: Strategy | None = None,
        stopping: StoppingRule | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Study:
        """Add an exported study to a storage, under its own name or another, and load it.

        Its log is replayed and compared with the state it was exported with; then it goes on as
        the exported one would have. All of it is imported, or nothing. ``progress`` is called with
        the number of events that have been replayed.
        """
        place = open_storage(storage, create=True)
        chosen, cursor = read_export(
            path, place, name, strategy=strategy, stopping=stopping, progress=progress
        )
        return cls(Session(chosen, place, cursor))

    def _request(
        self, request: Callable[[Cursor, decide.Records], Event | None], *, durable: bool = True
    ) -> Moment:
        """Append the event a request makes of the study as it stands, in one transaction."""
        after = self._session.change(
            lambda journal, cursor: request(cursor, self._records(journal)), durable=durable
        )
        return Moment(self.name, after)

    def _require_own(self, ticket: RoundName) -> None:
        if isinstance(ticket, StudyTicket):
            ticket.require_from(self._session.cursor.identity, self.problem)

    def _find(self, ticket: RoundName) -> Round:
        self._require_own(ticket)
        with self._session.reading() as (journal, cursor):
            return decide.find(cursor.state, self._records(journal), ticket)

    def _records(self, journal: Journal) -> decide.Records:
        return partial(read_recorded, journal, self._session.cursor.base)

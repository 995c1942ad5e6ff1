"""What any storage of studies must satisfy.

>>> from edgewise.study import MemoryStorage
>>> class TestMyStorage(StorageContract):
...     @pytest.fixture
...     def storage(self):
...         return MemoryStorage()
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager

import numpy as np
import pytest

from edgewise.core.learner import Learner
from edgewise.core.model.problem import Problem
from edgewise.errors import StudyExists, UnknownStudy
from edgewise.network.graph import Graph
from edgewise.study.storage.base import Entry, Journal, Storage, is_tidy
from edgewise.study.study import Study

_EVERY_BYTE = bytes(range(256))


class StorageContract:
    """Inherit and override :meth:`storage`; if another object can open the same, :meth:`reopen`."""

    @pytest.fixture
    def storage(self) -> Storage:
        """An empty storage."""
        raise NotImplementedError("override the fixture storage with one that is empty")

    def reopen(self, storage: Storage) -> Storage:
        """The same storage as another process would open it."""
        return storage

    # -- names -------------------------------------------------------------------------------

    def test_an_empty_storage_has_no_names(self, storage: Storage) -> None:
        """No study, no name."""
        assert storage.names() == []

    def test_names_are_listed_in_alphabetical_order(self, storage: Storage) -> None:
        """Any text of up to 255 characters is a name."""
        names = ["south", "north", "Ärger", "a b/c'd\"e", "x" * 255]
        for name in names:
            _create(storage, name)
        assert self.reopen(storage).names() == sorted(names)

    def test_a_name_can_be_taken_once(self, storage: Storage) -> None:
        """The study that has the name stays as it is."""
        _create(storage, "farm", _entries(3))
        with pytest.raises(StudyExists, match="'farm'"), storage.creating("farm") as journal:
            journal.append(_entry(1))
        assert _log(storage, "farm") == _entries(3)

    @pytest.mark.parametrize("action", ["reading", "writing"])
    def test_an_unknown_name_is_refused_with_the_known_ones(
        self, storage: Storage, action: str
    ) -> None:
        """The error carries what was asked for and what there is."""
        _create(storage, "north")
        _create(storage, "south")
        with pytest.raises(UnknownStudy, match="did you mean 'south'") as caught:
            getattr(storage, action)("sotuh").__enter__()
        assert (caught.value.name, caught.value.names) == ("sotuh", ("north", "south"))

    # -- the log -----------------------------------------------------------------------------

    def test_entries_come_back_as_they_were_appended(self, storage: Storage) -> None:
        """To the last bit, numbers and bytes; the clock need not run forwards."""
        entries = [
            Entry(1, 0, "created", 0.1 + 0.2, b""),
            Entry(2, 1, "asked", 1.7e9 + 2**-20, _EVERY_BYTE),
            Entry(3, 1, "told", -1.0, _EVERY_BYTE * 400),
        ]
        _create(storage, "farm", entries)
        assert _log(self.reopen(storage), "farm") == entries

    def test_a_long_log_is_read_from_anywhere(self, storage: Storage) -> None:
        """``length`` is the last sequence number, ``read`` starts after the one given."""
        _create(storage, "farm", _entries(100))
        with storage.reading("farm") as journal:
            assert journal.length == 100
            for after in (0, 1, 50, 99, 100):
                assert [one.sequence for one in journal.read(after)] == [*range(after + 1, 101)]

    def test_rounds_are_read_in_order_whatever_lies_between(self, storage: Storage) -> None:
        """Round by round, within a round by sequence number."""
        rounds = [0, 1, 1, 2, 1, 3, 0, 2, 4]
        _create(storage, "farm", [_entry(k, number) for k, number in enumerate(rounds, start=1)])
        with storage.reading("farm") as journal:
            found = [(one.round, one.sequence) for one in journal.read_rounds(1, 3)]
            assert found == [(1, 2), (1, 3), (1, 5), (2, 4), (2, 8), (3, 6)]
            assert [one.sequence for one in journal.read_rounds(0, 0)] == [1, 7]
            assert list(journal.read_rounds(5, 9)) == []

    def test_a_transaction_sees_what_it_has_written(self, storage: Storage) -> None:
        """Before it ends."""
        _create(storage, "farm", _entries(2))
        with storage.writing("farm") as journal:
            journal.append(_entry(3))
            assert journal.length == 3
            assert list(journal.read(2)) == [_entry(3)]

    @pytest.mark.parametrize("durable", [True, False])
    def test_what_was_written_stays(self, storage: Storage, durable: bool) -> None:
        """Durable or not: the process has not died."""
        _create(storage, "farm", _entries(1))
        with storage.writing("farm", durable=durable) as journal:
            journal.append(_entry(2))
        assert _log(self.reopen(storage), "farm") == _entries(2)

    def test_studies_do_not_mix(self, storage: Storage) -> None:
        """Neither their entries nor their snapshots."""
        _create(storage, "north", _entries(2))
        _create(storage, "south", _entries(5))
        with storage.writing("north") as journal:
            journal.append(_entry(3))
            journal.keep_snapshot(3, b"north")
        assert (_log(storage, "north"), _log(storage, "south")) == (_entries(3), _entries(5))
        assert _snapshot(storage, "south") is None

    # -- snapshots ---------------------------------------------------------------------------

    def test_there_is_one_snapshot_the_last(self, storage: Storage) -> None:
        """None at first; a new one replaces the old."""
        _create(storage, "farm", _entries(3))
        assert _snapshot(storage, "farm") is None
        for sequence, data in ((2, b"older"), (3, _EVERY_BYTE)):
            with storage.writing("farm") as journal:
                journal.keep_snapshot(sequence, data)
        assert _snapshot(self.reopen(storage), "farm") == (3, _EVERY_BYTE)

    # -- all or nothing ----------------------------------------------------------------------

    def test_a_failed_creation_leaves_no_study(self, storage: Storage) -> None:
        """Its name is free again."""
        _fail(storage.creating("farm"), 1)
        assert storage.names() == []
        _create(storage, "farm", _entries(1))

    def test_a_failed_transaction_leaves_nothing(self, storage: Storage) -> None:
        """Neither its entries nor its snapshot; the next one works."""
        _create(storage, "farm", _entries(2))
        with storage.writing("farm") as journal:
            journal.keep_snapshot(2, b"kept")
        _fail(storage.writing("farm"), 3)
        assert _log(storage, "farm") == _entries(2)
        assert _snapshot(storage, "farm") == (2, b"kept")
        with storage.writing("farm") as journal:
            journal.append(_entry(3))
        assert _log(self.reopen(storage), "farm") == _entries(3)

    def test_writers_wait_for_each_other(self, storage: Storage) -> None:
        """Threads that each append what comes next lose and double nothing."""
        _create(storage, "farm", _entries(1))
        failures: list[BaseException] = []

        def work() -> None:
            try:
                for _ in range(10):
                    with storage.writing("farm") as journal:
                        journal.append(_entry(journal.length + 1))
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert _log(self.reopen(storage), "farm") == _entries(41)

    # -- order ---------------------------------------------------------------------------------

    def test_studies_are_renamed_and_deleted_where_that_can_be(self, storage: Storage) -> None:
        """A storage need not; one that can keeps entries and other studies as they are."""
        if not is_tidy(storage):
            pytest.skip("it has no methods rename and delete")
        _create(storage, "north", _entries(2))
        _create(storage, "south", _entries(3))
        storage.rename("north", "west")
        assert self.reopen(storage).names() == ["south", "west"]
        assert _log(storage, "west") == _entries(2)
        with pytest.raises(StudyExists, match="'south'"):
            storage.rename("west", "south")
        storage.delete("south")
        with pytest.raises(UnknownStudy):
            storage.delete("south")
        assert self.reopen(storage).names() == ["west"]
        _create(storage, "south", _entries(1))
        assert _log(storage, "south") == _entries(1)

    # -- a study -----------------------------------------------------------------------------

    def test_a_study_resumed_every_time_equals_the_bare_learner(self, storage: Storage) -> None:
        """Through more entries than a snapshot covers."""
        graph = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
        problem = Problem(graph, np.eye(2), noise=0.5)
        Study.create("farm", problem, storage=storage, delta=1e-300, rng=5)
        learner = Learner(problem, delta=1e-300, rng=5)
        for number in range(1, 41):
            study = Study.load("farm", storage=self.reopen(storage))
            ticket, expected = study.ask(), learner.ask()
            assert (ticket.round, ticket.arms.tolist()) == (number, expected.arms.tolist())
            rewards = np.sin(number + np.arange(graph.n_arcs))
            study.tell(ticket, rewards)
            learner.tell(expected, rewards)
        with storage.reading("farm") as journal:
            assert journal.length == 81
            assert journal.snapshot() is not None
        assert str(Study.load("farm", storage=storage).report()) == str(learner.report())


def _entry(sequence: int, round: int = 1) -> Entry:  # noqa: A002
    return Entry(sequence, round, "told", float(sequence), f"entry {sequence}".encode())


def _entries(count: int) -> list[Entry]:
    return [_entry(sequence) for sequence in range(1, count + 1)]


def _create(storage: Storage, name: str, entries: Sequence[Entry] = ()) -> None:
    with storage.creating(name) as journal:
        for entry in entries:
            journal.append(entry)


def _fail(transaction: AbstractContextManager[Journal], sequence: int) -> None:
    """Write an entry and a snapshot, then raise."""

    def interrupted() -> None:
        with transaction as journal:
            journal.append(_entry(sequence))
            journal.keep_snapshot(sequence, b"rubbish")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()


def _log(storage: Storage, name: str) -> list[Entry]:
    with storage.reading(name) as journal:
        return list(journal.read(0))


def _snapshot(storage: Storage, name: str) -> tuple[int, bytes] | None:
    with storage.reading(name) as journal:
        return journal.snapshot()

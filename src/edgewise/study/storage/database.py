"""Studies in SQLite or PostgreSQL, through one schema."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from edgewise.errors import MissingExtra

try:
    import sqlalchemy as sa
except ImportError as error:
    raise MissingExtra(
        "a study in a database needs SQLAlchemy; install it with: pip install 'edgewise[study]'"
    ) from error

from edgewise.study.storage.base import Entry, study_exists, unknown_study
from edgewise.study.storage.engines import Database
from edgewise.study.storage.preparation import is_ready, prepare, upgrade
from edgewise.study.storage.schema import EVENTS, SNAPSHOTS, STUDIES

_PAGE = 32
"""Entries fetched at a time: a log is never in memory as a whole."""

# Statements are built once: building one costs more than SQLite takes to run it.
_NAME, _STUDY = sa.bindparam("name", type_=sa.String), sa.bindparam("study", type_=sa.Integer)
_FIND = sa.select(STUDIES.c.id).where(STUDIES.c.name == _NAME)
_FIND_AND_LOCK = _FIND.with_for_update()
_ADD = sa.insert(STUDIES).returning(STUDIES.c.id)
_RENAME = sa.update(STUDIES).where(STUDIES.c.id == _STUDY)
_DELETE = [  # in the order in which nothing refers to what is gone
    sa.delete(SNAPSHOTS).where(SNAPSHOTS.c.study == _STUDY),
    sa.delete(EVENTS).where(EVENTS.c.study == _STUDY),
    sa.delete(STUDIES).where(STUDIES.c.id == _STUDY),
]
_LENGTH = sa.select(sa.func.max(EVENTS.c.sequence)).where(EVENTS.c.study == _STUDY)
_APPEND = sa.insert(EVENTS)
_ENTRIES = (
    sa.select(EVENTS.c.sequence, EVENTS.c.round, EVENTS.c.kind, EVENTS.c.at, EVENTS.c.data)
    .where(EVENTS.c.study == _STUDY)
    .limit(_PAGE)
)
_NEXT = _ENTRIES.where(EVENTS.c.sequence > sa.bindparam("after")).order_by(EVENTS.c.sequence)
_NEXT_OF_ROUNDS = _ENTRIES.where(
    sa.tuple_(EVENTS.c.round, EVENTS.c.sequence)
    > sa.tuple_(sa.bindparam("round"), sa.bindparam("after")),
    EVENTS.c.round <= sa.bindparam("last"),
).order_by(EVENTS.c.round, EVENTS.c.sequence)
_SNAPSHOT = sa.select(SNAPSHOTS.c.sequence, SNAPSHOTS.c.data).where(SNAPSHOTS.c.study == _STUDY)
_DROP_SNAPSHOT = sa.delete(SNAPSHOTS).where(SNAPSHOTS.c.study == _STUDY)
_KEEP_SNAPSHOT = sa.insert(SNAPSHOTS)


class DatabaseStorage:
    """The studies of a database.

    SQLite: one file, safe for processes on one machine (write-ahead log, immediate transactions;
    not on network file systems). PostgreSQL: for teams; writers of a study queue up on its row.
    """

    def __init__(self, url: str, *, create: bool = False) -> None:
        self._database = Database.of(url, create=create)
        self._create = create
        self._ready = False
        weakref.finalize(self, _close, self._database.engine, os.getpid())

    def __repr__(self) -> str:
        return f"DatabaseStorage({self._database.place!r})"

    def names(self) -> list[str]:
        """The studies, in alphabetical order."""
        with self._transaction(reads_only=True) as connection:
            return _names(connection)

    @contextmanager
    def creating(self, name: str) -> Iterator[_DatabaseJournal]:
        """A transaction that adds a study."""
        with self._transaction() as connection:
            if connection.execute(_FIND, {"name": name}).first() is not None:
                raise study_exists(name, self._database.place)
            try:
                study = connection.execute(_ADD, {"name": name}).scalar_one()
            except sa.exc.IntegrityError as error:  # another process was faster
                raise study_exists(name, self._database.place) from error
            yield _DatabaseJournal(connection, study)

    @contextmanager
    def reading(self, name: str) -> Iterator[_DatabaseJournal]:
        """A transaction that changes nothing."""
        with self._transaction(reads_only=True) as connection:
            yield _DatabaseJournal(connection, self._find(connection, _FIND, name))

    @contextmanager
    def writing(self, name: str, *, durable: bool = True) -> Iterator[_DatabaseJournal]:
        """A transaction that appends, alone."""
        with self._transaction(durable=durable) as connection:
            yield _DatabaseJournal(connection, self._find(connection, _FIND_AND_LOCK, name))

    def rename(self, name: str, new: str) -> None:
        """Call a study something else."""
        with self._transaction() as connection:
            study = self._find(connection, _FIND_AND_LOCK, name)
            if connection.execute(_FIND, {"name": new}).first() is not None:
                raise study_exists(new, self._database.place)
            try:
                connection.execute(_RENAME.values(name=new), {"study": study})
            except sa.exc.IntegrityError as error:  # another process was faster
                raise study_exists(new, self._database.place) from error

    def delete(self, name: str) -> None:
        """Forget a study, its log included."""
        with self._transaction() as connection:
            study = self._find(connection, _FIND_AND_LOCK, name)
            for statement in _DELETE:
                connection.execute(statement, {"study": study})

    def _find(self, connection: sa.Connection, query: sa.Select[Any], name: str) -> int:
        found = connection.execute(query, {"name": name}).scalar()
        if found is None:
            raise unknown_study(name, _names(connection), self._database.place)
        return int(found)

    @contextmanager
    def _transaction(self, **options: bool) -> Iterator[sa.Connection]:
        """A transaction on tables that are there, in the present version.

        The first one looks for them; only if they are not as they should be, it is begun again.
        """
        with ExitStack() as stack:
            connection = stack.enter_context(self._database.transaction(**options))
            if not self._ready and not is_ready(self._database, connection):
                stack.close()
                prepare(self._database, create=self._create)
                connection = stack.enter_context(self._database.transaction(**options))
            self._ready = True
            yield connection


def _names(connection: sa.Connection) -> list[str]:
    return sorted(connection.execute(sa.select(STUDIES.c.name)).scalars())


def _close(engine: sa.Engine, owner: int) -> None:
    """Close idle connections, unless they belong to the process this one was forked from."""
    engine.dispose(close=os.getpid() == owner)


def upgrade_database(url: str) -> Path | None:
    """Bring a database of an older edgewise up to date: see :func:`edgewise.study.upgrade`."""
    database = Database.of(url, create=False)
    try:
        return upgrade(database)
    finally:
        database.engine.dispose()


class _DatabaseJournal:
    """The log of one study, inside a transaction."""

    def __init__(self, connection: sa.Connection, study: int) -> None:
        self._connection = connection
        self._study = study

    @property
    def length(self) -> int:
        return self._execute(_LENGTH).scalar() or 0

    def read(self, after: int) -> Iterator[Entry]:
        while page := self._page(_NEXT, after=after):
            yield from page
            after = page[-1].sequence

    def read_rounds(self, first: int, last: int) -> Iterator[Entry]:
        number, after = first, 0
        while page := self._page(_NEXT_OF_ROUNDS, round=number, after=after, last=last):
            yield from page
            number, after = page[-1].round, page[-1].sequence

    def append(self, entry: Entry) -> None:
        self._execute(_APPEND, **vars(entry))

    def snapshot(self) -> tuple[int, bytes] | None:
        row = self._execute(_SNAPSHOT).first()
        return None if row is None else (row.sequence, bytes(row.data))

    def keep_snapshot(self, sequence: int, data: bytes) -> None:
        self._execute(_DROP_SNAPSHOT)
        self._execute(_KEEP_SNAPSHOT, sequence=sequence, data=data)

    def _page(self, query: sa.Select[Any], **values: int) -> list[Entry]:
        """The next entries. Every page is a query of its own: nothing is left open."""
        return [
            Entry(row.sequence, row.round, row.kind, row.at, bytes(row.data))
            for row in self._execute(query, **values)
        ]

    def _execute(self, statement: sa.Executable, **values: Any) -> sa.CursorResult[Any]:
        return self._connection.execute(statement, {"study": self._study, **values})

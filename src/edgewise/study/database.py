"""Studies in SQLite or PostgreSQL, through one schema."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from edgewise.errors import MissingExtra, StudyExists, UnknownStudy

try:
    import sqlalchemy as sa
except ImportError as error:
    raise MissingExtra(
        "a study in a database needs SQLAlchemy; install it with: pip install 'edgewise[study]'"
    ) from error

from edgewise.study.engines import Database
from edgewise.study.preparation import prepare, upgrade
from edgewise.study.schema import EVENTS, SNAPSHOTS, STUDIES
from edgewise.study.storage import Entry

_PAGE = 32
"""Entries fetched at a time: a log is never in memory as a whole."""


class DatabaseStorage:
    """The studies of a database.

    SQLite: one file, safe for processes on one machine (write-ahead log, immediate transactions;
    not on network file systems). PostgreSQL: for teams; writers of a study queue up on its row.
    """

    def __init__(self, url: str, *, create: bool = False) -> None:
        self._database = Database.of(url, create=create)
        weakref.finalize(self, _close, self._database.engine, os.getpid())
        prepare(self._database, create=create)

    def __repr__(self) -> str:
        return f"DatabaseStorage({self._database.place!r})"

    def names(self) -> list[str]:
        """The studies, in alphabetical order."""
        with self._database.transaction(reads_only=True) as connection:
            return sorted(connection.execute(sa.select(STUDIES.c.name)).scalars())

    @contextmanager
    def creating(self, name: str) -> Iterator[_Journal]:
        """A transaction that adds a study."""
        with self._database.transaction() as connection:
            taken = sa.select(STUDIES.c.id).where(STUDIES.c.name == name)
            if connection.execute(taken).first() is not None:
                raise self._exists(name)
            try:
                added = sa.insert(STUDIES).values(name=name).returning(STUDIES.c.id)
                study = connection.execute(added).scalar_one()
            except sa.exc.IntegrityError as error:  # another process was faster
                raise self._exists(name) from error
            yield _Journal(connection, study)

    @contextmanager
    def reading(self, name: str) -> Iterator[_Journal]:
        """A transaction that changes nothing."""
        with self._database.transaction(reads_only=True) as connection:
            yield _Journal(connection, self._find(connection, name, lock=False))

    @contextmanager
    def writing(self, name: str, *, durable: bool = True) -> Iterator[_Journal]:
        """A transaction that appends, alone."""
        with self._database.transaction(durable=durable) as connection:
            yield _Journal(connection, self._find(connection, name, lock=True))

    def _find(self, connection: sa.Connection, name: str, *, lock: bool) -> int:
        query = sa.select(STUDIES.c.id).where(STUDIES.c.name == name)
        found = connection.execute(query.with_for_update() if lock else query).scalar()
        if found is None:
            known = connection.execute(sa.select(STUDIES.c.name).limit(10)).scalars().all()
            raise UnknownStudy(
                f"no study is called {name!r} in {self._database.place} (there are: "
                f"{', '.join(map(repr, sorted(known))) or 'none'}); check the name, or create it"
            )
        return int(found)

    def _exists(self, name: str) -> StudyExists:
        return StudyExists(
            f"there is a study called {name!r} in {self._database.place} already; load it, or "
            "choose another name"
        )


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


class _Journal:
    """The log of one study, inside a transaction."""

    def __init__(self, connection: sa.Connection, study: int) -> None:
        self._connection = connection
        self._study = study

    @property
    def length(self) -> int:
        query = sa.select(sa.func.max(EVENTS.c.sequence)).where(EVENTS.c.study == self._study)
        return self._connection.execute(query).scalar() or 0

    def read(self, after: int) -> Iterator[Entry]:
        return self._pages(lambda last: EVENTS.c.sequence > (last.sequence if last else after))

    def read_rounds(self, first: int, last: int) -> Iterator[Entry]:
        place = sa.tuple_(EVENTS.c.round, EVENTS.c.sequence)

        def following(previous: Entry | None) -> Any:
            start = (previous.round, previous.sequence) if previous else (first, 0)
            return sa.and_(place > start, EVENTS.c.round <= last)

        return self._pages(following, EVENTS.c.round)

    def append(self, entry: Entry) -> None:
        self._connection.execute(sa.insert(EVENTS).values(study=self._study, **vars(entry)))

    def snapshot(self) -> tuple[int, bytes] | None:
        query = sa.select(SNAPSHOTS.c.sequence, SNAPSHOTS.c.data)
        row = self._connection.execute(query.where(SNAPSHOTS.c.study == self._study)).first()
        return None if row is None else (row.sequence, bytes(row.data))

    def keep_snapshot(self, sequence: int, data: bytes) -> None:
        self._connection.execute(sa.delete(SNAPSHOTS).where(SNAPSHOTS.c.study == self._study))
        values = {"study": self._study, "sequence": sequence, "data": data}
        self._connection.execute(sa.insert(SNAPSHOTS).values(values))

    def _pages(self, following: Callable[[Entry | None], Any], *order: Any) -> Iterator[Entry]:
        """Entries, a page at a time; ``following`` selects those after the one read last.

        Every page is a query of its own: nothing is left open if the caller stops early.
        """
        columns = (EVENTS.c.sequence, EVENTS.c.round, EVENTS.c.kind, EVENTS.c.at, EVENTS.c.data)
        query = sa.select(*columns).order_by(*order, EVENTS.c.sequence).limit(_PAGE)
        query = query.where(EVENTS.c.study == self._study)
        last: Entry | None = None
        while rows := self._connection.execute(query.where(following(last))).all():
            for row in rows:
                last = Entry(row.sequence, row.round, row.kind, row.at, bytes(row.data))
                yield last
            if len(rows) < _PAGE:
                return

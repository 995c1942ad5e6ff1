"""Studies in SQLite or PostgreSQL, through one schema."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from edgewise.errors import MissingExtra, StorageError, StudyExists, UnknownStudy

try:
    import sqlalchemy as sa
except ImportError as error:
    raise MissingExtra(
        "a study in a database needs SQLAlchemy; install it with: pip install 'edgewise[study]'"
    ) from error

from edgewise.study import schema
from edgewise.study.engines import (
    checked_url,
    copy_sqlite,
    explained,
    make_engine,
    use_write_ahead_log,
)
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
        self._url = checked_url(url)
        self._place = self._url.render_as_string(hide_password=True)
        path = self._path
        if path is not None and not path.exists() and not create:
            raise StorageError(
                f"{self._place}: there is no such file; check the path, or create a study there"
            )
        self._engine = make_engine(self._url)
        with explained(self._place):
            self._prepare(create)

    @property
    def url(self) -> str:
        """Where it is, without the password."""
        return self._place

    @property
    def _path(self) -> Path | None:
        is_file = self._url.get_backend_name() == "sqlite"
        return Path(str(self._url.database)) if is_file else None

    def __repr__(self) -> str:
        return f"DatabaseStorage({self._place!r})"

    # -- the protocol ------------------------------------------------------------------------

    def names(self) -> list[str]:
        """The studies, in alphabetical order."""
        with self._transaction(reads_only=True) as connection:
            query = sa.select(STUDIES.c.name).order_by(STUDIES.c.name)
            return sorted(connection.execute(query).scalars())

    @contextmanager
    def creating(self, name: str) -> Iterator[_Journal]:
        """A transaction that adds a study."""
        with self._transaction() as connection:
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
        with self._transaction(reads_only=True) as connection:
            yield _Journal(connection, self._find(connection, name, lock=False))

    @contextmanager
    def writing(self, name: str, *, durable: bool = True) -> Iterator[_Journal]:
        """A transaction that appends, alone."""
        with self._transaction(durable=durable) as connection:
            yield _Journal(connection, self._find(connection, name, lock=True))

    # -- setting up and upgrading ------------------------------------------------------------

    def _prepare(self, create: bool) -> None:
        with self._transaction(reads_only=True) as connection:
            version = schema.version_of(connection, self._place)
            tables = sa.inspect(connection).get_table_names()
        if version is None:
            self._set_up(create, tables)
        elif version < schema.VERSION and self._path is None:
            raise StorageError(
                f"{self._place} has schema {version}, this edgewise needs {schema.VERSION}; back "
                f"it up with: pg_dump --table='edgewise_*' DATABASE > backup.sql, then call "
                "edgewise.study.upgrade(URL)"
            )
        elif version < schema.VERSION:
            self.upgrade()

    def _set_up(self, create: bool, tables: list[str]) -> None:
        if tables and self._path is not None:
            raise StorageError(
                f"{self._place} belongs to another program (it has the table {tables[0]!r} and "
                "none of edgewise); nothing was changed: give another path"
            )
        if not create:
            raise StorageError(
                f"{self._place} holds no studies; check the URL, or create a study there"
            )
        if self._path is not None:
            use_write_ahead_log(self._path)
        with self._transaction() as connection:
            if self._path is None:  # PostgreSQL: others may be setting up as well
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            if schema.version_of(connection, self._place) is None:
                schema.set_up(connection)

    def upgrade(self) -> Path | None:
        """Bring an older schema up to date; of a SQLite file, a copy is made and returned."""
        copy = None
        with self._transaction() as connection:
            if self._path is None:
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            version = schema.version_of(connection, self._place)
            if version is None or version == schema.VERSION:  # another process was faster
                return None
            if self._path is not None:
                copy = _unused(self._path.with_name(f"{self._path.name}.schema-{version}"))
                copy_sqlite(self._path, copy)
            schema.migrate(connection, version)
        return copy

    # -- transactions ------------------------------------------------------------------------

    @contextmanager
    def _transaction(self, **options: bool) -> Iterator[sa.Connection]:
        with explained(self._place), self._engine.connect() as connection:
            chosen = connection.execution_options(**options)
            with chosen.begin():
                yield chosen

    def _find(self, connection: sa.Connection, name: str, *, lock: bool) -> int:
        query = sa.select(STUDIES.c.id).where(STUDIES.c.name == name)
        found = connection.execute(query.with_for_update() if lock else query).scalar()
        if found is None:
            known = connection.execute(sa.select(STUDIES.c.name).limit(10)).scalars().all()
            raise UnknownStudy(
                f"no study is called {name!r} in {self._place} (there are: "
                f"{', '.join(map(repr, sorted(known))) or 'none'}); check the name, or create it"
            )
        return int(found)

    def _exists(self, name: str) -> StudyExists:
        return StudyExists(
            f"there is a study called {name!r} in {self._place} already; load it, or choose "
            "another name"
        )


_LOCK = 0x45644765
"""Advisory lock of PostgreSQL under which tables are created and altered."""


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
        return self._read(EVENTS.c.sequence > after, EVENTS.c.sequence)

    def read_rounds(self, first: int, last: int) -> Iterator[Entry]:
        among = EVENTS.c.round.between(first, last)
        return self._read(among, EVENTS.c.round, EVENTS.c.sequence)

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

    def _read(self, condition: Any, *order: Any) -> Iterator[Entry]:
        columns = (EVENTS.c.sequence, EVENTS.c.round, EVENTS.c.kind, EVENTS.c.at, EVENTS.c.data)
        query = sa.select(*columns).where(EVENTS.c.study == self._study, condition)
        rows = self._connection.execute(
            query.order_by(*order), execution_options={"yield_per": _PAGE}
        )
        for row in rows:
            yield Entry(row.sequence, row.round, row.kind, row.at, bytes(row.data))


def _unused(path: Path) -> Path:
    """The path, numbered if there is such a file already."""
    number, chosen = 1, path
    while chosen.exists():
        number += 1
        chosen = path.with_name(f"{path.name}-{number}")
    return chosen

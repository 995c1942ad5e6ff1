"""How the two databases are opened, and what their errors mean."""

from __future__ import annotations

import os
import sqlite3
import time
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from edgewise.errors import InvalidArgument, MissingExtra, StorageError
from edgewise.study.storage.secrets import masked, without_secrets
from edgewise.study.storage.turns import Crowded, Turns, turns_of

_PATIENCE = 60.0
"""Seconds a process waits for others to finish writing."""

_REMEDIES = {
    "SQLITE_FULL": "the disk (or the file's quota) is full; free some space and repeat",
    "SQLITE_READONLY": "the file or its folder is read-only; make both writable and repeat",
    "SQLITE_CANTOPEN": "the file cannot be opened; check that its folder exists and is writable",
    "SQLITE_PERM": "access was denied; check the permissions of the file and its folder",
    "SQLITE_NOTADB": "the file is not a SQLite database; give another path, or move it away",
    "SQLITE_CORRUPT": "the file is damaged; restore it from a backup or an export",
    "SQLITE_BUSY": "another program holds the file locked; end it and repeat",
    "SQLITE_IOERR": "reading or writing failed; check the disk (and that it is not full), repeat",
}


@dataclass(frozen=True, eq=False)
class Database:
    """A database, and how it is called in messages."""

    engine: sa.Engine
    place: str
    """Its URL, without the password."""
    path: Path | None
    """The file, if it is SQLite."""
    url: str = field(default="", repr=False)
    """With the password."""
    opened: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Device and inode of the file, once it has been opened."""
    turns: Turns | None = None
    """Of the writers in this process, if it is SQLite; PostgreSQL queues them itself."""

    @classmethod
    def of(cls, text: str, *, create: bool) -> Database:
        """The database of a URL; a SQLite file must exist unless it may be created."""
        url = _checked_url(text)
        place = masked(url.render_as_string(hide_password=False))
        path = Path(str(url.database)) if url.get_backend_name() == "sqlite" else None
        if path is not None and not path.exists() and not create:
            raise StorageError(
                f"{place}: there is no such file; check the path, or create a study there"
            )
        turns = None if path is None else turns_of(path)
        return cls(
            _engine(url), place, path, url.render_as_string(hide_password=False), turns=turns
        )

    @contextmanager
    def transaction(self, **options: Any) -> Iterator[sa.Connection]:
        """All of what happens inside is kept, or nothing. ``reads_only``; not ``durable``."""
        self._refuse_replaced()
        reads_only = bool(options.get("reads_only"))
        with _explained(self), self._turn(reads_only), self.engine.connect() as connection:
            if reads_only and self.path is None:
                # every page of a log is a query of its own: all must see the same moment
                options = {**options, "isolation_level": "REPEATABLE READ"}
            chosen = connection.execution_options(**options)
            with chosen.begin():
                self._refuse_replaced()
                yield chosen

    def _turn(self, reads_only: bool) -> AbstractContextManager[None]:
        return nullcontext() if reads_only or self.turns is None else self.turns.one(_PATIENCE)

    def _refuse_replaced(self) -> None:
        """Raise if the SQLite file is not the one that was opened: nobody would see a write."""
        if self.path is None:
            return
        found = _inode(self.path)
        if found is not None and self.opened.setdefault("file", found) == found:
            return
        if "file" in self.opened:
            raise StorageError(
                f"{self.place}: the file was deleted, moved or replaced while it was in use; "
                "nothing was recorded: put it back and repeat, or load the study again"
            )


def _inode(path: Path) -> tuple[int, int] | None:
    """Device and inode of a file; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


_IN_USE: weakref.WeakSet[sa.Engine] = weakref.WeakSet()


def _forget_connections() -> None:
    """In a forked process: connections belong to the parent, and two cannot share one."""
    for engine in _IN_USE:
        engine.dispose(close=False)


os.register_at_fork(after_in_child=_forget_connections)


def _engine(url: sa.URL) -> sa.Engine:
    """An engine whose transactions are as the studies need them."""
    engine = _sqlite(url) if url.get_backend_name() == "sqlite" else _postgresql(url)
    _IN_USE.add(engine)
    return engine


def _postgresql(url: sa.URL) -> sa.Engine:
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            "a PostgreSQL storage needs psycopg; install it with: pip install 'edgewise[postgres]'"
        ) from error
    # a connection that died while idle is replaced before it is used
    return sa.create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)


def _checked_url(text: str) -> sa.URL:
    """The URL of a SQLite file or a PostgreSQL database."""
    try:
        url = sa.make_url(text.replace("postgres://", "postgresql://", 1))
    except (sa.exc.ArgumentError, ValueError):  # their messages quote the URL, password and all
        raise InvalidArgument(
            f"storage {masked(text)!r} is not a URL; write 'sqlite:///file.db' or "
            "'postgresql://user@host/database'",
            argument="storage",
        ) from None
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise InvalidArgument(
            f"storage {masked(text)!r} names no file, and every connection would see a "
            "database of its own; write 'sqlite:///file.db', or 'memory' to keep nothing"
        )
    return url


def _sqlite(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(url, connect_args={"timeout": _PATIENCE})

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves
        connection.execute("PRAGMA foreign_keys = ON")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        options = connection.get_execution_options()
        cursor = connection.connection.cursor()
        level = "FULL" if options.get("durable", True) else "NORMAL"
        cursor.execute(f"PRAGMA synchronous = {level}")
        # a writer takes its turn now: a reader that turns writer could be refused half-way
        cursor.execute("BEGIN" if options.get("reads_only") else "BEGIN IMMEDIATE")
        cursor.close()

    return engine


def use_write_ahead_log(database: Database) -> None:
    """Make readers and the writer of a SQLite file independent of each other, once and for all.

    SQLite refuses the switch at once while another process opens the file: so it is repeated.
    """
    if database.path is None:
        return
    deadline = time.monotonic() + _PATIENCE
    with _explained(database):
        while not _switched(database.path, last_try=time.monotonic() > deadline):
            time.sleep(0.01)


def _switched(path: Path, last_try: bool) -> bool:
    with closing(sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)) as connection:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or last_try:
                raise
            return False
        return True


def copy_sqlite(database: Database, copy: Path) -> None:
    """A consistent copy of a SQLite file, also while it is in use."""
    with (
        _explained(database),
        closing(sqlite3.connect(str(database.path))) as source,
        closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)


@contextmanager
def _explained(database: Database) -> Iterator[None]:
    """Turn what a database raises into a StorageError with a remedy."""
    try:
        yield
    except sa.exc.IntegrityError as error:
        raise StorageError(
            f"{database.place}: the log has an entry where the next one belongs, so another "
            "program wrote to it; nothing was recorded: repeat"
        ) from error
    except sa.exc.DBAPIError as error:
        lost, text = error.connection_invalidated, str(error)
        # a traceback shows the cause as well
        cause = error if without_secrets(text, database.url) == text else None
        raise StorageError(_explanation(database, error.orig, lost)) from cause
    except sqlite3.Error as error:
        raise StorageError(_explanation(database, error, lost=False)) from error
    except (Crowded, sa.exc.TimeoutError) as error:
        raise StorageError(
            f"{database.place}: others in this process have kept it busy all the time; nothing "
            "was recorded: repeat when they are done"
        ) from error


def _explanation(database: Database, error: BaseException | None, lost: bool) -> str:
    lite = getattr(error, "sqlite_errorname", None)
    server = getattr(error, "sqlstate", None)
    if lite:  # extended names such as SQLITE_IOERR_WRITE belong to their first two words
        remedy = _REMEDIES.get("_".join(lite.split("_")[:2]), "check the file and repeat")
    elif lost or server is None or server.startswith(("08", "57")):
        remedy = (
            "the connection to the server failed; repeat when the server answers (repeating what "
            "was recorded after all is harmless)"
        )
    else:
        remedy = "nothing was recorded: put it right on the server and repeat"
    text = " ".join(str(error).split()) or type(error).__name__
    return f"{database.place}: {without_secrets(text, database.url)}; {remedy}"

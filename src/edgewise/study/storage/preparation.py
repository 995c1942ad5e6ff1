"""Before a database is used: set up if it is empty, upgraded if it is old, else left alone."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from edgewise.errors import StorageError
from edgewise.study.storage import schema
from edgewise.study.storage.engines import Database, copy_sqlite, use_write_ahead_log

_LOCK = 0x45644765
"""Advisory lock of PostgreSQL under which tables are created and altered."""


def is_ready(database: Database, connection: sa.Connection) -> bool:
    """Whether the tables are there, in the present version."""
    return schema.version_of(connection, database.place) == schema.VERSION


def prepare(database: Database, *, create: bool) -> None:
    """Make sure that the tables are there, in the present version."""
    with database.transaction(reads_only=True) as connection:
        version = schema.version_of(connection, database.place)
        tables = sa.inspect(connection).get_table_names()
    if version is None:
        _set_up(database, create, tables)
    elif version < schema.VERSION:
        if database.path is None:
            raise StorageError(
                f"{database.place} has schema {version}, this edgewise needs {schema.VERSION}; "
                "nothing was changed: back it up with pg_dump --table='edgewise_*', then call "
                "edgewise.study.upgrade(URL)"
            )
        upgrade(database)


def upgrade(database: Database) -> Path | None:
    """Bring an older schema up to date; of a SQLite file, a copy is made first and returned."""
    copy = None
    with database.transaction() as connection:
        _keep_others_out(database, connection)
        version = schema.version_of(connection, database.place)
        if version is None or version == schema.VERSION:  # another process was faster
            return None
        if database.path is not None:
            copy = _unused(database.path.with_name(f"{database.path.name}.schema-{version}"))
            copy_sqlite(database, copy)
        schema.migrate(connection, version)
    return copy


def _set_up(database: Database, create: bool, tables: list[str]) -> None:
    if tables and database.path is not None:
        raise StorageError(
            f"{database.place} belongs to another program (it has the table {tables[0]!r} and "
            "none of edgewise); nothing was changed: give another path"
        )
    if not create:
        raise StorageError(
            f"{database.place} holds no studies; check the URL, or create a study there"
        )
    use_write_ahead_log(database)
    with database.transaction() as connection:
        _keep_others_out(database, connection)
        if schema.version_of(connection, database.place) is None:
            schema.set_up(connection)


def _keep_others_out(database: Database, connection: sa.Connection) -> None:
    """Until the transaction ends; a writer of a SQLite file is alone as it is."""
    if database.path is None:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))


def _unused(path: Path) -> Path:
    """The path, numbered if there is such a file already."""
    number, chosen = 1, path
    while chosen.exists():
        number += 1
        chosen = path.with_name(f"{path.name}-{number}")
    return chosen

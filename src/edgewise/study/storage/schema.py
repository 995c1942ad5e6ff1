"""Tables of the database, their version, and how an older version becomes the present one.

Version 1 had no snapshots, and version 2 entries without a chain (:mod:`edgewise.study.log.chain`),
which an older edgewise cannot read; entries written before stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from edgewise import __version__
from edgewise.errors import StorageError

VERSION = 3

_METADATA = sa.MetaData()

ABOUT = sa.Table(
    "edgewise_about",
    _METADATA,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("value", sa.String(256), nullable=False),
)

STUDIES = sa.Table(
    "edgewise_studies",
    _METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(255), nullable=False, unique=True),
)

EVENTS = sa.Table(
    "edgewise_events",
    _METADATA,
    sa.Column("study", sa.ForeignKey("edgewise_studies.id"), primary_key=True),
    sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("round", sa.Integer, nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sa.Index("edgewise_events_by_round", "study", "round", "sequence"),
)

SNAPSHOTS = sa.Table(
    "edgewise_snapshots",
    _METADATA,
    sa.Column("study", sa.ForeignKey("edgewise_studies.id"), primary_key=True),
    sa.Column("sequence", sa.Integer, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
)


def set_up(connection: sa.Connection) -> None:
    """Create the tables in an empty database."""
    _METADATA.create_all(connection)
    connection.execute(sa.insert(ABOUT).values(key="schema_version", value=str(VERSION)))


def version_of(connection: sa.Connection, place: str) -> int | None:
    """The version of the tables found; None if there are none."""
    if not sa.inspect(connection).has_table(ABOUT.name):
        return None
    query = sa.select(ABOUT.c.value).where(ABOUT.c.key == "schema_version")
    stored = connection.execute(query).scalar_one_or_none()
    if stored is None or not stored.isdecimal():
        raise StorageError(
            f"{place} has edgewise tables without a version, so it is damaged; restore it from a "
            "backup"
        )
    version = int(stored)
    if version > VERSION:
        raise StorageError(
            f"{place} was written by a newer edgewise (schema {version}); edgewise {__version__} "
            f"reads schemas up to {VERSION} and has changed nothing: upgrade edgewise"
        )
    return version


def migrate(connection: sa.Connection, version: int) -> None:
    """Bring tables of an older version up to date, one version at a time."""
    for step in range(version, VERSION):
        _STEPS[step](connection)
    newest = sa.update(ABOUT).where(ABOUT.c.key == "schema_version").values(value=str(VERSION))
    connection.execute(newest)


def _add_snapshots(connection: sa.Connection) -> None:
    SNAPSHOTS.create(connection)


def _begin_chains(connection: sa.Connection) -> None:
    """The tables stay: entries to come carry checksums, and vouch for those before them."""


_STEPS: dict[int, Callable[[sa.Connection], None]] = {1: _add_snapshots, 2: _begin_chains}

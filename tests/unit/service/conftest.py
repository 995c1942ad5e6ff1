"""A server with the tutorial's study, in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from edgewise.service import Access, create_app
from edgewise.study import MemoryStorage, Study
from edgewise.study.files.config import read_config

ROOT = Path(__file__).parents[3]
WRITE, READ = "write-token-of-the-tests", "read-token-of-the-tests"
ACCESS = Access(write=(WRITE,), read=(READ,))
BASE = "http://127.0.0.1:8765"


@pytest.fixture
def storage() -> MemoryStorage:
    return MemoryStorage()


@pytest.fixture
def study(storage: MemoryStorage) -> Study:
    """The study of the tutorial: ten radio cells, 30 measurements a round."""
    return read_config(ROOT / "examples/data/cells.toml").create(name="cells", storage=storage)


@pytest.fixture
def anyone(storage: MemoryStorage) -> Iterator[TestClient]:
    """A client without a token."""
    app = create_app(storage, ACCESS)
    with TestClient(app, base_url=BASE, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def reader(anyone: TestClient) -> TestClient:
    anyone.headers["Authorization"] = f"Bearer {READ}"
    return anyone


@pytest.fixture
def client(anyone: TestClient) -> TestClient:
    """A client that may write."""
    anyone.headers["Authorization"] = f"Bearer {WRITE}"
    return anyone

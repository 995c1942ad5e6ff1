"""The storages of edgewise satisfy the contract that others are held to."""

from __future__ import annotations

import pytest

from edgewise.study import MemoryStorage, Storage
from edgewise.study.storage.opening import open_storage
from edgewise.testing.storage import StorageContract


class TestMemory(StorageContract):
    @pytest.fixture
    def storage(self) -> Storage:
        return MemoryStorage()


class _DatabaseContract(StorageContract):
    url: str

    def reopen(self, storage: Storage) -> Storage:  # noqa: ARG002
        return open_storage(self.url, create=False)


class TestSQLite(_DatabaseContract):
    @pytest.fixture
    def storage(self, sqlite: str) -> Storage:
        self.url = sqlite
        return open_storage(sqlite, create=True)


class TestPostgreSQL(_DatabaseContract):
    @pytest.fixture
    def storage(self, postgres: str) -> Storage:
        self.url = postgres
        return open_storage(postgres, create=True)

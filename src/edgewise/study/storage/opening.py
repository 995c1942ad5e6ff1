"""Where studies are kept: from a URL to a storage."""

from __future__ import annotations

from edgewise.errors import InvalidArgument
from edgewise.study.storage.base import Storage


def open_storage(storage: str | Storage, *, create: bool) -> Storage:
    """The storage itself, or the one a URL names; ``create`` allows to set up a new one."""
    if not isinstance(storage, str):
        return storage
    if storage == "memory":
        from edgewise.study.storage.memory import MemoryStorage

        return MemoryStorage()
    if storage.startswith(("sqlite:", "postgresql:", "postgresql+psycopg:", "postgres:")):
        from edgewise.study.storage.database import DatabaseStorage

        return DatabaseStorage(storage, create=create)
    raise InvalidArgument(
        f"storage is {storage!r}; it must be 'memory', 'sqlite:///file.db' (four slashes before an "
        "absolute path), 'postgresql://user@host/database', or a storage object"
    )

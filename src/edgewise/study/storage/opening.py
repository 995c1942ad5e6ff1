"""Where studies are kept: from a URL to a storage."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from edgewise.base.choice import pick
from edgewise.base.wording import shown
from edgewise.errors import InvalidArgument
from edgewise.study.storage.base import Storage
from edgewise.study.storage.secrets import masked

_Opener: TypeAlias = Callable[[str, bool], Storage]

_METHODS = ("names", "creating", "reading", "writing")

_SPELLINGS = {"postgres": "postgresql", "postgresql+psycopg": "postgresql"}
"""Other names that URLs have for the same storage."""


def open_storage(storage: str | Storage, *, create: bool) -> Storage:
    """The storage itself, or the one a URL names; ``create`` allows to set up a new one."""
    if not isinstance(storage, str):
        if isinstance(storage, type) or not all(hasattr(storage, one) for one in _METHODS):
            raise InvalidArgument(
                f"storage is {shown(storage)}; give a URL such as 'sqlite:///file.db', or an "
                "object with the methods of edgewise.study.Storage",
                argument="storage",
            )
        return storage
    kind, _, _ = storage.partition("://")
    name = masked(storage) if kind == "memory" else _SPELLINGS.get(kind, masked(kind))
    opener = pick(  # memory has no address
        "storage",
        name,
        _OPENERS,
        own="a URL as in 'sqlite:///file.db' (four slashes before an absolute path) or "
        "'postgresql://user@host/database', or a storage object",
        argument="storage",
    )
    return opener(storage, create)


def _memory(url: str, create: bool) -> Storage:  # noqa: ARG001
    from edgewise.study.storage.memory import MemoryStorage

    return MemoryStorage()


def _database(url: str, create: bool) -> Storage:
    from edgewise.study.storage.database import DatabaseStorage

    return DatabaseStorage(url, create=create)


_OPENERS: dict[str, _Opener] = {"memory": _memory, "postgresql": _database, "sqlite": _database}

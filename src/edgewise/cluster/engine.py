"""Where the work of a large network is done: on a Dask cluster, or in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from edgewise.base.extras import required
from edgewise.errors import EdgewiseError, InvalidArgument

Handle: TypeAlias = Any
"""What a task will give; it may be handed to other tasks, and is then replaced by that."""

_PATIENCE = "10s"
"""How long a scheduler may take to answer."""
_QUIET = {
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "2s",
    "distributed.worker.profile.enabled": False,
}
"""Dask watches itself all the time: on two cores at 8 % of a core's time, or 3 % like this."""


class ClusterLost(EdgewiseError, ConnectionError):
    """The Dask cluster no longer answers; nothing of the round in progress was recorded."""


class Engine(Protocol):
    """Does tasks, somewhere. A task is a pure function of its arguments: it may be done again."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        """Have a task done; handles among the arguments stand for what they give."""

    def share(self, value: Any) -> Handle:
        """Give a small value to all who work."""

    def broadcast(self, value: Any) -> Handle:
        """Give a large array to all who work, once."""

    def result(self, handle: Handle) -> Any:
        """What a task gave, once it is done."""


@dataclass(frozen=True)
class Here:
    """Everything at once, in this process: small data, and the reference for what a cluster does.

    >>> Here().result(Here().submit(max, 3, 5))
    5
    """

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        """Done when it is asked for."""
        return function(*arguments)

    def share(self, value: Any) -> Handle:
        """It is here already."""
        return value

    def broadcast(self, value: Any) -> Handle:
        """Just as well."""
        return value

    def result(self, handle: Handle) -> Any:
        """A handle is what it stands for."""
        return handle


@dataclass(frozen=True)
class OnDask:
    """On the workers of a Dask cluster; a worker that is lost costs its tasks, which are redone."""

    client: Any
    """A ``distributed.Client``."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        """As a task with a name of its own."""
        with self._answering():
            return self.client.submit(function, *arguments, pure=False)

    def share(self, value: Any) -> Handle:
        """As the result of a task, which can be done again if its worker is lost."""
        with self._answering():
            return self.client.submit(_given, value, pure=False)

    def broadcast(self, value: Any) -> Handle:
        """Past the scheduler, to all workers: as long as one of them lives it is there."""
        with self._answering():
            return self.client.scatter(value, broadcast=True, hash=False)

    def result(self, handle: Handle) -> Any:
        """Waits for it."""
        with self._answering():
            return handle.result()

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Say which scheduler is gone; errors of the task itself pass."""
        from concurrent.futures import CancelledError

        try:
            yield
        except EdgewiseError:
            raise
        except (OSError, TimeoutError, CancelledError) as error:
            raise ClusterLost(_lost(self.client, error)) from error
        except Exception as error:
            gone = type(error).__name__ in _GONE or self.client.status != "running"
            if not gone:
                raise
            raise ClusterLost(_lost(self.client, error)) from error


_GONE = ("KilledWorker", "FutureCancelledError", "CommClosedError", "ClosedClientError")
"""Errors by which distributed says that something is gone, in any of its versions."""


def _given(value: Any) -> Any:
    return value


def _lost(client: Any, error: BaseException) -> str:
    where = getattr(getattr(client, "scheduler", None), "address", None) or "its address"
    return (
        f"the Dask cluster at {where} is gone ({type(error).__name__}: {error}); rounds that were "
        "closed are safe: start a scheduler and workers, and go on from what was saved"
    )


@contextmanager
def working_on(dask: Any = None, *, workers: int | None = None) -> Iterator[Engine]:
    """The engine for ``dask``: an address, ``"local"``, a ``distributed.Client``, None for here.

    ``"local"`` starts ``workers`` processes on this machine (default: one per core), each with its
    share of the memory: beyond it Dask writes to the disk.

    >>> with working_on(None) as engine:
    ...     engine.submit(len, "four")
    4
    """
    if dask is None:
        yield Here()
        return
    distributed = required("distributed", "a Dask cluster needs distributed", "dask")
    if isinstance(dask, distributed.Client):
        yield OnDask(dask)
        return
    if not isinstance(dask, str):
        raise InvalidArgument(
            f"dask is a {type(dask).__name__}; it is the address of a scheduler, 'local', a "
            "distributed.Client, or None to work in this process",
            argument="dask",
        )
    if dask == "local":
        options = {"processes": True, "threads_per_worker": 1, "dashboard_address": ":0"}
        settings = required("dask.config", "a Dask cluster needs dask", "dask")
        with (
            settings.set(_QUIET),
            distributed.LocalCluster(n_workers=workers, **options) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield OnDask(client)
        return
    client = _client(distributed, dask)
    try:
        yield OnDask(client)
    finally:
        with suppress(Exception):  # a scheduler that is gone cannot be told goodbye
            client.close()


def _client(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InvalidArgument(
            f"no Dask scheduler answers at {address} ({error}); start one with `dask scheduler` "
            "and `dask worker ADDRESS`, and pass its address, or 'local'",
            argument="dask",
        ) from error

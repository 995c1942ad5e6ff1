"""The process: listen, say where, stop when told."""

from __future__ import annotations

import gc
import socket
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

from edgewise.base.extras import required
from edgewise.errors import InvalidArgument, StorageError
from edgewise.service.security.access import LOOPBACK, Access
from edgewise.service.security.limits import Limits

if TYPE_CHECKING:
    from edgewise.study import Storage


@dataclass(frozen=True)
class Place:
    """Where a server listens, and what it may be called."""

    host: str = "127.0.0.1"
    port: int = 8765
    """0 for any that is free."""
    names: tuple[str, ...] = ()
    """Further names, such as that of a reverse proxy."""

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in LOOPBACK


@dataclass(frozen=True, eq=False)
class Serving:
    """What to serve, where and to whom."""

    storage: str | Storage
    place: Place = field(default_factory=Place)
    access: Access | None = None
    """None for a fresh token: on loopback only."""
    limits: Limits = field(default_factory=Limits)

    def run(self, announce: Callable[[str], None], *, browse: bool = False) -> None:
        """Serve until interrupted; ``announce`` gets the link as soon as connections are taken.

        Ctrl-C is raised again after an orderly stop.
        """
        _require_extra()
        access = self._access()
        with _listening(self.place) as listener:
            link = self._link(listener.getsockname()[1], access)
            announce(link)  # who comes now is queued for the second that loading takes
            if browse:
                webbrowser.open(link)
            self._answer(access, listener)

    def _answer(self, access: Access, listener: socket.socket) -> None:
        with _uncollected():
            from edgewise.service.app import create_app
            from edgewise.service.running import run
            from edgewise.service.security.guard import Hosts

        hosts = Hosts.of(self.place.host, self.place.names)
        run(create_app(self.storage, access, hosts=hosts, limits=self.limits), listener)

    def _access(self) -> Access:
        if self.access is not None:
            return self.access
        if not self.place.is_loopback:
            raise InvalidArgument(
                f"host {self.place.host} can be reached from other machines; give the server a "
                "token first: set EDGEWISE_TOKEN, or pass --tokens FILE"
            )
        return Access.fresh()

    def _link(self, port: int, access: Access) -> str:
        """Where to go; a token that somebody chose is not repeated."""
        host = f"[{self.place.host}]" if ":" in self.place.host else self.place.host
        secret = f"sign-in#token={access.write[0]}" if self.access is None else ""
        return f"http://{host}:{port}/{secret}"


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without collecting garbage: what is loaded stays, and looking through it takes a sixth."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _require_extra() -> None:
    """Raise if the libraries are missing, without taking the time to load them."""
    for name in ("fastapi", "uvicorn"):
        if find_spec(name) is None:
            required(name, "edgewise serve needs FastAPI and uvicorn", "serve")


def _listening(place: Place) -> socket.socket:
    """A socket that accepts connections, before anything is promised."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    try:
        listener = socket.create_server((place.host, place.port), family=family, backlog=512)
    except OSError as error:
        raise StorageError(
            f"{place.host}:{place.port} cannot be listened on ({error.strerror}); end what uses "
            "it, or choose another --port (0 for any that is free)"
        ) from error
    # connections inherit it: else the body of an answer waits 40 ms for the receipt of its head
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener

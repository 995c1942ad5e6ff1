"""The process: listen, say where, stop when told."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType

import uvicorn

from edgewise.errors import InvalidArgument, StorageError
from edgewise.service.access import Access
from edgewise.service.app import create_app
from edgewise.service.guard import LOOPBACK, Hosts
from edgewise.service.limits import Limits
from edgewise.study import Storage

_PATIENCE = 5
"""Seconds that requests under way get when the server is told to stop."""


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
        """Serve until interrupted; ``announce`` gets the link as soon as it works.

        Ctrl-C is raised again after an orderly stop.
        """
        access = self._access()
        with _listening(self.place) as listener:
            link = self._link(listener.getsockname()[1], access)
            hosts = Hosts.of(self.place.host, self.place.names)
            app = create_app(self.storage, access, hosts=hosts, limits=self.limits)
            config = uvicorn.Config(
                app,
                access_log=False,
                log_level="warning",
                server_header=False,
                timeout_graceful_shutdown=_PATIENCE,
            )
            announce(link)
            if browse:
                webbrowser.open(link)
            _Server(config, app.state.watch.end).run([listener])

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


def _listening(place: Place) -> socket.socket:
    """A socket that accepts connections, before anything is promised."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    try:
        return socket.create_server((place.host, place.port), family=family, backlog=512)
    except OSError as error:
        raise StorageError(
            f"{place.host}:{place.port} cannot be listened on ({error.strerror}); end what uses "
            "it, or choose another --port (0 for any that is free)"
        ) from error


class _Server(uvicorn.Server):
    """Ends live streams when it is told to stop: they would never end by themselves."""

    def __init__(self, config: uvicorn.Config, end_streams: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_streams = end_streams

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._end_streams()
        super().handle_exit(sig, frame)

"""Who waits for news of which study: one look at the log serves all of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from fastapi.concurrency import run_in_threadpool

from edgewise.errors import EdgewiseError
from edgewise.service.desk import Desk
from edgewise.service.problems import Refusal

_LOG = logging.getLogger("edgewise.service")

INTERVAL = 0.5
"""Seconds between looks: other processes write to the log too, and nobody tells us."""
_HEARTBEAT = 15.0
"""Seconds after which a silent stream says that it is alive."""


@dataclass(eq=False)
class _Listener:
    name: str | None
    """The study; None for all of them."""
    position: int | None
    """What it knows of: the length of the log; None for what there is at the first look."""
    news: asyncio.Event = field(default_factory=asyncio.Event)


class Watch:
    """Looks at the lengths of logs while anybody listens."""

    def __init__(self, desk: Desk, *, most: int, interval: float = INTERVAL) -> None:
        self._desk, self._most, self._interval = desk, most, interval
        self._listeners: set[_Listener] = set()
        self._looking: asyncio.Task[None] | None = None
        self._ended = False

    def stream(self, name: str | None, after: int | None) -> AsyncIterator[str]:
        """Server-sent events about a study, or about all, beyond what is known."""
        if len(self._listeners) >= self._most:
            raise Refusal(
                429,
                f"{self._most} live streams are open already; close some, or look again later",
                headers={"Retry-After": "10"},
            )
        return self._events(_Listener(name, after))

    def end(self) -> None:
        """End all streams, so that the server can stop."""
        self._ended = True
        for listener in self._listeners:
            listener.news.set()

    async def _events(self, listener: _Listener) -> AsyncIterator[str]:
        self._listeners.add(listener)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            yield "retry: 2000\n\n"
            while not self._ended:
                try:
                    await asyncio.wait_for(listener.news.wait(), _HEARTBEAT)
                except TimeoutError:
                    yield ": alive\n\n"
                    continue
                listener.news.clear()
                if not self._ended:
                    yield f"event: change\nid: {listener.position}\ndata: {listener.position}\n\n"
        finally:
            self._listeners.discard(listener)

    async def _look(self) -> None:
        """Look again and again, as long as somebody listens."""
        while self._listeners and not self._ended:
            try:
                lengths = await run_in_threadpool(self._lengths, self._watched())
            except EdgewiseError as error:
                _LOG.warning("live updates: %s", error)
            else:
                for listener in self._listeners:
                    _tell(listener, lengths)
            await asyncio.sleep(self._interval)
        self._looking = None

    def _watched(self) -> set[str] | None:
        names = {listener.name for listener in self._listeners}
        return None if None in names else {name for name in names if name is not None}

    def _lengths(self, names: set[str] | None) -> dict[str, int]:
        there = self._desk.names()
        found = {
            name: self._desk.position(name) for name in there if names is None or name in names
        }
        # a study that was renamed or deleted is news to whoever watches it
        return found | {name: 0 for name in names or () if name not in found}


def _tell(listener: _Listener, lengths: dict[str, int]) -> None:
    """Wake a listener if what it watches has changed."""
    if listener.name is not None and listener.name not in lengths:
        return
    now = sum(lengths.values()) if listener.name is None else lengths[listener.name]
    if listener.position not in (None, now):
        listener.news.set()
    listener.position = now

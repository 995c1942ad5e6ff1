"""Live updates as programs see them: over a socket, from another process's writes."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from edgewise.service.desk import Desk
from edgewise.service.problems import Refusal
from edgewise.service.watch import Watch
from edgewise.study import MemoryStorage, Study


async def first(watch: Watch, name: str | None, after: int | None) -> list[str]:
    """What a stream says until its first change."""
    said: list[str] = []
    async for text in watch.stream(name, after):
        said.append(text)
        if text.startswith("event: change"):
            break
    return said


def test_what_was_recorded_before_the_stream_opened_is_told(
    storage: MemoryStorage, study: Study
) -> None:
    """The page was made at event 1; the round handed out since must not be missed."""
    study.ask()
    watch = Watch(Desk(storage), most=9, interval=0.01)
    said = asyncio.run(asyncio.wait_for(first(watch, "cells", 1), 10))
    assert said[-1] == "event: change\nid: 2\ndata: 2\n\n"


@pytest.mark.parametrize("name", ["cells", None])
def test_a_change_reaches_every_listener(
    storage: MemoryStorage, study: Study, name: str | None
) -> None:
    async def listen() -> list[list[str]]:
        watch = Watch(Desk(storage), most=9, interval=0.01)
        listeners = [asyncio.create_task(first(watch, name, None)) for _ in range(3)]
        await asyncio.sleep(0.2)
        assert not any(listener.done() for listener in listeners)
        ticket = study.ask()
        study.tell(ticket, np.ones(30))
        return await asyncio.wait_for(asyncio.gather(*listeners), 10)

    assert all(said[-1].startswith("event: change") for said in asyncio.run(listen()))


def test_streams_end_with_the_server_and_are_counted(storage: MemoryStorage, study: Study) -> None:
    async def run() -> None:
        watch = Watch(Desk(storage), most=1, interval=0.01)
        listener = asyncio.create_task(first(watch, "cells", None))
        await asyncio.sleep(0.05)
        with pytest.raises(Refusal, match="1 live streams"):
            watch.stream("cells", None)
        watch.end()
        assert await asyncio.wait_for(listener, 10) == ["retry: 2000\n\n"]

    asyncio.run(run())

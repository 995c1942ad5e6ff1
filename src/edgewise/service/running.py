"""The application in a process that ends when it is told to."""

from __future__ import annotations

import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI

_PATIENCE = 5
"""Seconds that requests under way get when the server is told to stop."""


def run(app: FastAPI, listener: socket.socket) -> None:
    """Answer what comes in until a signal comes, which is raised again in the end."""
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=_PATIENCE,
    )
    _Server(config, app.state.watch.end).run([listener])


class _Server(uvicorn.Server):
    """Ends live streams when it is told to stop: they would never end by themselves."""

    def __init__(self, config: uvicorn.Config, end_streams: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_streams = end_streams

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._end_streams()
        super().handle_exit(sig, frame)

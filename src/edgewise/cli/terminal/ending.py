"""How a command ends before its time: SIGTERM and Ctrl-C, within a second, whatever it is doing."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable

INTERRUPTED = 130
"""Exit code after Ctrl-C."""
TERMINATED = 143
"""Exit code after SIGTERM, as when a service is stopped."""
_CODES = {int(signal.SIGINT): INTERRUPTED, int(signal.SIGTERM): TERMINATED}
_PATIENCE = 0.5
"""Seconds in which a command may clear up by itself."""


class Terminated(KeyboardInterrupt):
    """The process was asked to end: everything is given up as after Ctrl-C."""


def end_when_asked() -> None:
    """Turn SIGTERM into :class:`Terminated`, and make sure that both signals end the process.

    Files and transactions are given up as the exception passes them. But compiled code looks at no
    signal, a compiler may swallow the exception, and pools of workers take their time: so a thread
    waits for the same signal, and ends what is left half a second later.
    """
    signal.signal(signal.SIGTERM, _terminate)
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    # the thread keeps both ends: a socket that nobody holds is closed
    threading.Thread(target=_insist, args=(receiver, sender, os._exit), daemon=True).start()


def _terminate(*_: object) -> None:
    raise Terminated


def _insist(receiver: socket.socket, _: socket.socket, leave: Callable[[int], None]) -> None:
    """Wait for a signal; then end the process, and the workers that it has."""
    code = None
    while code is None:
        code = _CODES.get(receiver.recv(1)[0])
    time.sleep(_PATIENCE)
    end_workers()
    leave(code)


def end_workers() -> None:
    """Kill the processes that this one has started; a computation is not worth waiting for."""
    from multiprocessing import active_children

    for worker in active_children():
        worker.kill()

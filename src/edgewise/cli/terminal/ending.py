"""How a command ends before its time: SIGTERM and Ctrl-C, within a second, whatever it is doing."""

from __future__ import annotations

import atexit
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

INTERRUPTED = 130
"""Exit code after Ctrl-C."""
TERMINATED = 143
"""Exit code after SIGTERM, as when a service is stopped."""
_CODES = {int(signal.SIGINT): INTERRUPTED, int(signal.SIGTERM): TERMINATED}
_SAID = {INTERRUPTED: "interrupted", TERMINATED: "terminated"}
_AT_ONCE = getattr(signal, "SIGKILL", signal.SIGTERM)
_PATIENCE = 0.5
"""Seconds in which a command may clear up by itself."""
_leaving = threading.Event()
"""Whether it has, and said so."""


class Terminated(KeyboardInterrupt):
    """The process was asked to end: everything is given up as after Ctrl-C."""


def end_when_asked() -> None:
    """Turn SIGTERM into :class:`Terminated`, and make sure that both signals end the process.

    Files and transactions are given up as the exception passes them. But compiled code looks at no
    signal, a compiler may swallow the exception, and pools of workers take their time: so a thread
    waits for the same signal, and ends what is left half a second later.
    """
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = partial(_without_endings, sys.unraisablehook)
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    # the thread keeps both ends: a socket that nobody holds is closed
    threading.Thread(target=_insist, args=(receiver, sender, os._exit), daemon=True).start()


def _terminate(*_: object) -> None:
    raise Terminated


def _without_endings(usual: Callable[[Any], object], unraisable: Any) -> None:
    """Where a destructor of the compiler meets Ctrl-C, nothing is said: the command ends."""
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        usual(unraisable)


def _insist(receiver: socket.socket, _: socket.socket, leave: Callable[[int], None]) -> None:
    """Wait for a signal; then end the process, and the workers that it has.

    A command that is not leaving by itself has not said why it ends: the exception that does has
    not arrived.
    """
    code = None
    while code is None:
        code = _CODES.get(receiver.recv(1)[0])
    time.sleep(_PATIENCE)
    end_workers()
    if not _leaving.is_set():
        with suppress(OSError, ValueError):
            sys.stderr.write(f"edgewise: {_SAID[code]}\n")
            sys.stderr.flush()
    leave(code)


def end_workers() -> None:
    """Kill the processes that this one has started; a computation is not worth waiting for."""
    started = sys.modules.get("multiprocessing")  # else there are none
    for worker in started.active_children() if started is not None else ():
        with suppress(ProcessLookupError):  # workers of joblib have no kill() of their own
            os.kill(worker.pid, _AT_ONCE)


@contextmanager
def leaving_at_once() -> Iterator[None]:
    """A command that was stopped and has cleared up does not wait for Python to take itself down.

    That takes half a second with a compiler loaded, and no thread can cut it short.
    """
    try:
        yield
    except SystemExit as ending:
        if not isinstance(ending.code, int) or ending.code not in _CODES.values():
            raise
        _leave(ending.code)
    except Terminated:  # before there was a command to clear up
        _leave(TERMINATED)
    except KeyboardInterrupt:
        _leave(INTERRUPTED)


def _leave(code: int) -> None:
    _leaving.set()
    if "multiprocessing" in sys.modules:  # semaphores of pools are named until these have run
        atexit._run_exitfuncs()
    with suppress(OSError, ValueError):  # a closed pipe has no reader
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)

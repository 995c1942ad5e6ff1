"""One BLAS thread while small matrices are factored."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


class _SharedLimit:
    """The thread count belongs to the process: the first in lowers it, the last out restores it.

    Without the counter, two Python threads whose blocks overlap would restore each other's limit,
    and the process could stay at one BLAS thread for good.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limiter: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._users == 0:
                self._limiter = _controller().limit(limits=1, user_api="blas")
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limiter.restore_original_limits()
                self._limiter = None


_LIMIT = _SharedLimit()


@cache
def _controller() -> Any:
    # Looking for the loaded BLAS libraries takes milliseconds, longer than a small solve: do it
    # once, and after scipy has loaded its own copy, which a later import would hide from us.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Run the block with one BLAS thread; blocks may nest and overlap across Python threads.

    On matrices of a few hundred rows, waking the other threads costs more than the product
    itself; on a busy machine it was seen to take 40 times as long with all threads as with one.
    """
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()

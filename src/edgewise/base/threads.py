"""Threads: one for BLAS while small matrices are factored, several for long loops on request."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

from edgewise.base import checks

_T = TypeVar("_T")
_HOLDER = threading.RLock()
_THREADS: ContextVar[int] = ContextVar("threads", default=1)


@contextmanager
def using_threads(threads: int) -> Iterator[None]:
    """Let compiled loops over arcs and nodes use several cores inside the block.

    Work is handed out in pieces whose sums are put together in one fixed order: results are the
    same to the last bit. By default one thread is used, which is best where many runs share a
    machine.

    >>> with using_threads(2):
    ...     sum(share(lambda first, last: sum(range(first, last)), 10, at_once=3))
    45
    """
    token = _THREADS.set(checks.whole("threads", threads, least=1, most=2**15))
    try:
        yield
    finally:
        _THREADS.reset(token)


def share(work: Callable[[int, int], _T], size: int, *, at_once: int) -> Iterator[_T]:
    """``work(first, last)`` for successive pieces of range(size), in their order.

    Of what was worked out ahead only a few pieces per thread wait for those before them.
    """
    pieces = [(first, min(first + at_once, size)) for first in range(0, size, at_once)]
    threads = min(_THREADS.get(), len(pieces))
    if threads <= 1:
        yield from (work(*piece) for piece in pieces)
        return
    with ThreadPoolExecutor(threads) as pool:
        ahead: deque[Future[_T]] = deque()
        for piece in pieces:
            ahead.append(pool.submit(work, *piece))
            if len(ahead) > 2 * threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


@cache
def _controller() -> Any:
    # Looking for the loaded BLAS libraries takes milliseconds, longer than a small solve: do it
    # once, and after scipy has loaded its own copy, which a later import would hide from us.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Run the block with one BLAS thread; blocks may nest, and overlap across Python threads.

    On matrices of a few hundred rows, waking the other threads costs more than the product
    itself; on a busy machine it was seen to take 40 times as long with all threads as with one.

    The number of BLAS threads belongs to the process. Of several Python threads inside such
    blocks at once, only the first sets and restores it: if each restored what it had found, one
    that came second would restore 1, for good.
    """
    if not _HOLDER.acquire(blocking=False):
        yield
        return
    try:
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _HOLDER.release()

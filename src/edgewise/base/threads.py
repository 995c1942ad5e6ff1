"""One BLAS thread while small matrices are factored."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_HOLDER = threading.RLock()


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

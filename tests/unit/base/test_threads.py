from __future__ import annotations

import threading

import pytest

from edgewise.base.threads import single_threaded


def blas_threads() -> list[int]:
    import scipy.linalg  # noqa: F401 - brings a BLAS of its own: count it from the start
    from threadpoolctl import threadpool_info

    # other pools (the OpenMP of numba, once some test has started it) are none of our business
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_thread_limit_nests() -> None:
    before = blas_threads()
    with single_threaded(), single_threaded():
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_thread_limit_is_restored_when_blocks_overlap() -> None:
    """Another thread enters first and leaves in the middle of our block."""
    before = blas_threads()
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with single_threaded():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait()
    with single_threaded():
        during = blas_threads()
        leave.set()
        thread.join()
    assert set(during) == {1}
    assert blas_threads() == before


def test_thread_limit_is_restored_after_an_error() -> None:
    before = blas_threads()
    with pytest.raises(ValueError, match="on purpose"), single_threaded():
        raise ValueError("on purpose")
    assert blas_threads() == before

"""The wait for compilation is announced, once."""

from __future__ import annotations

import numba
import pytest

from edgewise.cli.terminal import compiling


def test_a_compilation_is_announced_once_and_then_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiling, "_PAUSE", 0.0)
    notes: list[str] = []
    one, two = numba.njit(lambda x: x + 1), numba.njit(lambda x: x + 2)
    with compiling.compilation_announced(notes.append):
        assert one(1) == 2
        assert two(1) == 3
        assert one(5) == 6
    numba.njit(lambda x: x + 3)(1)
    assert notes[0].startswith("compiling kernels, once")
    assert notes[1:] == ["1 kernel compiled so far", "2 kernels compiled so far"]


def test_nothing_is_said_where_nothing_is_compiled() -> None:
    notes: list[str] = []
    ready = numba.njit(lambda x: x + 1)
    ready(1)
    with compiling.compilation_announced(notes.append):
        ready(2)
    assert notes == []

"""Writers of a file in one process: first come, first served."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from edgewise.errors import StorageError
from edgewise.study.storage import engines
from edgewise.study.storage.database import DatabaseStorage
from edgewise.study.storage.turns import Crowded, Turns, turns_of

PATIENCE = 30.0


@contextmanager
def queue(turns: Turns, names: str) -> Iterator[list[str]]:
    """Threads that came in this order while the turn was taken; whoever had it, in order."""
    served: list[str] = []

    def wait(name: str) -> None:
        with turns.one(PATIENCE):
            served.append(name)

    threads = []
    with turns.one(PATIENCE):
        for place, name in enumerate(names, start=2):
            threads.append(threading.Thread(target=wait, args=(name,)))
            threads[-1].start()
            while len(turns._line) < place:
                pass
        yield served
    for thread in threads:
        thread.join()


def test_whoever_came_first_is_served_first() -> None:
    with queue(Turns(), "abcdefgh") as served:
        assert not served
    assert served == list("abcdefgh")


def test_who_gives_up_leaves_the_line() -> None:
    turns = Turns()
    with queue(turns, "ab") as served, pytest.raises(Crowded), turns.one(0.0):
        raise AssertionError("it was not its turn")
    assert served == ["a", "b"]
    assert not turns._line


def test_an_error_inside_hands_the_turn_on() -> None:
    turns = Turns()
    with pytest.raises(KeyboardInterrupt), turns.one(PATIENCE):
        raise KeyboardInterrupt
    with turns.one(0.0):
        assert len(turns._line) == 1


def test_a_forked_process_has_turns_of_its_own() -> None:
    turns = turns_of(Path("forked.db"))
    with turns.one(PATIENCE):
        child = os.fork()
        if child == 0:
            try:
                with turns.one(0.0):
                    os._exit(0)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_all_that_opened_a_file_share_its_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    one = DatabaseStorage("sqlite:///turns.db", create=True)
    with one.creating("study"):
        pass
    other = DatabaseStorage(f"sqlite:///{tmp_path}/turns.db")
    monkeypatch.setattr(engines, "_PATIENCE", 0.0)
    with one.writing("study"):
        with pytest.raises(StorageError, match="kept it busy"), other.writing("study"):
            raise AssertionError("two writers at once")
        with other.reading("study") as journal:  # readers wait for nobody
            assert journal.length == 0

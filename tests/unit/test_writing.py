"""A file is there as a whole, or as it was."""

from __future__ import annotations

import os
import resource
import signal
import stat
import threading
from pathlib import Path

import pytest

from edgewise.errors import InvalidFile
from edgewise.writing import replacing, replacing_text, write_bytes, write_text


def test_a_failure_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")

    def interrupted() -> None:
        with replacing(path) as stream:
            stream.write(b"new, but")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_file_whole_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        with pytest.raises(InvalidFile, match=r"report.html: it cannot be written .*check .* disk"):
            write_bytes(path, bytes(100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_two_writers_of_a_path_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"

    def write(letter: str) -> None:
        for _ in range(30):
            with replacing_text(path) as stream:
                stream.writelines(letter * 1000 + "\n" for _ in range(5))

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() in {(letter * 1000 + "\n") * 5 for letter in "ab"}
    assert list(tmp_path.iterdir()) == [path]


def test_links_that_lie_in_wait_are_not_followed(tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "out.csv"
    victim.write_text("precious")
    (tmp_path / "out.csv.partial").symlink_to(victim)
    path.symlink_to(victim)
    write_text(path, "new")
    assert (victim.read_text(), path.read_text()) == ("precious", "new")


def test_permissions_stay_or_are_the_usual_ones(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    mask = os.umask(0o027)
    try:
        write_text(path, "first")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    write_text(path, "second")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_devices_are_written_to_and_folders_are_not(tmp_path: Path) -> None:
    write_text("/dev/null", "gone")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(InvalidFile, match="cannot be written"):
        write_text(tmp_path, "a folder is there")
    with pytest.raises(InvalidFile, match="cannot be written"):
        write_text(tmp_path / "no" / "folder", "nowhere")


def test_what_cannot_be_encoded_stops_nothing(tmp_path: Path) -> None:
    write_text(tmp_path / "x", "a\ud800b")
    assert (tmp_path / "x").read_text() == "a?b"

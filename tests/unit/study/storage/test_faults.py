"""Death of the process, several processes, full disks, damaged files, lost connections."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from tests.unit.study import driver
from tests.unit.study.farm import PROBLEM, endless, measure, run, state_of

import edgewise as ew
from edgewise.errors import DamagedSnapshot, StorageError, UnknownTicket
from edgewise.study.log.events import Asked, Told

KILLS = 200
WORKERS = 8


LOUD = replace(PROBLEM, noise=3.0)
"""Thousands of rounds, and nothing is certain: how many a killed run gets is up to the machine."""


def undisturbed(n_rounds: int, problem: ew.Problem = PROBLEM, **options: Any) -> ew.Study:
    return run(ew.Study.create("farm", problem, storage="memory", **endless(**options)), n_rounds)


def check_log(study: ew.Study, tells_per_round: int) -> None:
    """Every round was asked for once, every measurement recorded once."""
    rounds = study.status().rounds
    events = [event for _, event in study.log()]
    asked = [event.round for event in events if isinstance(event, Asked)]
    assert asked == list(range(1, len(asked) + 1))
    tells = Counter(event.round for event in events if isinstance(event, Told))
    assert [tells[number] for number in range(1, rounds + 1)] == [tells_per_round] * rounds
    told = Counter(
        (event.round, arc)
        for event in events
        if isinstance(event, Told)
        for arc in (range(10) if event.arcs is None else event.arcs.tolist())
    )
    assert set(told.values()) == {1}


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "waited for a minute in vain"
        time.sleep(0.001)


# -- death -----------------------------------------------------------------------------------


def test_killed_at_random_moments_a_study_loses_and_doubles_nothing(
    sqlite: str, tmp_path: Path
) -> None:
    ew.Study.create("farm", LOUD, storage=sqlite, **endless())
    diary = tmp_path / "diary"
    diary.touch()
    rng = np.random.default_rng(0)
    for life in range(KILLS):
        size = diary.stat().st_size
        process = driver.start(driver.drive, sqlite, diary)
        if life % 4:  # the others die young: while loading, or before
            wait_until(lambda: diary.stat().st_size > size)  # noqa: B023
        time.sleep(rng.uniform(0.0, 0.05))
        process.kill()
        process.join()
        assert process.exitcode == -9, "the driver ended by itself"
    study = ew.Study.load("farm", storage=sqlite)
    told = [tuple(map(int, line.split())) for line in diary.read_text().splitlines()]
    for number, part in told:
        which = driver.HALF if part == 0 else ~driver.HALF
        expected = measure(number, study.ticket(number).arms)
        assert np.array_equal(study.rewards(number)[which], expected[which])
    check_log(study, tells_per_round=2)
    reached = study.status().rounds + 5
    run(study, 5)
    assert state_of(study) == state_of(undisturbed(reached, LOUD))
    assert len({number for number, _ in told}) <= reached


def test_killed_while_it_tells_a_trial_loses_and_doubles_nothing(
    sqlite: str, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"baseline": 0, "candidate": 1, "width": 1e-9, "max_pairs": 10**6}
    ew.Study.create("farm", PROBLEM, storage=sqlite, **endless()).confirm(**options, rng=3)
    diary = tmp_path / "diary"
    diary.touch()
    rng = np.random.default_rng(1)
    for _ in range(6):
        size = diary.stat().st_size
        process = driver.start(driver.drive_trial, sqlite, diary)
        wait_until(lambda: diary.stat().st_size > size)  # noqa: B023
        time.sleep(rng.uniform(0.0, 0.03))
        process.kill()
        process.join()
        assert process.exitcode == -9, "the driver ended by itself"
    told = diary.read_text().splitlines()
    assert len(told) == len(set(told)), "a figure was told twice"
    trial, alone = ew.Study.load("farm", storage=sqlite).trial, ew.Trial(PROBLEM, **options, rng=3)
    assert trial is not None
    while (alone.ask().block, alone.ask().place) != (trial.ask().block, trial.ask().place):
        ticket = alone.ask()
        alone.tell(ticket, driver.metered(ticket.block, ticket.place))
    reached = 2 * (trial.ask().block - 1) + trial.ask().place - 1
    assert reached >= len(told), "what was confirmed is lost"
    assert np.array_equal(trial.report().totals, alone.report().totals)


# -- several processes -----------------------------------------------------------------------


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(request.param)
    return found


def test_processes_measuring_together_lose_and_double_nothing(url: str) -> None:
    study = ew.Study.create("farm", PROBLEM, storage=url, **endless(max_rounds=20))
    driver.finish([driver.start(driver.take_share, url, k, WORKERS) for k in range(WORKERS)])
    check_log(study, tells_per_round=WORKERS)
    assert state_of(study) == state_of(undisturbed(20, max_rounds=20))


def test_processes_telling_the_same_record_it_once(url: str) -> None:
    study = ew.Study.create("farm", PROBLEM, storage=url, **endless(max_rounds=20))
    driver.finish([driver.start(driver.compete, url) for _ in range(WORKERS)])
    check_log(study, tells_per_round=1)
    assert state_of(study) == state_of(undisturbed(20, max_rounds=20))


def test_of_processes_creating_a_study_one_wins(url: str, tmp_path: Path) -> None:
    outcomes = tmp_path / "outcomes"
    driver.finish([driver.start(driver.create, url, outcomes) for _ in range(WORKERS)])
    assert Counter(outcomes.read_text().split()) == {"created": 1, "exists": WORKERS - 1}
    assert ew.Study.names(url) == ["farm"]


def test_threads_may_share_a_study(sqlite: str) -> None:
    study = ew.Study.create("farm", PROBLEM, storage=sqlite, **endless())
    failures: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            for _ in range(5):
                ticket = study.ask()
                rewards = measure(ticket.round, ticket.arms)
                study.tell(ticket, np.where(np.arange(10) % 4 == worker, rewards, np.nan))
                study.status()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    rounds = study.status().rounds
    assert rounds >= 1
    assert all(not np.isnan(study.rewards(number)).any() for number in range(1, rounds + 1))


# -- files -----------------------------------------------------------------------------------


def test_a_full_disk_stops_nothing_for_good(sqlite: str) -> None:
    study = run(ew.Study.create("farm", PROBLEM, storage=sqlite, **endless()), 3)
    engine = study.storage._database.engine  # type: ignore[attr-defined]
    limit = [1]  # pages: less than there are, so that not one can be added

    @sa.event.listens_for(engine, "checkout")
    def fill_the_disk(connection: sqlite3.Connection, *_: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {limit[0]}")

    with pytest.raises(StorageError, match=r"full; .* free some space and repeat"):
        run(study, 100)  # pages in use have room for a few more entries
    limit[0] = 10**9
    run(study, 5)
    reached = study.status().rounds
    assert state_of(ew.Study.load("farm", storage=sqlite)) == state_of(undisturbed(reached))
    assert 8 <= reached < 103


def test_a_limit_of_the_system_on_the_file_stops_nothing_for_good(
    sqlite: str, tmp_path: Path
) -> None:
    study = run(ew.Study.create("farm", PROBLEM, storage=sqlite, **endless()), 3)
    driver.finish([driver.start(driver.hit_the_size_limit, sqlite, tmp_path / "study.db")])
    reached = study.status().rounds
    assert reached > 3
    assert state_of(study) == state_of(undisturbed(reached))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter (those of pytest are private)."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_read_only_file_is_not_harmed(open_folder: Path) -> None:
    url = f"sqlite:///{open_folder}/study.db"
    study = run(ew.Study.create("farm", PROBLEM, storage=url, **endless()), 3)
    before = state_of(study)
    del study  # the last connection folds the write-ahead log into the file
    path = open_folder / "study.db"
    content = path.read_bytes()
    path.chmod(0o444)
    open_folder.chmod(0o555)
    driver.finish([driver.start(driver.meet_a_read_only_file, url)])
    assert path.read_bytes() == content
    open_folder.chmod(0o755)
    path.chmod(0o644)
    study = ew.Study.load("farm", storage=url)
    assert state_of(study) == before
    run(study, 1)


@pytest.mark.parametrize("damage", ["pages", "cut", "blob"])
def test_a_damaged_file_is_noticed_and_a_copy_of_it_works(
    sqlite: str, tmp_path: Path, damage: str
) -> None:
    study = run(ew.Study.create("farm", PROBLEM, storage=sqlite, **endless()), 10)
    expected = state_of(study)
    del study
    path, copy = tmp_path / "study.db", tmp_path / "copy.db"
    shutil.copy(path, copy)
    content = bytearray(path.read_bytes())
    if damage == "pages":
        content[4096:] = os.urandom(len(content) - 4096)
    elif damage == "cut":
        content = content[: len(content) // 2]
    path.write_bytes(content)
    if damage == "blob":
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(
                "UPDATE edgewise_events SET data = zeroblob(length(data)) WHERE sequence = 5"
            )
    with pytest.raises(StorageError, match="backup"):
        run(ew.Study.load("farm", storage=sqlite), 1)
    shutil.copy(copy, path)
    assert state_of(ew.Study.load("farm", storage=sqlite)) == expected


def test_a_lost_entry_is_noticed(sqlite: str, tmp_path: Path) -> None:
    run(ew.Study.create("farm", PROBLEM, storage=sqlite, **endless()), 10)
    with closing(sqlite3.connect(tmp_path / "study.db")) as connection, connection:
        connection.execute("DELETE FROM edgewise_events WHERE sequence = 7")
    with pytest.raises(StorageError, match=r"entry 7 of the log is missing.*backup"):
        ew.Study.load("farm", storage=sqlite)


def execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


@pytest.mark.parametrize("regrown", [0, 1, 3])
def test_a_log_cut_back_is_noticed_before_anything_is_written(
    sqlite: str, tmp_path: Path, regrown: int
) -> None:
    study = run(ew.Study.create("farm", PROBLEM, storage=sqlite, **endless()), 4)
    ticket = study.ask()
    execute(tmp_path / "study.db", "DELETE FROM edgewise_events WHERE sequence > 7")
    other = run(ew.Study.load("farm", storage=sqlite), 0)
    for _ in range(regrown):
        again = other.ask()
        other.tell(again, 1.0 + measure(again.round, again.arms))
    before = state_of(other)
    for act in (study.ask, study.status, lambda: study.tell(ticket, np.zeros(10))):
        with pytest.raises(StorageError, match=r"entry 10 of the log is .* load the study again"):
            act()
    assert state_of(ew.Study.load("farm", storage=sqlite)) == before


def test_a_study_created_anew_is_not_mistaken_for_the_old_one(sqlite: str, tmp_path: Path) -> None:
    study = run(ew.Study.create("farm", PROBLEM, storage=sqlite, **endless()), 2)
    ticket = study.ask()
    for table in ("events", "snapshots", "studies"):
        execute(tmp_path / "study.db", f"DELETE FROM edgewise_{table}")
    anew = run(ew.Study.create("farm", PROBLEM, storage=sqlite, **endless()), 2)
    before = state_of(anew)
    assert np.array_equal(anew.ask().arms, ticket.arms)
    with pytest.raises(StorageError, match="created anew"):
        study.tell(ticket, measure(3, ticket.arms))
    with pytest.raises(UnknownTicket, match="handed out by another study"):
        anew.tell(ticket, measure(3, ticket.arms))
    assert anew.pending is not None
    assert before == state_of(undisturbed(2))


@pytest.mark.parametrize(
    ("statement", "fact"),
    [
        ("SET data = (SELECT data FROM edgewise_events WHERE sequence = 3)", "entry 5"),
        ("SET kind = 'closed'", "entry 5"),
        ("SET round = 1", "entry 5"),
        ("SET at = at + 1", "entry 5"),
    ],
)
def test_an_entry_that_was_changed_or_moved_is_noticed(
    sqlite: str, tmp_path: Path, statement: str, fact: str
) -> None:
    run(ew.Study.create("farm", PROBLEM, storage=sqlite, **endless()), 5)
    execute(tmp_path / "study.db", f"UPDATE edgewise_events {statement} WHERE sequence = 5")
    with pytest.raises(StorageError, match=rf"{fact} of the log does not follow.*backup"):
        ew.Study.load("farm", storage=sqlite)


@pytest.mark.parametrize("happens", ["deleted", "replaced", "moved"])
def test_a_file_that_vanishes_takes_no_writes(sqlite: str, tmp_path: Path, happens: str) -> None:
    study = run(ew.Study.create("farm", PROBLEM, storage=sqlite, **endless()), 2)
    ticket, path = study.ask(), tmp_path / "study.db"
    kept = tmp_path / "kept.db"
    if happens == "moved":
        path.rename(kept)
    else:
        path.unlink()
    if happens == "replaced":
        shutil.copy(__file__, path)
    with pytest.raises(StorageError, match=r"deleted, moved or replaced.*nothing was recorded"):
        study.tell(ticket, measure(3, ticket.arms))
    assert path.exists() == (happens == "replaced")
    if happens == "moved":
        kept.rename(path)
        study.tell(ticket, measure(3, ticket.arms))
        assert state_of(study) == state_of(undisturbed(3))


# -- snapshots -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE edgewise_snapshots SET data = zeroblob(length(data))",
        "UPDATE edgewise_snapshots SET data = x'ed6577'",
        "UPDATE edgewise_snapshots SET sequence = 63",  # taken after another entry
        "UPDATE edgewise_snapshots SET sequence = 1000",  # the log is not that long
    ],
)
def test_a_damaged_snapshot_loses_nothing_and_is_written_anew(
    sqlite: str, tmp_path: Path, statement: str
) -> None:
    run(ew.Study.create("farm", PROBLEM, storage=sqlite, **endless()), 40)
    execute(tmp_path / "study.db", statement)
    with pytest.warns(DamagedSnapshot, match="the log was read instead"):
        study = ew.Study.load("farm", storage=sqlite)
    assert state_of(study) == state_of(undisturbed(40))
    run(study, 1)
    assert state_of(ew.Study.load("farm", storage=sqlite)) == state_of(undisturbed(41))


# -- connections -----------------------------------------------------------------------------


def administer(url: str) -> sa.Connection:
    """A connection of its own, to do harm with."""
    target = sa.make_url(url).set(drivername="postgresql+psycopg")
    return sa.create_engine(target, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT").connect()


def others(connection: sa.Connection) -> list[int]:
    """Processes of the server that serve the other connections to this test's schema."""
    query = (
        "SELECT pid FROM pg_locks WHERE relation = 'edgewise_studies'::regclass "
        "AND pid <> pg_backend_pid()"
    )
    return sorted(set(connection.exec_driver_sql(query).scalars()))


def test_a_connection_lost_in_mid_transaction_loses_nothing(postgres: str) -> None:
    study = run(ew.Study.create("farm", PROBLEM, storage=postgres, **endless()), 2)
    ticket = study.ask()
    before = state_of(study)

    def lose_the_connection() -> None:
        with administer(postgres) as admin, study.storage.writing("farm") as journal:
            cursor = study._session.cursor.catch_up(journal)
            cursor.record(journal, Told(3, None, measure(3, ticket.arms)), at=0.0)
            (victim,) = others(admin)
            admin.exec_driver_sql(f"SELECT pg_terminate_backend({victim}, 5000)")

    with pytest.raises(StorageError, match="repeat when the server answers"):
        lose_the_connection()
    assert state_of(study) == before
    study.tell(ticket, measure(3, ticket.arms))
    assert state_of(study) == state_of(undisturbed(3))


def test_a_connection_lost_while_waiting_for_its_turn(postgres: str) -> None:
    study = run(ew.Study.create("farm", PROBLEM, storage=postgres, **endless()), 2)
    ticket = study.ask()
    rewards = measure(3, ticket.arms)
    caught: list[str] = []

    def tell() -> None:
        try:
            study.tell(ticket, rewards)
        except StorageError as error:
            caught.append(str(error))

    with administer(postgres) as admin, administer(postgres) as blocker:
        blocker = blocker.execution_options(isolation_level="READ COMMITTED")
        with blocker.begin():
            blocker.exec_driver_sql("SELECT id FROM edgewise_studies FOR UPDATE")
            (mine,) = others(admin)
            thread = threading.Thread(target=tell)
            thread.start()
            wait_until(lambda: len(others(admin)) == 2)
            (waiting,) = (pid for pid in others(admin) if pid != mine)
            admin.exec_driver_sql(f"SELECT pg_terminate_backend({waiting}, 5000)")
            thread.join(timeout=30)
    assert len(caught) == 1
    assert "repeat when the server answers" in caught[0]
    study.tell(ticket, rewards)
    assert state_of(study) == state_of(undisturbed(3))


def test_a_connection_lost_while_idle_is_replaced(postgres: str) -> None:
    study = run(ew.Study.create("farm", PROBLEM, storage=postgres, **endless()), 2)
    with administer(postgres) as admin:
        with study.storage.reading("farm") as journal:
            assert journal.length == 5
            (victim,) = others(admin)
        admin.exec_driver_sql(f"SELECT pg_terminate_backend({victim}, 5000)")
    assert state_of(run(study, 1)) == state_of(undisturbed(3))


# -- one moment, one owner -------------------------------------------------------------------


def test_an_export_while_others_tell_is_of_one_moment(url: str, tmp_path: Path) -> None:
    study = run(ew.Study.create("farm", PROBLEM, storage=url, **endless()), 20)
    writer = ew.Study.load("farm", storage=url)
    over = threading.Event()

    def write() -> None:
        while not over.is_set():
            run(writer, 1)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for number in range(5):
            study.export(tmp_path / f"{number}.jsonl")
    finally:
        over.set()
        thread.join()
    for number in range(5):
        moved = run(ew.Study.from_export(tmp_path / f"{number}.jsonl"), 1)
        assert state_of(moved) == state_of(undisturbed(moved.status().rounds))


def test_a_forked_process_uses_connections_of_its_own(url: str) -> None:
    study = run(ew.Study.create("farm", PROBLEM, storage=url, **endless()), 2)
    for _ in range(3):
        child = os.fork()
        if child == 0:
            try:
                run(study, 1)
                os._exit(0)
            except BaseException:
                os._exit(1)
        run(study, 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    reached = study.status().rounds
    check_log(study, tells_per_round=1)
    assert state_of(study) == state_of(undisturbed(reached))

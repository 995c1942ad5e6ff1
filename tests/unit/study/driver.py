"""What runs in processes of its own, started by the tests from a warm fork server."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.study.farm import PROBLEM, endless, measure, run

import edgewise as ew
from edgewise.errors import LearnerStopped, StorageError, StudyExists

HALF = np.arange(PROBLEM.graph.n_arcs) < 5


def processes() -> ForkServerContext:
    """Makes processes that start warm: nothing to import, nothing to compile."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pytest", "tests.unit.study.driver"])  # pytest: the main module
    return context


def start(target: Callable[..., None], *arguments: Any) -> ForkServerProcess:
    """A running process."""
    process = processes().Process(target=target, args=arguments, daemon=True)
    process.start()
    return process


def finish(running: Sequence[ForkServerProcess]) -> None:
    """Wait; all must end well."""
    for process in running:
        process.join(timeout=120)
    codes = [process.exitcode for process in running]
    assert codes == [0] * len(running), f"exit codes {codes}; the reasons are on standard error"


def metered(block: int, place: int) -> float:
    """A figure of a trial: the same whenever and wherever it is measured."""
    return float(np.random.default_rng((block, place)).standard_normal())


def drive_trial(url: str, diary: Path) -> None:
    """The same with the trial of a study."""
    trial = ew.Study.load("farm", storage=url).trial
    assert trial is not None
    notes = os.open(diary, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    while True:
        ticket = trial.ask()
        trial.tell(ticket, metered(ticket.block, ticket.place))
        os.write(notes, f"{ticket.block} {ticket.place}\n".encode())


def drive(url: str, diary: Path) -> None:
    """Run a study without end, and note in the diary what was told, once telling has returned."""
    study = ew.Study.load("farm", storage=url)
    notes = os.open(diary, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    while True:
        ticket = study.ask()
        rewards = measure(ticket.round, ticket.arms)
        for part, which in enumerate((HALF, ~HALF)):
            study.tell(ticket, np.where(which, rewards, np.nan))
            os.write(notes, f"{ticket.round} {part}\n".encode())


def take_share(url: str, worker: int, n_workers: int) -> None:
    """One of several processes that measure a network together, each its own arcs."""
    study = ew.Study.load("farm", storage=url)
    mine = np.arange(PROBLEM.graph.n_arcs) % n_workers == worker
    told = 0
    with suppress(LearnerStopped):
        while True:
            ticket = study.ask()
            if ticket.round == told:
                time.sleep(0.005)  # others are still measuring
                continue
            study.tell(ticket, np.where(mine, measure(ticket.round, ticket.arms), np.nan))
            told = ticket.round


def compete(url: str) -> None:
    """One of several processes that all tell everything."""
    study = ew.Study.load("farm", storage=url)
    with suppress(LearnerStopped):
        while True:
            ticket = study.ask()
            study.tell(ticket, measure(ticket.round, ticket.arms))


def create(url: str, outcomes: Path) -> None:
    """One of several processes that create the same study at the same time."""
    try:
        ew.Study.create("farm", PROBLEM, storage=url, **endless())
        outcome = "created"
    except StudyExists:
        outcome = "exists"
    with outcomes.open("a") as file:
        file.write(outcome + "\n")


def hit_the_size_limit(url: str, path: Path) -> None:
    """Tell until the system refuses to write, then again when it does not."""
    study = ew.Study.load("farm", storage=url)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    wal = path.with_name(path.name + "-wal")
    resource.setrlimit(resource.RLIMIT_FSIZE, (wal.stat().st_size + 8192, hard))
    with pytest.raises(StorageError, match=r"check the disk|free some space"):
        run(study, 1000)
    before = study.status().rounds
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    run(study, 3)
    assert study.status().rounds == before + 3


def meet_a_read_only_file(url: str) -> None:
    """As a user who may not write."""
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    with pytest.raises(StorageError, match="writable"):
        ew.Study.load("farm", storage=url).ask()


def warm_up() -> None:
    """Compile, or load, every kernel and statement a study uses."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/warm.db"
        run(ew.Study.create("warm", PROBLEM, storage=url, **endless()), 3)
        ew.Study.load("warm", storage=url).status()


warm_up()  # once, when the fork server imports this module

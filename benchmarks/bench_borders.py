"""What the borders of a stored study cost: ``tell`` with its checks, and without, in turns.

Run with ``python benchmarks/bench_borders.py``; prints a markdown table. Without: no checksum of
entries, no look at the entry that was read last, no look at the file's inode, no turn. Both studies
are told the same rounds one after the other in one process; processor time, medians of blocks.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import Any
from unittest.mock import patch

import numpy as np

import edgewise as ew
from edgewise.study.log import cursor
from edgewise.study.log.chain import Link, sealed
from edgewise.study.storage.base import Entry, Journal
from edgewise.study.storage.engines import Database

BLOCKS, ROUNDS = 30, 20


def main() -> None:
    """Print the table."""
    print("| strategy | tell, ms | without borders, ms | ratio, median of blocks (10 %, 90 %) |")
    print("|---|---|---|---|")
    for strategy in ("g-optimal", "adaptive"):
        with tempfile.TemporaryDirectory() as folder:
            studies = [study(f"sqlite:///{folder}/{k}.db", strategy) for k in range(2)]
            pairs = np.array([block(*studies) for _ in range(BLOCKS + 2)][2:])
        ratios = sorted(pairs[:, 0] / pairs[:, 1])
        low, high = ratios[BLOCKS // 10], ratios[-BLOCKS // 10]
        full, bare = 1e3 * np.median(pairs, axis=0)
        print(
            f"| {strategy} | {full:.2f} | {bare:.2f} | {statistics.median(ratios):.2f} "
            f"({low:.2f}, {high:.2f}) |"
        )


def study(url: str, strategy: str) -> ew.Study:
    """The paper's circle, 156 rewards a round; it does not stop."""
    arms, _ = ew.simulation.paper_instance(5, 0.1)
    problem = ew.Problem(ew.Graph.circle(n_edges=156), arms)
    made = ew.Study.create("x", problem, storage=url, delta=1e-300, strategy=strategy, rng=0)
    made.extend(rounds=10**6)
    return made


def block(checked: ew.Study, bare: ew.Study) -> tuple[float, float]:
    """Processor seconds of a tell, with and without borders."""
    first = told(checked)
    with without_borders():
        return first, told(bare)


def told(one: ew.Study) -> float:
    rng = np.random.default_rng(1)
    taken = 0.0
    for _ in range(ROUNDS):
        ticket, rewards = one.ask(), rng.normal(size=156)
        began = time.process_time()
        one.tell(ticket, rewards)
        taken += time.process_time() - began
    return taken / ROUNDS


@contextmanager
def without_borders() -> Iterator[None]:
    """As studies were before their logs were checked."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(cursor, "append_to", _appended))
        stack.enter_context(patch.object(cursor.Cursor, "catch_up", _caught_up))
        stack.enter_context(patch.object(Database, "_refuse_replaced", lambda _: None))
        stack.enter_context(patch.object(Database, "_turn", lambda *_: ExitStack()))
        yield


def _appended(before: Link, entry: Entry) -> tuple[Entry, Link]:
    data = sealed(before.digest, entry.data)
    return Entry(entry.sequence, entry.round, entry.kind, entry.at, data), before


def _caught_up(self: Any, journal: Journal) -> Any:
    entries = journal.read(self.position)
    new = next(entries, None)
    return self if new is None else self.after(chain([new], entries))


if __name__ == "__main__":
    main()

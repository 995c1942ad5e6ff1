"""``make fuzz``: many damaged inputs per target, each target in a process with little memory.

python -m tests.fuzz.run --inputs 100000 --megabytes 4096
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections import Counter
from typing import Any

from tests.fuzz.mutation import mutated
from tests.fuzz.targets import CORPUS, TARGETS, attempt


def fuzz(name: str, inputs: int, seed: int, megabytes: int, send: Any) -> None:
    """Try damaged inputs; send the counts, and the first bare errors."""
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    right, counts, bare = (CORPUS / name).read_bytes(), Counter[str](), []
    for number in range(inputs):
        try:
            counts[attempt(name, mutated(right, seed + number))] += 1
        except BaseException as error:
            counts["bare"] += 1
            bare.append(f"{name} seed {seed + number}: {type(error).__name__}: {error}"[:300])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    send.send((dict(counts), bare[:5], peak))


def main() -> None:
    """Print a row per target; exit code 1 if anything but reading or refusing happened."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--megabytes", type=int, default=4096)
    options = parser.parse_args()
    each, start, wrong, total = options.inputs // len(TARGETS) + 1, time.monotonic(), [], 0
    print("| target | inputs | read | refused | bare errors | peak MB |\n|---|---|---|---|---|---|")
    context = multiprocessing.get_context("fork")
    for name in TARGETS:
        receive, send = context.Pipe(duplex=False)
        arguments = (name, each, options.seed, options.megabytes, send)
        process = context.Process(target=fuzz, args=arguments)
        process.start()
        send.close()
        try:
            counts, bare, peak = receive.recv()
        except EOFError:
            counts, bare, peak = {}, [f"{name}: the interpreter died"], 0
        process.join()
        wrong += bare
        total += each
        row = [counts.get(key, 0) for key in ("read", "refused", "bare")]
        print(f"| {name} | {each} | {row[0]} | {row[1]} | {row[2]} | {peak} |", flush=True)
    print(f"\n{total} inputs in {time.monotonic() - start:.0f} s; {len(wrong)} problems")
    print("\n".join(wrong))
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()

"""Is it slower than the last release? Ends with 1 if a kernel takes twice as long.

``python benchmarks/compare.py [old] [new]``: each a version in ``history/`` or the path of a
record. By default the latest record, and the kernels of the version at hand, timed now.
"""

from __future__ import annotations

import sys
from pathlib import Path

from history import ATTEMPTS, FOLDER, Record, faster, latest, read, timed_kernels

TOO_SLOW = 2.0
"""Below this it may be the machine: other work, another clock."""


def record_of(name: str) -> Record:
    """A version of the history, or a file."""
    path = Path(name) if name.endswith(".json") else FOLDER / f"{name}.json"
    if not path.exists():
        known = ", ".join(sorted(one.stem for one in FOLDER.glob("*.json"))) or "none"
        raise SystemExit(f"there is no record {path}; on record: {known}")
    return read(path)


def slowdowns(old: Record, new: Record) -> dict[str, float]:
    """Fastest rounds, new over old, of the kernels that both have."""
    both = [name for name in old.kernels if name in new.kernels]
    return {name: new.kernels[name].fastest / old.kernels[name].fastest for name in both}


def too_slow(old: Record, new: Record) -> list[str]:
    """Kernels that take twice as long."""
    return [name for name, ratio in slowdowns(old, new).items() if ratio >= TOO_SLOW]


def measured_now(old: Record) -> Record:
    """The kernels at hand, each as fast as in the best of up to three attempts."""
    new = timed_kernels()
    for _ in range(ATTEMPTS - 1):  # only what looks slow is worth another attempt
        if not too_slow(old, new):
            break
        new = faster(new, timed_kernels())
    return new


def table(old: Record, new: Record) -> str:
    """Kernels and ratios of both, in markdown."""
    slower = slowdowns(old, new)
    lines = [f"| kernel | {old.version} ms | {new.version} ms | new / old |", "|---|---|---|---|"]
    for name in dict.fromkeys([*old.kernels, *new.kernels]):
        before, after = (_milliseconds(record, name) for record in (old, new))
        ratio = f"{slower[name]:.2f}" if name in slower else ""
        lines.append(f"| {name} | {before} | {after} | {ratio} |")
    shared = [name for name in old.ratios if name in new.ratios]
    lines += [f"| {name} | {old.ratios[name]:.3g} | {new.ratios[name]:.3g} | |" for name in shared]
    return "\n".join(lines)


def _milliseconds(record: Record, name: str) -> str:
    return f"{1e3 * record.kernels[name].fastest:.3f}" if name in record.kernels else "none"


def notes(old: Record, new: Record) -> list[str]:
    """What else than the code may have made a difference."""
    pairs = {
        "processor": (old.machine.cpu, new.machine.cpu),
        "cores": (old.machine.cores, new.machine.cores),
        "python": (old.machine.python, new.machine.python),
        "libraries": (old.machine.libraries, new.machine.libraries),
    }
    different = [
        f"not the same {what}: {a} then, {b} now" for what, (a, b) in pairs.items() if a != b
    ]
    busy = [one for one in (old, new) if one.machine.load > one.machine.cores]
    return different + [
        f"{one.version} was measured at a load of {one.machine.load}" for one in busy
    ]


def main() -> int:
    """Print the table; 1 if something takes twice as long."""
    names = sys.argv[1:]
    if len(names) > 2:
        raise SystemExit(f"{len(names)} records; compare at most two: compare.py [old] [new]")
    old = record_of(names[0]) if names else read(latest())
    new = record_of(names[1]) if len(names) == 2 else measured_now(old)
    print(table(old, new))
    for note in notes(old, new):
        print(note)
    slow = too_slow(old, new)
    for name in slow:
        print(f"{name} takes at least {TOO_SLOW:g} times as long as in {old.version}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())

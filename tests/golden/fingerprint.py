"""What the method computes, as hashes of its bits: nothing may change unless it is meant to.

    python -m tests.golden.fingerprint           print the hashes as JSON
    python -m tests.golden.fingerprint --write   replace tests/golden/fingerprint.json

Hashes are of what is *known* (statistics, verdicts, joint arms, numbers of a report), in an order
written down here, not of how it is stored. They are exact, so they hold for the pinned versions,
one BLAS thread and one instruction set: run by :func:`hashes`, a process of its own sees to that.
A changed hash needs a line in CHANGELOG.md that says why.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).with_name("fingerprint.json")
_ROOT = Path(__file__).parents[2]
_ONE_ARITHMETIC = {
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "PYTHONWARNINGS": "ignore",
}


def hashes() -> dict[str, str]:
    """Computed in a process with one arithmetic."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.golden.fingerprint"],
        cwd=_ROOT,
        env=os.environ | _ONE_ARITHMETIC,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    answer: dict[str, str] = json.loads(done.stdout)
    return answer


def digest(*values: Any) -> str:
    """Of numbers, strings, None, arrays and nests of them, bit for bit; -0 counts as 0."""
    import numpy as np

    sha = hashlib.sha256()

    def add(value: Any) -> None:
        if isinstance(value, list | tuple):
            sha.update(f"[{len(value)}]".encode())
            for item in value:
                add(item)
        elif value is None or isinstance(value, str | bool | np.bool_):
            sha.update(
                repr(value if value is None or isinstance(value, str) else bool(value)).encode()
            )
        else:
            array = np.asarray(value)
            kind = "<f8" if array.dtype.kind == "f" else "<i8"
            plain = array.astype(kind) + 0
            if kind == "<f8":
                plain = np.where(np.isnan(plain), np.nan, plain)
            sha.update(f"{kind}{plain.shape}".encode())
            sha.update(plain.tobytes())

    add(values)
    return sha.hexdigest()[:20]


def _all() -> dict[str, str]:
    from tests.golden import known

    parts: list[Iterator[tuple[str, tuple[Any, ...]]]] = [
        known.learners(),
        known.allocations(),
        known.designs(),
        known.theory(),
        known.study(),
        known.replications(),
    ]
    return {name: digest(*values) for part in parts for name, values in part}


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        GOLDEN.write_text(json.dumps(hashes(), indent=1) + "\n", encoding="utf-8")
    else:
        sys.stdout.write(json.dumps(_all()))

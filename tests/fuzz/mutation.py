"""Damage to a right input: a pure function of the input and a seed."""

from __future__ import annotations

import numpy as np

_TOKENS = [
    b"\x00", b"\xff" * 4, b"-1", b"1e999", b"NaN", b"null", b"true", b'"', b"[", b"{", b"}", b",",
    b"\n", b"9" * 30, b"2000000000", b"\xed\xa0\x80", "\u0665".encode(), b"1_0", b"$array", b"=",
    b"\x1b[2J", b"[" * 2000, b'"<f8"', b'"|O"', b"-", b".", b"\x7f\xff\xff\xff",
]  # fmt: skip


def mutated(data: bytes, seed: int) -> bytes:
    """The input with one to four pieces changed, cut, doubled, moved or replaced."""
    rng = np.random.default_rng(seed)
    found = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(len(found) + 1))
        size = int(rng.integers(1, 9))
        match int(rng.integers(6)):
            case 0 if at < len(found):
                found[at] ^= 1 << int(rng.integers(8))
            case 1:
                del found[at : at + size]
            case 2:
                found[at:at] = _TOKENS[int(rng.integers(len(_TOKENS)))]
            case 3:
                found[at : at + size] = _TOKENS[int(rng.integers(len(_TOKENS)))]
            case 4:
                other = int(rng.integers(len(found) + 1))
                found[at:at] = found[other : other + 40]
            case _:
                found[at : at + size] = rng.bytes(size)
    return bytes(found)

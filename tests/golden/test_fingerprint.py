"""Nothing that is computed has changed, to the last bit."""

from __future__ import annotations

import json

import numpy as np
from tests.golden.fingerprint import GOLDEN, digest, hashes


def test_nothing_has_changed() -> None:
    expected = json.loads(GOLDEN.read_text(encoding="utf-8"))
    found = hashes()
    assert found.keys() == expected.keys()
    changed = [name for name in expected if found[name] != expected[name]]
    assert not changed, f"{len(changed)} of {len(expected)} changed, first: {changed[:8]}"


def test_one_bit_is_noticed() -> None:
    value = np.array([1.0, np.nan])
    other = np.array([np.nextafter(1.0, 2.0), np.nan])
    assert digest(value) == digest(value.copy()) != digest(other)
    assert digest((1, 2)) != digest(((1,), 2))

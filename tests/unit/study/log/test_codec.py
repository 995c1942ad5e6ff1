"""Numbers survive storing, bit for bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from edgewise.errors import InvalidArgument, StorageError
from edgewise.study.log.codec import pack, pack_line, unpack, unpack_line

FLOATS = st.floats().map(lambda x: math.nan if math.isnan(x) else x)  # NaN has one sign here
LABELS: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | st.text(),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=5,
)
SHAPES = hnp.array_shapes(max_dims=3, min_side=0)
ARRAYS = (
    hnp.arrays(
        np.float64,
        hnp.array_shapes(max_dims=3, min_side=0),
        elements=FLOATS.filter(lambda x: not math.isinf(x)),
    )
    | hnp.arrays(np.int64, SHAPES)
    | hnp.arrays(np.bool_, 5)
)
TREES = st.dictionaries(st.text("abc", min_size=1), LABELS | ARRAYS | st.lists(LABELS, max_size=3))


def same(first: Any, second: Any) -> bool:
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in first)
    if isinstance(first, list | tuple):
        return (
            type(first) is type(second)
            and len(first) == len(second)
            and all(map(same, first, second))
        )
    if isinstance(first, np.ndarray):  # integers may come back in a smaller type
        if first.dtype.kind != "f":
            return np.array_equal(first, second)
        signs = np.array_equal(np.signbit(first), np.signbit(second))
        return signs and np.array_equal(first, second, equal_nan=True)
    if isinstance(first, float):
        equal = first == second or (math.isnan(first) and math.isnan(second))
        return equal and math.copysign(1, first) == math.copysign(1, second)
    return type(first) is type(second) and bool(first == second)


@given(TREES)
def test_trees_survive_bytes_and_json(tree: dict[str, Any]) -> None:
    assert same(unpack(pack(tree)), tree)
    assert same(unpack_line(pack_line(tree)), tree)


def test_the_comparison_above_can_fail() -> None:
    assert not same(unpack(pack({"x": 0.0})), {"x": -0.0})
    assert not same(unpack(pack({"x": np.array([1.0])})), {"x": np.array([1.0 + 2**-52])})


def test_a_round_of_rewards_is_one_compact_blob() -> None:
    rewards = np.random.default_rng(0).standard_normal(10_000)
    arms = np.random.default_rng(1).integers(200, size=5_000)
    size = len(pack({"values": rewards, "arms": arms}))
    assert size < 8 * 10_000 + 5_000 + 200


def test_a_flipped_bit_is_noticed() -> None:
    data = bytearray(pack({"values": np.arange(100.0)}))
    for position in range(0, len(data), 7):
        data[position] ^= 4
        with pytest.raises(StorageError, match="damaged"):
            unpack(bytes(data))
        data[position] ^= 4
    assert same(unpack(bytes(data)), {"values": np.arange(100.0)})
    with pytest.raises(StorageError, match="damaged"):
        unpack(b"")


def test_strange_labels_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="frozenset, which cannot be stored"):
        pack({"labels": (frozenset({1}),)})

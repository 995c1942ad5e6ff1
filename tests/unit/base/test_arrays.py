import numpy as np
import pytest

from edgewise.base.arrays import as_floats, frozen
from edgewise.errors import InvalidGraph


def test_numbers_are_read_in_rows() -> None:
    turned = as_floats("arms", np.asfortranarray(np.ones((2, 3), int)), InvalidGraph, "")
    assert turned.flags.c_contiguous
    assert turned.dtype == float


@pytest.mark.parametrize("values", ["many", [[1.0], [1.0, 2.0]], [1j]])
def test_what_is_not_numbers_is_said_by_name_with_a_remedy(values: object) -> None:
    with pytest.raises(InvalidGraph, match=r"^weights cannot be read as numbers \(.*\); count"):
        as_floats("weights", values, InvalidGraph, "count them")  # type: ignore[arg-type]


def test_frozen_arrays_cannot_be_changed_through_the_original() -> None:
    mine = np.arange(3.0)
    kept = frozen(mine, float)
    mine[0] = 7.0
    assert kept[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 1.0
    assert frozen(kept, float) is kept
    assert frozen(kept[:2], float).base is None

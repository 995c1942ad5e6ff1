"""What an argument may be, and what is said when it is not."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from edgewise.base import checks
from edgewise.errors import InvalidArgument, InvalidGraph

WRONG: list[Any] = [
    None,
    "5",
    "1_0",
    b"5",
    True,
    np.True_,
    math.nan,
    math.inf,
    1j,
    [1],
    np.array([1.0]),
    np.array("5"),
    object(),
]


@pytest.mark.parametrize("value", [*WRONG, 2.5, -1, 2**65])
def test_what_is_no_count(value: Any) -> None:
    with pytest.raises(
        InvalidArgument, match=r"^rounds is .*; it must be a whole number"
    ) as caught:
        checks.whole("rounds", value, least=0, most=2**64)
    assert caught.value.argument == "rounds"


@pytest.mark.parametrize("value", [7, 7.0, np.int8(7), np.float32(7), Fraction(14, 2), np.array(7)])
def test_what_is_a_count(value: Any) -> None:
    found = checks.whole("rounds", value, least=7, most=7)
    assert (found, type(found)) == (7, int)


@pytest.mark.parametrize("value", [*WRONG, 10**400])
def test_what_is_no_number(value: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^speed is .*; it must be a finite number"):
        checks.number("speed", value)
    with pytest.raises(InvalidArgument, match=r"^chance is .*, e\.g\. 0\.05") as caught:
        checks.probability("chance", value, "the chance of rain")
    assert caught.value.argument == "chance"


def test_a_number_too_long_to_be_printed_is_refused_in_words() -> None:
    with pytest.raises(InvalidArgument, match="rounds is a value of the class int; it must"):
        checks.whole("rounds", 10**5000, most=9)


def test_ranges_of_numbers() -> None:
    assert checks.number("speed", Fraction(1, 2), above=0.0, most=0.5) == 0.5
    for value, limits in ((0.0, {"above": 0.0}), (1.0, {"most": 0.5}), (-1.0, {"least": 0})):
        with pytest.raises(InvalidArgument, match=r"finite number (above|of)"):
            checks.number("speed", value, **limits)
    for value in (0.0, 1.0, -0.1):
        with pytest.raises(InvalidArgument, match="strictly between 0 and 1"):
            checks.probability("delta", value, "the chance of rain")


def test_the_others() -> None:
    assert checks.flag("open", np.False_) is False
    assert checks.one_of("rule", "union", ("union", "paper")) == "union"
    with pytest.raises(InvalidArgument, match="did you mean 'union'"):
        checks.one_of("rule", "unoin", ("union", "paper"))
    for check in (checks.flag, checks.text, checks.table):
        with pytest.raises(InvalidGraph, match=r"^it is 1;"):
            check("it", 1, error=InvalidGraph)
    with pytest.raises(InvalidArgument, match="it must be a function: it is called with arms"):
        checks.function("environment", 3, "it is called with arms")
    with pytest.raises(InvalidArgument, match="graph is an int; build one"):
        checks.instance("graph", 3, dict, "build one")

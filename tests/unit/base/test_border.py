"""The border: arguments are checked, and a call that fits no signature is Python's to refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise.base.border import border


@border
def example(
    first: int, /, second: float = 1.0, *more: Any, flag: bool = False, **rest: Any
) -> tuple[Any, ...]:
    """Every kind of parameter."""
    return first, second, more, flag, rest


def test_every_kind_of_parameter_is_passed_on() -> None:
    three: Any = np.int8(3)
    thousand: Any = 1e3
    assert example(three) == (3, 1.0, (), False, {})
    assert example(thousand, 2, "x", None, flag=True, other=b"y") == (
        1000, 2, ("x", None), True, {"other": b"y"},
    )  # fmt: skip
    assert example(1, second=5) == (1, 5, (), False, {})


@pytest.mark.parametrize(
    ("arguments", "options", "named"),
    [((2.5,), {}, "first"), ((1, "x"), {}, "second"), ((1,), {"second": True}, "second"),
     ((1,), {"flag": 1}, "flag")],
)  # fmt: skip
def test_what_is_wrong_is_named(
    arguments: tuple[Any, ...], options: dict[str, Any], named: str
) -> None:
    with pytest.raises(ew.EdgewiseError) as error:
        example(*arguments, **options)
    assert error.value.argument == named


def test_what_fits_no_signature_is_refused_with_the_name_of_the_function() -> None:
    """As Python does it, whose words every user knows."""
    with pytest.raises(TypeError, match=r"Graph\.circle\(\) takes 1 positional argument"):
        ew.Graph.circle(20)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"Graph\.circle\(\) got an unexpected keyword .*'nodes'"):
        ew.Graph.circle(nodes=20)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"example\(\) missing 1 required positional"):
        example()  # type: ignore[call-arg]

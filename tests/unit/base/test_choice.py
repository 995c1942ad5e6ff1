import re
from typing import Any

import pytest

from edgewise.base.choice import pick
from edgewise.errors import InvalidArgument

RULES = {"union": 1, "mixture": 2}


def test_a_name_picks_what_it_stands_for() -> None:
    assert pick("rule", "mixture", RULES) == 2


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("unoin", "no rule is called 'unoin'; did you mean 'union'? choose one of 'mixture',"),
        ("magic", "no rule is called 'magic'; choose one of 'mixture', 'union', or pass your own"),
        (None, "no rule is called None; choose one of"),
        (["union"], "no rule is called ['union']; choose one of"),
    ],
)
def test_anything_else_is_answered_with_the_valid_names(choice: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=re.escape(message)):
        pick("rule", choice, RULES, own="your own")

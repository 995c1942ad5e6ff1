"""What is shown does no harm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgewise.base.wording import harmless, shown


@given(st.text(st.characters()))
def test_whatever_the_text_it_can_be_printed_and_encoded(text: str) -> None:
    said = harmless(text)
    said.encode("utf-8")
    assert not any(one < " " or one in "\x7f\u202e\u2066\u200f" for one in said)
    assert harmless(text, keep="\n").count("\n") == text.count("\n")


def test_ordinary_names_stay_as_they_are() -> None:
    for name in ("Ärger 7", "風車", "a b", "$5", "😀"):
        assert harmless(name) == name


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize("value", [Broken(), "x" * 1000, "a\nb"], ids=["broken", "long", "lines"])
def test_values_are_quoted_in_one_short_line(value: object) -> None:
    assert len(shown(value)) <= 80
    assert "\n" not in shown(value)

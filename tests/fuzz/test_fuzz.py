"""A small slice of ``make fuzz``: damaged inputs are read or refused, and nothing else happens."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.fuzz.mutation import mutated
from tests.fuzz.targets import CORPUS, TARGETS, attempt


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus_is_right(name: str) -> None:
    right = name not in {"study.toml"}  # it names files that are not there
    assert attempt(name, (CORPUS / name).read_bytes()) == ("read" if right else "refused")


@settings(max_examples=300)
@given(st.sampled_from(sorted(TARGETS)), st.integers(0, 2**32))
@example("graph.parquet", 2885)  # text that is no UTF-8 inside a file that opens
def test_damage_is_refused_in_words(name: str, seed: int) -> None:
    attempt(name, mutated((CORPUS / name).read_bytes(), seed))


@settings(max_examples=100)
@given(st.sampled_from(sorted(TARGETS)), st.binary(max_size=200))
def test_noise_is_refused_in_words(name: str, data: bytes) -> None:
    attempt(name, data)

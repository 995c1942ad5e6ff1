"""Errors carry fields: what a shell needs is never taken from the message."""

import pickle

import pytest

from edgewise.errors import Call, EdgewiseError, InvalidArgument, StorageError, UnknownStudy

PARTS = ("nothing is out; ", Call("ask"), " first, or ", Call("extend", "rounds"))


@pytest.mark.parametrize("kind", [EdgewiseError, InvalidArgument, StorageError, UnknownStudy])
def test_calls_are_named_by_whoever_speaks(kind: type[EdgewiseError]) -> None:
    error = kind(*PARTS)
    assert str(error) == "nothing is out; ask() first, or extend(rounds=...)"
    said = error.phrased(lambda call: f"[{call.method} {call.option}]")
    assert said == "nothing is out; [ask ] first, or [extend rounds]"


def test_fields_survive_a_process_boundary() -> None:
    error = pickle.loads(pickle.dumps(InvalidArgument(*PARTS, argument="delta")))
    assert (error.argument, error.parts) == ("delta", PARTS)
    lost = pickle.loads(pickle.dumps(UnknownStudy("no", name="a", names=["b"])))
    assert (str(lost), lost.name, lost.names) == ("no", "a", ("b",))

"""A study beside another: its measurements under another model or question, or as it is."""

from __future__ import annotations

from typing import cast

from edgewise.base.randomness import Rng
from edgewise.errors import InvalidArgument
from edgewise.study.log.decide import check_budget, check_name
from edgewise.study.log.session import Session
from edgewise.study.remodelling import Anew, Changes, Place, Question, refuse_unknown
from edgewise.study.storage.base import Storage, TidyStorage, is_tidy
from edgewise.study.storage.opening import open_storage


def told_again(old: Session, name: str, storage: Place, changes: Changes, rng: Rng) -> Session:
    """A study with other options that has all rounds of the old one."""
    check_name(name)
    check_budget(changes.get("max_rounds"))
    with old.reading() as (journal, cursor):
        anew = Anew.of(old.name, cursor, changes, rng)
        place = _place(old, storage)
        with place.creating(name) as log:
            after = anew.replay(journal, log)
    return Session(name, place, after)


def copied(old: Session, name: str, storage: Place, changes: Question, rng: Rng) -> Session:
    """The same with another question; entry by entry, if nothing is to change."""
    refuse_unknown(changes, Question)
    if changes or rng is not None:
        return told_again(old, name, storage, cast(Changes, changes), rng)
    check_name(name)
    with old.reading() as (journal, cursor):
        place = _place(old, storage)
        with place.creating(name) as log:
            for entry in journal.read(0):
                log.append(entry)
            cursor.keep_snapshot(log)
    return Session(name, place, cursor)


def _place(old: Session, storage: Place) -> Storage:
    return old.storage if storage is None else open_storage(storage, create=True)


def tidy(storage: Storage) -> TidyStorage:
    """The storage, if its studies can be renamed and deleted."""
    if not is_tidy(storage):
        raise InvalidArgument(
            f"{storage!r} does not rename or delete studies (it has no methods rename and delete); "
            "export the study, and import it where it is to be"
        )
    return storage

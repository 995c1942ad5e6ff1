"""Rounds: ask, tell, close, cancel, correct."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import Response

from edgewise.errors import UnknownTicket
from edgewise.formats.channels import channel_columns, channel_names
from edgewise.formats.output import Output
from edgewise.service import uploads, verbs
from edgewise.service.desk import Desk
from edgewise.service.names import StudyName
from edgewise.service.problems import Refusal, refusal_of
from edgewise.service.rest.answers import Body, Format, Wanted, answer, documented
from edgewise.service.rest.requests import MEASUREMENTS
from edgewise.service.rest.schemas import Measured, Status, Ticket
from edgewise.service.security.identity import Studies, writes
from edgewise.study.views.outputs import status_output, ticket_output

router = APIRouter(tags=["rounds"], prefix="/studies/{study}")

Key = Annotated[
    str,
    Path(
        alias="round", max_length=40, description="The round's key: 7, or 7.2 after a cancellation."
    ),
]
_STATUS, _WRITES = documented(Status), [Depends(writes)]


def status(desk: Desk, name: str, wanted: Format) -> Response:
    """Where a study stands after a request."""
    view = desk.view(name)
    return answer(status_output(view.status, desk.study(name).problem), wanted)


@router.post("/ask", responses=documented(Ticket), dependencies=_WRITES)
def ask(desk: Studies, name: StudyName, wanted: Wanted) -> Response:
    """The round to deploy: the one that is out, or else the next. Asking twice gives the same."""
    return answer(ticket_output(verbs.ask(desk.study(name))), wanted)


@router.get("/rounds/{round}", responses=documented(Ticket))
def ticket(desk: Studies, name: StudyName, key: Key, wanted: Wanted) -> Response:
    """A round that is out or closed: the arm of every node."""
    with _not_found():
        return answer(ticket_output(verbs.ticket(desk.study(name), key)), wanted)


@router.get("/rounds/{round}/rewards", responses=documented(Measured))
def rewards(desk: Studies, name: StudyName, key: Key, wanted: Wanted) -> Response:
    """What is on record of a round."""
    with _not_found():
        return answer(rewards_output(desk, name, key), wanted)


@router.post(
    "/rounds/{round}/tell", responses=_STATUS, openapi_extra=MEASUREMENTS, dependencies=_WRITES
)
def tell(
    desk: Studies,
    name: StudyName,
    key: Key,
    body: Body,
    wanted: Wanted,
    accept_outliers: Annotated[bool, Query(description="Record unlikely values too.")] = False,
    total: Annotated[
        float | None, Query(description="Instead of a body: the figure of a round of a trial.")
    ] = None,
) -> Response:
    """Record measurements; more may follow. Telling the same again is harmless."""
    study = desk.study(name)
    if total is not None:
        verbs.tell_total(study, key, total)
    else:
        read = uploads.measurements("request", body, study.problem)
        verbs.tell(study, key, read, accept_outliers=accept_outliers)
    return status(desk, name, wanted)


@router.post(
    "/rounds/{round}/correct", responses=_STATUS, openapi_extra=MEASUREMENTS, dependencies=_WRITES
)
def correct(desk: Studies, name: StudyName, key: Key, body: Body, wanted: Wanted) -> Response:
    """Replace measurements that were wrong, or add late ones; the old stay in the log."""
    study = desk.study(name)
    read = uploads.measurements("request", body, study.problem)
    verbs.correct(study, key, read)
    return status(desk, name, wanted)


@router.post("/rounds/{round}/close", responses=_STATUS, dependencies=_WRITES)
def close(desk: Studies, name: StudyName, key: Key, wanted: Wanted) -> Response:
    """Close a round with what has arrived; the rest counts as missing."""
    desk.study(name).close(key)
    return status(desk, name, wanted)


@router.post("/rounds/{round}/cancel", responses=_STATUS, dependencies=_WRITES)
def cancel(desk: Studies, name: StudyName, key: Key, wanted: Wanted) -> Response:
    """Forget a round that is out; ask hands its arms out again, under a new key.

    Of a trial, the pair that is out is begun again.
    """
    verbs.cancel(desk.study(name), key)
    return status(desk, name, wanted)


def rewards_output(desk: Desk, name: str, key: str) -> Output:
    """The measurements of a round, in the columns that tell reads."""
    study = desk.study(name)
    found, values = study.ticket(key), study.rewards(key)
    columns = channel_columns(study.problem)
    rows = [
        (found.key, *(one if isinstance(one, tuple) else (one,) * len(columns)), _known(value))
        for one, value in zip(channel_names(study.problem), values.tolist(), strict=True)
    ]
    facts = {"study": name, "round": found.key, "missing": found.missing}
    return Output(facts, "rewards", ("round", *columns, "reward"), rows)


def _known(value: float) -> float | None:
    return value if value == value else None  # NaN differs from itself


class _not_found:  # noqa: N801
    """A round that does not exist is not found, where nothing is to be changed."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, UnknownTicket):
            raise Refusal(404, refusal_of(error).detail, kind="unknown-ticket") from error

"""Errors as problem+json (RFC 9457): the same fact, rule and remedy as everywhere."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, TypeAlias

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from edgewise.errors import (
    Call,
    EdgewiseError,
    LearnerStopped,
    StorageError,
    StudyExists,
    StudyReplaced,
    UnknownStudy,
    UnknownTicket,
)

MEDIA_TYPE = "application/problem+json"
_LOG = logging.getLogger("edgewise.service")

_STATUS: tuple[tuple[type[EdgewiseError], int], ...] = (
    (UnknownStudy, 404),
    (UnknownTicket, 409),
    (StudyExists, 409),
    (LearnerStopped, 409),
    (StudyReplaced, 409),
    (StorageError, 503),
    (EdgewiseError, 422),
)


Responder: TypeAlias = Callable[[Request, "Refusal"], Response]
"""Makes of a refusal a response: a problem for programs, a page for people."""


class Refusal(Exception):
    """A request that is not answered, and why."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        kind: str = "",
        headers: Mapping[str, str] | None = None,
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.kind = kind or HTTPStatus(status).phrase.lower().replace(" ", "-")
        self.headers = dict(headers or {})
        self.fields = dict(fields or {})


def refusal_of(error: EdgewiseError) -> Refusal:
    """An error of the library as a refusal; what it says of the storage stays in this process."""
    kind = "".join(f"-{c.lower()}" if c.isupper() else c for c in type(error).__name__).lstrip("-")
    status = next(code for known, code in _STATUS if isinstance(error, known))
    return Refusal(status, _detail(error), kind=kind)


def _detail(error: EdgewiseError) -> str:
    if isinstance(error, UnknownStudy):
        return f"no study is called {error.name!r}; GET /api/v1/studies lists those there are"
    if isinstance(error, StudyExists):
        return "there is a study of that name already; use it, or choose another name"
    if isinstance(error, StudyReplaced):
        return (
            "the study was created anew, or put back to an earlier state, since this server read "
            "it; nothing was recorded: look at it again, then repeat"
        )
    if isinstance(error, StorageError):
        _LOG.error("storage: %s", error)
        return (
            "the storage cannot be used at the moment, and nothing was acknowledged; the log of "
            "the server says why: repeat when it is mended"
        )
    return error.phrased(_in_requests)


_IN_TRIALS = {
    "trial.ask": "POST .../ask",
    "trial.tell": "POST .../tell",
    "trial.end": "POST .../trial/end",
}
"""What the methods of a trial are as requests."""


def _in_requests(call: Call) -> str:
    if call.method == "tell" and call.option:
        return f"POST .../tell?{call.option}=true"
    if call.method.startswith("trial."):
        return _IN_TRIALS[call.method]
    option = f' with {{"{call.option}": ...}}' if call.option else ""
    verb = {"recommend": "GET .../recommendation", "report": "GET .../report"}.get(call.method)
    return f"{verb or f'POST .../{call.method}'}{option}"


def problem_response(refusal: Refusal) -> Response:
    """A refusal as a response."""
    body = {
        "type": f"urn:edgewise:problem:{refusal.kind}",
        "title": HTTPStatus(refusal.status).phrase,
        "status": refusal.status,
        "detail": refusal.detail,
        **refusal.fields,
    }
    return JSONResponse(body, refusal.status, refusal.headers, MEDIA_TYPE)


def register(app: FastAPI, respond: Responder) -> None:
    """Answer every error of an app as a refusal."""

    @app.exception_handler(Refusal)
    def refused(request: Request, error: Refusal) -> Response:
        return respond(request, error)

    @app.exception_handler(EdgewiseError)
    def wrong(request: Request, error: EdgewiseError) -> Response:
        return respond(request, refusal_of(error))

    @app.exception_handler(HTTPException)
    def http(request: Request, error: HTTPException) -> Response:
        said = {404: "there is nothing at this address; start at / or /api/v1/openapi.json"}
        detail = said.get(error.status_code, str(error.detail))
        return respond(request, Refusal(error.status_code, detail, headers=error.headers))

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:
        faults = [
            {"where": ".".join(map(str, fault["loc"])), "fact": fault["msg"]}
            for fault in error.errors()
        ]
        said = "; ".join(f"{fault['where']}: {fault['fact']}" for fault in faults[:3])
        detail = f"{said}; nothing was changed: see /api/v1/openapi.json"
        return respond(request, Refusal(422, detail, fields={"faults": faults[:20]}))


def mistake(scope: Scope, error: Exception) -> Refusal:
    """A mistake of ours: the log gets the particulars, the client learns that it happened."""
    _LOG.error("%s %s failed", scope["method"], scope["path"], exc_info=error)
    return Refusal(
        500, "the server made a mistake; its log has the particulars: please report them"
    )

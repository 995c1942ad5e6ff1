"""Live updates: server-sent events."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from edgewise.service.names import StudyName
from edgewise.service.security.identity import Studies
from edgewise.service.watch import Watch

router = APIRouter(tags=["live"])

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
}
After = Annotated[
    int | None, Query(ge=0, le=2**53, description="What is known already: no event about that.")
]
Last = Annotated[int | None, Header(alias="Last-Event-ID", ge=0, le=2**53)]
_HEADERS = {"X-Accel-Buffering": "no"}  # a reverse proxy must not collect them


@router.get("/studies/{study}/events", response_class=StreamingResponse, responses=_STREAM)
async def events(
    request: Request, desk: Studies, name: StudyName, after: After = None, last: Last = None
) -> StreamingResponse:
    """An event ``change`` whenever something is recorded; its data is the length of the log."""
    await run_in_threadpool(desk.position, name)  # an unknown study is an error, not a silence
    return _stream(request, name, last or after)


@router.get("/events", response_class=StreamingResponse, responses=_STREAM)
async def all_events(request: Request, after: After = None, last: Last = None) -> StreamingResponse:
    """An event ``change`` whenever something is recorded in any study; its data counts events."""
    return _stream(request, None, last or after)


def _stream(request: Request, name: str | None, after: int | None) -> StreamingResponse:
    watch: Watch = request.app.state.watch
    stream = watch.stream(name, after)
    return StreamingResponse(stream, media_type="text/event-stream", headers=_HEADERS)

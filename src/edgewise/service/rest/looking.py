"""Looking at a study: status, recommendation, report, history, log, export."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response, StreamingResponse

from edgewise.formats.output import Output
from edgewise.service.names import StudyName, slug
from edgewise.service.rest.answers import Wanted, answer, documented
from edgewise.service.rest.rounds import status as status_response
from edgewise.service.rest.schemas import HistoryBody, LogBody, Recommended, ReportBody, Status
from edgewise.service.security.identity import Studies
from edgewise.study.views.outputs import recommendation_output, report_output

router = APIRouter(tags=["looking"], prefix="/studies/{study}")

_CHUNK = 2**18


@router.get("", responses=documented(Status))
def status(desk: Studies, name: StudyName, wanted: Wanted) -> Response:
    """Where the study stands; as CSV, the measurements that are missing."""
    return status_response(desk, name, wanted)


@router.get("/recommendation", responses=documented(Recommended))
def recommendation(desk: Studies, name: StudyName, wanted: Wanted) -> Response:
    """The best configuration by what is known, and what is proved about it."""
    return answer(recommendation_output(desk.view(name).recommendation), wanted)


@router.get("/report", responses=documented(ReportBody))
def report(desk: Studies, name: StudyName, wanted: Wanted) -> Response:
    """The answer, its guarantee, and what it rests on."""
    view = desk.view(name)
    return answer(report_output(name, view.report, view.moment.remodelled_from), wanted)


@router.get("/history", responses=documented(HistoryBody))
def history(desk: Studies, name: StudyName, wanted: Wanted) -> Response:
    """Totals and progress of every round."""
    found = desk.view(name).moment.history()
    rows = [
        (number, total if total == total else None, progress)
        for number, (total, progress) in enumerate(
            zip(found.totals.tolist(), found.progress.tolist(), strict=True), start=1
        )
    ]
    facts = {"study": name, "phase_ends": list(found.phase_ends)}
    return answer(Output(facts, "rounds", ("round", "total", "progress"), rows), wanted)


@router.get("/log", responses=documented(LogBody))
def log(
    desk: Studies,
    name: StudyName,
    wanted: Wanted,
    last: Annotated[int, Query(ge=1, le=1000, description="So many events, the latest.")] = 100,
    before: Annotated[
        int | None, Query(ge=1, le=2**53, description="Those before this event's number.")
    ] = None,
) -> Response:
    """What happened, in words, oldest first."""
    found = desk.excerpt(name, last=last, before=before)
    rows = [(place, deed.when, deed.text) for place, deed in enumerate(found.deeds, found.first)]
    facts = {"study": name, "events": found.total}
    return answer(Output(facts, "log", ("event", "when", "what"), rows), wanted)


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/jsonl": {"schema": {"type": "string"}}}}},
)
def export(desk: Studies, name: StudyName) -> StreamingResponse:
    """The whole study as JSON Lines, one event a line: import takes it back."""
    study = desk.study(name)
    folder = tempfile.TemporaryDirectory(prefix="edgewise-")
    file = Path(folder.name) / "export.jsonl"
    study.export(file)  # complete before the first byte is sent: an error is still an error

    def parts() -> Iterator[bytes]:
        with folder, file.open("rb") as stream:
            while part := stream.read(_CHUNK):
                yield part

    attachment = f'attachment; filename="{slug(name)[:100]}.jsonl"'
    return StreamingResponse(
        parts(), media_type="application/jsonl", headers={"Content-Disposition": attachment}
    )

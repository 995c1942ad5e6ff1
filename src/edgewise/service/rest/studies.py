"""Studies: list, create, import."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from edgewise.service import uploads
from edgewise.service.desk import Desk
from edgewise.service.listing import list_output
from edgewise.service.names import slug
from edgewise.service.rest.answers import Body, Format, Wanted, answer, documented
from edgewise.service.rest.requests import DESCRIPTION, EXPORT
from edgewise.service.rest.schemas import Status, StudyList
from edgewise.service.security.identity import Studies, writes
from edgewise.study import Study
from edgewise.study.views.outputs import status_output

router = APIRouter(tags=["studies"])

_Name = Annotated[str | None, Query(max_length=255, description="Instead of its own name.")]
_CREATED = documented(Status, code=201)


@router.get("/studies", responses=documented(StudyList))
def list_studies(desk: Studies, wanted: Wanted) -> Response:
    """The studies of the server, and the state of each."""
    return answer(list_output(desk), wanted)


@router.post(
    "/studies",
    status_code=201,
    responses=_CREATED,
    openapi_extra=DESCRIPTION,
    dependencies=[Depends(writes)],
)
def create(request: Request, desk: Studies, body: Body, name: _Name = None) -> Response:
    """Set up a study from JSON or TOML."""
    is_toml = "toml" in request.headers.get("content-type", "")
    document = (
        uploads.toml_document("request", body, {}) if is_toml else uploads.json_document(body)
    )
    return created(desk, uploads.create(desk, name, document))


@router.post(
    "/studies/import",
    status_code=201,
    responses=_CREATED,
    openapi_extra=EXPORT,
    dependencies=[Depends(writes)],
)
def import_study(desk: Studies, body: Body, name: _Name = None) -> Response:
    """Add an exported study: all of it, or nothing."""
    return created(desk, uploads.import_study(desk, body, name))


def created(desk: Desk, study: Study) -> Response:
    """Where a new study stands, and is."""
    view = desk.view(study.name)
    response = answer(status_output(view.status, study.problem), Format.JSON, 201)
    response.headers["Location"] = f"/api/v1/studies/{slug(study.name)}"
    return response

"""Bring what there is, and keep order: add, copy, rename, delete."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from edgewise.formats.output import Output
from edgewise.service import uploads, verbs
from edgewise.service.names import StudyName, slug
from edgewise.service.rest.answers import Format, Wanted, answer, documented
from edgewise.service.rest.requests import Adding, Copying, Renaming
from edgewise.service.rest.rounds import status
from edgewise.service.rest.schemas import Deleted, Status
from edgewise.service.rest.studies import created
from edgewise.service.security.identity import Studies, writes

router = APIRouter(tags=["studies"], prefix="/studies/{study}", dependencies=[Depends(writes)])


@router.post("/add", responses=documented(Status))
def add(desk: Studies, name: StudyName, wanted: Wanted, given: Adding) -> Response:
    """Put rounds on record that were deployed before the study, or outside of it.

    Adding the same rounds of the same source again changes nothing.
    """
    rounds = [one.model_dump() for one in given.rounds]
    verbs.add(desk.study(name), rounds, given.source, given.accept_outliers)
    return status(desk, name, wanted)


@router.post("/copy", status_code=201, responses=documented(Status, code=201))
def copy(desk: Studies, name: StudyName, new: Copying) -> Response:
    """Make a study that asks something else of the same measurements; this one stays.

    Without changes it is the same study under another name, trials included.
    """
    changes: Any = uploads.as_keywords(new.model_dump(exclude={"name"}))
    return created(desk, desk.study(name).copy(new.name, **changes))


@router.post("/rename", responses=documented(Status))
def rename(desk: Studies, name: StudyName, new: Renaming) -> Response:
    """Call the study something else; under the old name there is none from now on."""
    desk.rename(name, new.name)
    response = status(desk, new.name, Format.JSON)
    response.headers["Location"] = f"/api/v1/studies/{slug(new.name)}"
    return response


@router.delete("", responses=documented(Deleted))
def delete(desk: Studies, name: StudyName, wanted: Wanted) -> Response:
    """Delete the study with its log, for good; export it first if in doubt."""
    rounds = desk.delete(name)
    return answer(Output({"deleted": name, "rounds": rounds}, "studies", (), ()), wanted)

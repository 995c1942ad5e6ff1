"""Going on after the stop, and modelling anew."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from edgewise.errors import InvalidArgument
from edgewise.service import uploads
from edgewise.service.names import StudyName
from edgewise.service.rest.answers import Wanted, documented
from edgewise.service.rest.requests import Extension, Remodelling
from edgewise.service.rest.rounds import status
from edgewise.service.rest.schemas import Status
from edgewise.service.rest.studies import created
from edgewise.service.security.identity import Studies, writes

router = APIRouter(tags=["studies"], prefix="/studies/{study}", dependencies=[Depends(writes)])


@router.post("/extend", responses=documented(Status))
def extend(desk: Studies, name: StudyName, wanted: Wanted, more: Extension) -> Response:
    """Go on after the stop: so many rounds, or another confidence."""
    desk.study(name).extend(rounds=more.rounds, delta=more.delta, epsilon=more.epsilon)
    return status(desk, name, wanted)


@router.post("/remodel", status_code=201, responses=documented(Status, code=201))
def remodel(desk: Studies, name: StudyName, anew: Remodelling) -> Response:
    """Make a study that reads the same measurements under another model; this one stays."""
    changes: Any = uploads.as_keywords(anew.model_dump(exclude={"name"}))
    if not changes:
        raise InvalidArgument(
            "what is to change? Give an option, such as levels", argument="levels"
        )
    return created(desk, desk.study(name).remodel(anew.name, **changes))

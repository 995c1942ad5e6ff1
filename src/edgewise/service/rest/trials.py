"""Trials: is the recommended configuration better than today's, by measurement alone?"""

from __future__ import annotations

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from edgewise.errors import UnknownTicket
from edgewise.service import verbs
from edgewise.service.desk import Desk
from edgewise.service.names import StudyName
from edgewise.service.problems import Refusal
from edgewise.service.rest.answers import Format, Wanted, answer, documented
from edgewise.service.rest.requests import Confirming
from edgewise.service.rest.schemas import TrialBody
from edgewise.service.security.identity import Studies, writes
from edgewise.study.views.outputs import trial_output

router = APIRouter(tags=["trials"], prefix="/studies/{study}")

_TRIAL = documented(TrialBody)


@router.post(
    "/confirm",
    status_code=201,
    responses=documented(TrialBody, code=201),
    dependencies=[Depends(writes)],
)
def confirm(desk: Studies, name: StudyName, wanted: Wanted, about: Confirming) -> Response:
    """Begin a trial; until it is over, ask and tell are about its rounds."""
    study = desk.study(name)
    study.confirm(
        baseline=verbs.joint_arm(study.problem, about.baseline),
        candidates=("recommended", "best common", "best seen") if about.tournament else None,
        delta=about.delta,
        margin=about.margin,
        width=about.width,
        max_pairs=about.max_pairs,
        rng=about.seed,
    )
    return _trial(desk, name, wanted, 201)


@router.get("/trial", responses=_TRIAL)
def trial(desk: Studies, name: StudyName, wanted: Wanted) -> Response:
    """The trial begun last: differences and intervals, pair by pair valid at all times."""
    try:
        return _trial(desk, name, wanted)
    except UnknownTicket as error:
        raise Refusal(404, str(error), kind="unknown-trial") from error


@router.post("/trial/end", responses=_TRIAL, dependencies=[Depends(writes)])
def end(desk: Studies, name: StudyName, wanted: Wanted) -> Response:
    """Take no further pair; what was measured stays, and the interval holds."""
    verbs.the_trial(desk.study(name)).end()
    return _trial(desk, name, wanted)


def _trial(desk: Desk, name: str, wanted: Format, status: int = 200) -> Response:
    return answer(trial_output(verbs.the_trial(desk.study(name)).report()), wanted, status)

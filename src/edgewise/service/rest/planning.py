"""What if, why, and how long: predict, explain, pairs of a trial. Nothing is recorded."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from edgewise.service import verbs
from edgewise.service.names import StudyName
from edgewise.service.rest.answers import Wanted, answer, documented
from edgewise.service.rest.requests import Planning, Predicting
from edgewise.service.rest.schemas import Explained, PairsBody, Predicted
from edgewise.service.security.identity import Studies
from edgewise.study.views.outputs import explanation_output, plan_output, prediction_output

router = APIRouter(tags=["planning"], prefix="/studies/{study}")


@router.post("/predict", responses=documented(Predicted))
def predict(desk: Studies, name: StudyName, wanted: Wanted, about: Predicting) -> Response:
    """What a configuration is expected to bring, with a 95 % interval for planning."""
    study = desk.study(name)
    arms = verbs.joint_arm(study.problem, about.arms, "configuration")
    against = (
        None
        if about.against is None
        else verbs.joint_arm(study.problem, about.against, "configuration to compare with")
    )
    return answer(prediction_output(study.predict(arms, against=against)), wanted)


@router.get("/explain", responses=documented(Explained))
def explain(
    desk: Studies,
    name: StudyName,
    wanted: Wanted,
    node: Annotated[str, Query(max_length=1000, description="Its name.")],
) -> Response:
    """What changes if a node takes another arm than recommended, and which links decide."""
    return answer(explanation_output(verbs.explain(desk.study(name), node)), wanted)


@router.post("/pairs-needed", responses=documented(PairsBody))
def pairs_needed(desk: Studies, name: StudyName, wanted: Wanted, about: Planning) -> Response:
    """How many pairs confirm may be expected to take."""
    study = desk.study(name)
    baseline = verbs.joint_arm(study.problem, about.baseline)
    found = study.pairs_needed(baseline=baseline, difference=about.difference, delta=about.delta)
    return answer(plan_output(found), wanted)

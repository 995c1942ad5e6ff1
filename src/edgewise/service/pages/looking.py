"""The list of studies, and the page of one."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, Response

from edgewise.formats.channels import channel_names
from edgewise.service.desk import Desk
from edgewise.service.listing import line_of
from edgewise.service.names import StudyName, slug
from edgewise.service.pages.rendering import render
from edgewise.service.security.identity import Studies, reads
from edgewise.study.views.outputs import recommendation_output
from edgewise.study.views.page import fit_in_words, noise_in_words
from edgewise.study.views.ticket import StudyTicket

router = APIRouter(dependencies=[Depends(reads)])

_EVENTS = 25
"""So many events are shown; the rest are a page away."""
_LACKING = 12
"""So many missing measurements are named."""
_NODES = 400
"""So many rows of a configuration are shown; the file has all."""

DONE = {
    "created": "The study is set up.",
    "imported": "The study is imported.",
    "asked": "The round is out: download its configuration, deploy it, upload what is measured.",
    "told": "The measurements are on record.",
    "closed": "The round is closed.",
    "cancelled": "The round is cancelled; asking hands out the same configuration again.",
    "corrected": "The correction is on record, and the evidence was judged anew.",
    "extended": "The study goes on.",
    "added": "The rounds are on record, as a phase of their own.",
    "copied": "This is the copy; the other study stays as it is.",
    "renamed": "The study has its new name.",
    "deleted": "The study is deleted.",
    "begun": "The trial has begun: its first round is out.",
    "ended": "The trial is over; what was measured stays.",
}
"""What a page says after a request that went well; an address can say nothing else."""


@router.get("/")
def listing(request: Request, desk: Studies, done: str = "") -> Response:
    """All studies."""
    lines = [line_of(desk, name) for name in desk.names()]
    position = sum(one.events for one in lines)
    return render(request, "listing.html", lines=lines, position=position, said=DONE.get(done, ""))


@router.get("/studies/{study}")
def study(request: Request, desk: Studies, name: StudyName, done: str = "") -> Response:
    """A study: where it stands, and what can be done next."""
    return study_page(request, desk, name, said=DONE.get(done, ""))


def study_page(
    request: Request, desk: Desk, name: str, *, said: str = "", wrong: str = "", code: int = 200
) -> HTMLResponse:
    """The page, with a word about what was just done, or was refused."""
    view = desk.view(name)
    problem = desk.study(name).problem
    noise = noise_in_words(problem, view.status.noise_estimate)
    return render(
        request,
        "study.html",
        code,
        line=line_of(desk, name),
        status=view.status,
        position=view.position,
        rounds=view.moment.rounds,
        trust=[(fit_in_words(view.status.lack_of_fit, view.status.untested), False), *noise],
        lacking=_lacking(view.status.pending),
        excerpt=desk.excerpt(name, last=_EVENTS),
        measured=problem.measured,
        arms=[str(label) for label in problem.arm_labels or range(problem.n_arms)],
        said=said,
        wrong=wrong,
    )


def _lacking(pending: StudyTicket | None) -> list[str]:
    if pending is None:
        return []
    names = channel_names(pending.problem, pending.unmeasured[:_LACKING])
    return [" → ".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in names]


@router.get("/studies/{study}/answer")
def answer(request: Request, desk: Studies, name: StudyName) -> Response:
    """The part of the page that may take its time: the recommendation and its alternatives."""
    view = desk.view(name)
    found: dict[str, Any] = {"recommendation": view.recommendation, "report": view.report}
    output = recommendation_output(view.recommendation)
    return render(
        request,
        "answer.html",
        **found,
        status=view.status,
        id=slug(name),
        rows=output.rows[:_NODES],
        total=len(output.rows),
    )


@router.get("/studies/{study}/log")
def log(request: Request, desk: Studies, name: StudyName, before: int | None = None) -> Response:
    """What happened, a page at a time."""
    chosen = None if before is None else max(1, min(before, 2**53))
    excerpt = desk.excerpt(name, last=200, before=chosen)
    return render(request, "log.html", name=name, excerpt=excerpt)

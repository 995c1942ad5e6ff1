"""What people do to a study: each button is a verb of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, File, Form, Request, UploadFile
from fastapi.responses import RedirectResponse, Response

from edgewise.errors import Call, EdgewiseError, InvalidArgument
from edgewise.service import uploads, verbs
from edgewise.service.desk import Desk
from edgewise.service.names import StudyName, slug
from edgewise.service.pages.looking import study_page
from edgewise.service.problems import refusal_of
from edgewise.service.security.identity import Studies, writes

router = APIRouter(prefix="/studies/{study}", dependencies=[Depends(writes)])

T = TypeVar("T")

_BUTTONS = {
    "ask": "“Ask for the next round”",
    "correct": "“Correct a round”",
    "extend": "“Go on”",
    "recommend": "the recommendation",
    "report": "the report",
    "confirm": "“Measure it”",
    "trial.ask": "the round that is out",
    "trial.tell": "“Upload”",
    "trial.end": "“End the trial”",
    "tell": "“Record unlikely values too”",
}

_Round = Annotated[str, Form(alias="round", max_length=40)]
_Upload = Annotated[UploadFile | None, File()]
_Pasted = Annotated[str, Form(max_length=2**22)]


def acted(
    request: Request,
    desk: Desk,
    name: str,
    done: str,
    act: Callable[[], object],
    *,
    onward: str = "",
) -> Response:
    """Do it and show the study, or another one; what is refused is said on the same page."""
    try:
        act()
    except EdgewiseError as error:
        refusal = refusal_of(error)
        said = error.phrased(_on_page) if refusal.status in (409, 422) else refusal.detail
        return study_page(request, desk, name, wrong=said, code=refusal.status)
    return RedirectResponse(f"/studies/{onward or slug(name)}?done={done}", 303)


def _on_page(call: Call) -> str:
    return _BUTTONS.get(call.method, f"“{call.method}”")


@router.post("/ask")
def ask(request: Request, desk: Studies, name: StudyName) -> Response:
    """Hand out the next round."""
    return acted(request, desk, name, "asked", lambda: verbs.ask(desk.study(name)))


@router.post("/tell")
def tell(
    request: Request,
    desk: Studies,
    name: StudyName,
    key: _Round,
    file: _Upload = None,
    pasted: _Pasted = "",
    unlikely: Annotated[bool, Form()] = False,
    total: Annotated[str, Form(max_length=40)] = "",
) -> Response:
    """Record an uploaded file of measurements, or the figure of a round of a trial."""
    figure = total.strip()
    if figure:
        return acted(request, desk, name, "told", lambda: _tell_total(desk, name, key, figure))
    sent = _Sent.of(file, pasted)
    return acted(request, desk, name, "told", lambda: sent.tell(desk, name, key, unlikely))


@router.post("/correct")
def correct(
    request: Request,
    desk: Studies,
    name: StudyName,
    key: _Round = "",
    file: _Upload = None,
    pasted: _Pasted = "",
) -> Response:
    """Replace measurements of a round."""
    sent = _Sent.of(file, pasted)
    return acted(request, desk, name, "corrected", lambda: sent.correct(desk, name, key.strip()))


@router.post("/close")
def close(request: Request, desk: Studies, name: StudyName, key: _Round) -> Response:
    """Close the round that is out."""
    return acted(request, desk, name, "closed", lambda: desk.study(name).close(key))


@router.post("/cancel")
def cancel(request: Request, desk: Studies, name: StudyName, key: _Round) -> Response:
    """Forget the round that is out."""
    return acted(request, desk, name, "cancelled", lambda: verbs.cancel(desk.study(name), key))


@router.post("/extend")
def extend(
    request: Request,
    desk: Studies,
    name: StudyName,
    rounds: Annotated[str, Form(max_length=40)] = "",
    delta: Annotated[str, Form(max_length=40)] = "",
    epsilon: Annotated[str, Form(max_length=40)] = "",
) -> Response:
    """Go on after the stop."""

    def act() -> None:
        desk.study(name).extend(
            rounds=number("rounds", rounds, int),
            delta=number("delta", delta, float),
            epsilon=number("epsilon", epsilon, float),
        )

    return acted(request, desk, name, "extended", act)


@router.post("/confirm")
def confirm(
    request: Request,
    desk: Studies,
    name: StudyName,
    arm: Annotated[str, Form(max_length=1000)] = "",
    max_pairs: Annotated[str, Form(max_length=40)] = "100",
    file: _Upload = None,
) -> Response:
    """Begin a trial of the recommended configuration against today's."""

    def act() -> None:
        study = desk.study(name)
        sent = {} if file is None or not file.filename else {"baseline.csv": file.file.read()}
        pairs = number("max_pairs", max_pairs, int) or 100
        with uploads.beside(sent) as placed:
            today = (
                uploads.joint_arm(placed["baseline.csv"], study.problem)
                if placed
                else verbs.joint_arm(study.problem, arm)
            )
        study.confirm(baseline=today, max_pairs=pairs)

    return acted(request, desk, name, "begun", act)


@router.post("/end-trial")
def end_trial(request: Request, desk: Studies, name: StudyName) -> Response:
    """Take no further pair."""
    return acted(request, desk, name, "ended", lambda: verbs.the_trial(desk.study(name)).end())


def _tell_total(desk: Desk, name: str, key: str, text: str) -> None:
    figure = number("total", text, float)
    if figure is not None:
        verbs.tell_total(desk.study(name), key, figure)


class _Sent:
    """Measurements from a file, or from the box beside it."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name, self.content = name, content

    @classmethod
    def of(cls, file: UploadFile | None, pasted: str) -> _Sent:
        if file is not None and file.filename:
            return cls(file.filename[:100], file.file.read())
        return cls("the text", pasted.encode())

    def tell(self, desk: Desk, name: str, key: str, unlikely: bool) -> None:
        study = desk.study(name)
        read = uploads.measurements(self.name, self.content, study.problem)
        verbs.tell(study, key, read, accept_outliers=unlikely)

    def correct(self, desk: Desk, name: str, key: str) -> None:
        study = desk.study(name)
        read = uploads.measurements(self.name, self.content, study.problem)
        chosen = key or read.round
        if chosen is None:
            raise InvalidArgument(
                f"{self.name} does not say which round it corrects; nothing was changed: give the "
                "round, or add a column round"
            )
        verbs.correct(study, chosen, read)


def number(name: str, text: str, kind: Callable[[str], T]) -> T | None:
    """What was typed into a field; None for nothing."""
    try:
        return kind(text) if text.strip() else None
    except ValueError as error:
        raise InvalidArgument(f"{name} is {text!r}; it must be a number", argument=name) from error

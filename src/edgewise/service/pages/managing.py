"""Bring what there is, and keep order: add, copy, rename, delete, each with a question before."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Request, UploadFile
from fastapi.responses import RedirectResponse, Response

from edgewise.errors import InvalidArgument
from edgewise.formats.rounds import read_deployed
from edgewise.service import uploads
from edgewise.service.desk import Desk
from edgewise.service.names import StudyName, slug
from edgewise.service.pages.acting import acted, number
from edgewise.service.security.identity import Studies, writes
from edgewise.study.log.outside import SOURCE

router = APIRouter(prefix="/studies/{study}", dependencies=[Depends(writes)])

_Name = Annotated[str, Form(max_length=255)]


@router.post("/add")
def add(
    request: Request,
    desk: Studies,
    name: StudyName,
    configurations: Annotated[UploadFile, File()],
    measurements: Annotated[UploadFile, File()],
    source: _Name = "",
    unlikely: Annotated[bool, Form()] = False,
) -> Response:
    """Put rounds on record that were deployed elsewhere."""
    files = {
        "configurations.csv": configurations.file.read(),
        "measurements.csv": measurements.file.read(),
    }

    def act() -> None:
        study = desk.study(name)
        with uploads.beside(files) as placed:
            deployed, measured = placed.values()
            arms, rewards = read_deployed(deployed, measured, study.problem)
        study.add(arms, rewards, source=source.strip() or SOURCE, accept_outliers=unlikely)

    return acted(request, desk, name, "added", act)


@router.post("/copy")
def copy(
    request: Request,
    desk: Studies,
    name: StudyName,
    new: _Name = "",
    delta: Annotated[str, Form(max_length=40)] = "",
    epsilon: Annotated[str, Form(max_length=40)] = "",
) -> Response:
    """Make a study of the same measurements, and show it."""

    def act() -> None:
        asked = {
            "delta": number("delta", delta, float),
            "epsilon": number("epsilon", epsilon, float),
        }
        desk.study(name).copy(new, **uploads.as_keywords(asked))

    return acted(request, desk, name, "copied", act, onward=slug(new))


@router.post("/rename")
def rename(request: Request, desk: Studies, name: StudyName, new: _Name = "") -> Response:
    """Call the study something else."""
    return acted(request, desk, name, "renamed", lambda: desk.rename(name, new), onward=slug(new))


@router.post("/delete")
def delete(request: Request, desk: Studies, name: StudyName, typed: _Name = "") -> Response:
    """Delete the study, if its name was typed, and show the list."""
    done = acted(request, desk, name, "deleted", lambda: _delete(desk, name, typed))
    return RedirectResponse("/?done=deleted", 303) if done.status_code == 303 else done


def _delete(desk: Desk, name: str, typed: str) -> None:
    if typed.strip() != name.strip():
        raise InvalidArgument(
            f"the study is called {name!r}, not {typed!r}; nothing was deleted: type its name",
            argument="name",
        )
    desk.delete(name)

"""New studies: from a TOML file with its tables, or from an export."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Request, UploadFile
from fastapi.responses import RedirectResponse, Response

from edgewise.errors import EdgewiseError
from edgewise.service import uploads
from edgewise.service.names import slug
from edgewise.service.pages.rendering import render
from edgewise.service.problems import refusal_of
from edgewise.service.security.identity import Studies, writes
from edgewise.study.files.document import EXAMPLE

router = APIRouter(dependencies=[Depends(writes)])

_Files = Annotated[list[UploadFile], File(default_factory=list)]
_Text = Annotated[str, Form(max_length=2**22)]


@router.get("/new")
def form(request: Request) -> Response:
    """How to describe a study, with an example to start from."""
    return _form(request, EXAMPLE.read_text(encoding="utf-8"))


@router.post("/new")
def create(request: Request, desk: Studies, files: _Files, description: _Text = "") -> Response:
    """Set up the study of a TOML file, sent or written in the box."""
    sent = {file.filename: file.file.read() for file in files if file.filename}
    tomls = [name for name in sent if name.casefold().endswith(".toml")]
    name = tomls[0] if tomls else "the description"
    body = sent.pop(tomls[0]) if tomls else description.encode()
    try:
        with uploads.beside(sent) as placed:
            study = uploads.create(desk, None, uploads.toml_document(name, body, placed))
    except EdgewiseError as error:
        return _form(request, description, wrong=refusal_of(error).detail, status=422)
    return RedirectResponse(f"/studies/{slug(study.name)}?done=created", 303)


@router.post("/import")
def import_study(
    request: Request, desk: Studies, file: Annotated[UploadFile, File()], name: _Text = ""
) -> Response:
    """Add an exported study."""
    try:
        study = uploads.import_study(desk, file.file.read(), name.strip() or None)
    except EdgewiseError as error:
        text = EXAMPLE.read_text(encoding="utf-8")
        return _form(request, text, wrong=refusal_of(error).detail, status=422)
    return RedirectResponse(f"/studies/{slug(study.name)}?done=imported", 303)


def _form(request: Request, description: str, *, wrong: str = "", status: int = 200) -> Response:
    return render(request, "new.html", status, description=description, wrong=wrong)

"""What the documents name exists: the table from the paper, the API page, glossary, decisions."""

from __future__ import annotations

import ast
import importlib
import re
import runpy
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import edgewise as ew

_ROOT = Path(__file__).parents[2]


def _read(path: str) -> str:
    return (_ROOT / path).read_text(encoding="utf-8")


_TABLE = _read("docs/traceability.md")
_API = _read("docs/api.md")
_LISTED = re.findall(r"^::: ([\w.]+)$", _API, re.MULTILINE)
_GLOSSARY = _read("GLOSSARY.md")
_DECISIONS = sorted((_ROOT / "docs" / "decisions").glob("*.md"))
_NAVIGATION = _read("mkdocs.yml")


def _resolve(path: str) -> Any:
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        return reduce(getattr, parts[cut:], module)
    raise AssertionError(f"{path} does not exist")


def _paths(text: str) -> list[str]:
    """Files and rooms in backticks, below src/edgewise or below the project's root."""
    return sorted(set(re.findall(r"`([\w/]+(?:\.py|/))`", text)))


def _exists(path: str) -> bool:
    return (_ROOT / "src" / "edgewise" / path).exists() or (_ROOT / path).exists()


# -- from the paper to the code --------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(edgewise\.[\w.]+)`", _TABLE))))
def test_functions_exist(name: str) -> None:
    assert callable(_resolve(name))


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(tests/[\w./]+)`", _TABLE))))
def test_tests_exist(path: str) -> None:
    assert "def test_" in _read(path)


def test_a_wrong_name_is_noticed() -> None:
    with pytest.raises(AttributeError):
        _resolve("edgewise.core.stopping.paper.PaperRuel")


# -- the API page ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", _LISTED)
def test_what_the_api_page_lists_can_be_imported_from_there(name: str) -> None:
    assert _resolve(name).__doc__


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`((?:ew|edgewise)\.[\w.]+)`", _API))))
def test_what_the_api_page_mentions_exists(name: str) -> None:
    assert _resolve(re.sub(r"^ew\b", "edgewise", name)) is not None


def test_the_api_page_lists_nothing_twice() -> None:
    assert len(set(_LISTED)) == len(_LISTED) > 40
    homes = [id(_resolve(name)) for name in _LISTED]
    assert len(set(homes)) == len(homes)


@pytest.mark.parametrize("name", ew.__all__)
def test_every_public_name_is_on_the_api_page(name: str) -> None:
    if isinstance(getattr(ew, name), ModuleType):
        assert any(f"{listed}.".startswith(f"edgewise.{name}.") for listed in _LISTED)
    else:
        assert f"edgewise.{name}" in _LISTED or f"`ew.{name}`" in _API


# -- glossary and decisions ------------------------------------------------------------------


@pytest.mark.parametrize("path", _paths(_GLOSSARY))
def test_the_glossary_names_files_that_exist(path: str) -> None:
    assert _exists(path)


def test_the_glossary_explains_each_word_once_and_says_where_it_lives() -> None:
    rows = re.findall(r"^\| ([\w ]+) \| (.+) \| `(.+)` \|$", _GLOSSARY, re.MULTILINE)
    words = [word for word, _, _ in rows]
    assert len(words) == _GLOSSARY.count("\n| ") - _GLOSSARY.count("\n| word |")
    assert len(set(words)) == len(words) > 50


@pytest.mark.parametrize("note", _DECISIONS, ids=lambda note: str(note.stem))
def test_a_decision_has_context_choice_and_price(note: Path) -> None:
    text = note.read_text(encoding="utf-8")
    assert re.findall("^## (.*)$", text, re.MULTILINE) == ["Context", "Choice", "Price"]
    assert [path for path in _paths(text) if not _exists(path)] == []
    assert f"decisions/{note.name}" in _NAVIGATION


def test_a_wrong_path_is_noticed() -> None:
    assert _paths("see `core/nowhere.py` and `core/targets/`") == [
        "core/nowhere.py",
        "core/targets/",
    ]
    assert not _exists("core/nowhere.py")


# -- docstrings on the API page --------------------------------------------------------------


def _docstrings() -> list[str]:
    return [
        ast.get_docstring(node) or ""
        for file in sorted((_ROOT / "src").rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    ]


def test_formulas_and_references_of_every_docstring_are_markdown_on_the_page() -> None:
    rewrite = runpy.run_path(str(_ROOT / "docs" / "docstrings.py"))
    links = rewrite["documented"]()
    for text in _docstrings():
        page = rewrite["as_markdown"](text, links)
        assert ".. math::" not in page
        assert not re.search(r":(math|func|class|meth|mod|attr|data):`", page), page
        assert page.count("\\[\n") == text.count(".. math::")
        words = re.sub(r"\W|math|func|class|meth|mod|attr|data|pycon", "", page)
        assert len(words) >= 0.6 * len(re.sub(r"\W|math|func|class|meth|mod|attr|data", "", text))


def test_references_lead_to_what_the_page_has() -> None:
    rewrite = runpy.run_path(str(_ROOT / "docs" / "docstrings.py"))["as_markdown"]
    links = {"edgewise.Learner": "edgewise.Learner", "Learner": "edgewise.Learner"}
    assert rewrite(":class:`~edgewise.Learner`", links) == "[`Learner`][edgewise.Learner]"
    assert rewrite(":func:`hidden`", links) == "`hidden`"
    example = "Adds.\n\n>>> 1 + 1\n2\n\nMore."
    assert rewrite(example, links) == "Adds.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nMore."
    formula = ".. math:: a\n    + b\n\nThen."
    assert rewrite(formula, links) == "\n\\[\na\n+ b\n\\]\n\nThen."

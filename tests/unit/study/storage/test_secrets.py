"""Passwords do not get out, however a URL is written."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import edgewise as ew
from edgewise.cli.app import app
from edgewise.errors import EdgewiseError
from edgewise.study.storage.secrets import masked, without_secrets

URLS = [
    "postgresql://ann:s3cret@127.0.0.1:1/db",
    "postgresql://ann:s3cret@127.0.0.1:port/db",
    "postgresql://ann:s3cret@@127.0.0.1:1/db",
    "postgresql://ann:x@s3cret@127.0.0.1:1/db",
    "postgresql://ann:x/s3cret@127.0.0.1:1/db",
    "postgresql://ann:x:s3cret@127.0.0.1:1/db",
    "postgresql://127.0.0.1:1/db?user=ann&password=s3cret",
    "postgresql://127.0.0.1:1/db?sslpassword=s3cret&connect_timeout=1",
    "postgresql://127.0.0.1:1/db?PASSWORD=s3cret",
    "postgres://ann:s3cret@127.0.0.1:1/db",
    "postgresql+psycopg://ann:s3cret@127.0.0.1:1/db",
    "postgresql+pg8000://ann:s3cret@127.0.0.1:1/db",
    "postgre://ann:s3cret@127.0.0.1/db",
    "postgresql:/ann:s3cret@127.0.0.1/db",
    "postgresql//ann:s3cret@127.0.0.1/db",
    "mysql://ann:s3cret@127.0.0.1/db",
    "ann:s3cret@127.0.0.1/db",
    "sqlite://ann:s3cret@127.0.0.1/db",
    "memory://ann:s3cret@here",
    "postgresql://127.0.0.1:1/db?auth=s3cret&connect_timeout=1",
    "postgresql://127.0.0.1:1/db?pass%77ord=s3cret&connect_timeout=1",
    "postgresql://127.0.0.1:1/db?options=-c%20password%3Ds3cret&connect_timeout=1",
    "postgresql://127.0.0.1:1/db?credentials='a s3cret'&connect_timeout=1",
    "sqlite:///nowhere.db?key=s3cret",
    "host=127.0.0.1 credentials=s3cret port=1",
]


@pytest.mark.parametrize("url", URLS)
def test_no_message_and_no_traceback_shows_it(url: str) -> None:
    with pytest.raises(EdgewiseError) as caught:
        ew.Study.load("farm", storage=url)
    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in masked(url)
    assert "s3cret" not in repr(caught.value)
    assert "s3cret" not in "".join(traceback.format_exception_only(caught.value))
    assert "s3cret" not in str(caught.value.__cause__)


@given(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=3, max_size=9))
def test_any_password_is_hidden(password: str) -> None:
    secret = f"~{password}~"
    for url in (f"postgresql://ann:{secret}@host/db", f"x:/ann:{secret}@host"):
        assert secret not in masked(url)
    assert secret not in without_secrets(f"no host {secret}", f"postgresql://ann:{secret}@host/db")


def test_creating_a_study_prints_a_masked_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    example = CliRunner().invoke(app, ["study", "create", "--example"]).stdout
    Path("farm.toml").write_text(example)
    url = f"sqlite:///{tmp_path}/farm.db?password=s3cret&uri=true"
    result = CliRunner().invoke(app, ["study", "create", "farm.toml", "--storage", url])
    assert "s3cret" not in result.output
    assert "farm.db" in result.output

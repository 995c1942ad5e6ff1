"""Every field of an event and of the state has its check."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

import pytest

from edgewise.study.log.events import Event, Revision
from edgewise.study.log.fields import FIELDS
from edgewise.study.log.fold import Certificate, Round, StudyState


@pytest.mark.parametrize("kind", [*get_args(Event), Revision, StudyState, Round, Certificate])
def test_every_field_is_checked(kind: type) -> None:
    assert list(FIELDS[kind]) == [field.name for field in fields(kind)]

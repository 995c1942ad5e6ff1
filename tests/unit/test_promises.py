"""The oldest versions pyproject.toml promises are those that ``make test-lowest`` installs."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[(?P<extras>[\w,]+)\])?([>=]=(?P<oldest>[\d.]+))?")


def promises(extra: str) -> dict[str, str]:
    """Oldest version by package, of edgewise itself and one of its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: dict[str, str] = {}

    def collect(requirements: list[str]) -> None:
        for requirement in requirements:
            match = _REQUIREMENT.fullmatch(requirement)
            assert match is not None, requirement
            if match["name"] == "edgewise":
                for name in match["extras"].split(","):
                    collect(project["optional-dependencies"][name])
            else:
                assert match["oldest"] is not None, f"{requirement} has no oldest version"
                found[canonical(match["name"])] = match["oldest"]

    collect(project["dependencies"])
    collect(project["optional-dependencies"][extra])
    return found


def pins(file: str) -> dict[str, str]:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonical(name): version for name, version in pairs}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.lower())


def release(version: str) -> list[int]:
    """Numbers of a version; zeros at the end mean nothing."""
    numbers = [int(number) for number in version.split(".")]
    while numbers[-1] == 0:
        numbers.pop()
    return numbers


@pytest.mark.parametrize(("name", "oldest"), promises("unit").items())
def test_the_oldest_version_promised_is_tested(name: str, oldest: str) -> None:
    assert release(pins("constraints-lowest.txt")[name]) == release(oldest)


EVERY_DAY = {"crrm", "fastapi", "floris", "jinja2", "plotly", "python-multipart", "uvicorn"}
"""What is tested in one version only, by ``make test``: that is the oldest promised."""


@pytest.mark.parametrize("name", sorted(EVERY_DAY))
def test_the_oldest_version_is_the_one_of_every_day(name: str) -> None:
    assert release(pins("constraints.txt")[name]) == release(promises("all")[name])


def test_every_extra_is_tested_with_its_oldest_versions() -> None:
    assert promises("all").keys() - promises("unit").keys() == EVERY_DAY

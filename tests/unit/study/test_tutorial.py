"""The tutorial by shell commands does what it prints, against a network in a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "study-tutorial.md"
MARK = "=== command ==="


def session() -> list[tuple[str, str]]:
    """Commands of the page and what it prints below them."""
    steps = []
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = step.splitlines()
            size = 1 + sum(line.startswith("> ") for line in lines)
            command = "\n".join(line.removeprefix("> ") for line in lines[:size])
            steps.append((command, tidy("\n".join(lines[size:]))))
    return steps


def tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip()


def run(commands: list[str], folder: Path) -> list[str]:
    """What one shell prints for each of the commands."""
    (folder / "examples").symlink_to(ROOT / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    script = "\n".join(f"echo '{MARK}'\n{command}" for command in commands)
    result = subprocess.run(
        ["bash", "-c", f"exec 2>&1\n{script}"],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return [tidy(part) for part in result.stdout.split(f"{MARK}\n")[1:]]


def test_the_tutorial_prints_what_it_says(tmp_path: Path) -> None:
    commands, expected = zip(*session(), strict=True)
    printed = run(list(commands), tmp_path)
    for command, wanted, got in zip(commands, expected, printed, strict=True):
        assert got == wanted, command
    for name in ("best.csv", "report.html", "cells.jsonl", "status.json"):
        assert (tmp_path / name).stat().st_size > 0


def test_the_network_of_the_tutorial_does_not_know_edgewise() -> None:
    text = (ROOT / "examples" / "live_network.py").read_text(encoding="utf-8")
    imported = set(re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE))
    assert imported <= sys.stdlib_module_names

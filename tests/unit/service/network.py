"""The tutorial's live network: what it measures in a round."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def measured(configuration: str, folder: Path, *options: str) -> str:
    """The CSV that ``examples/live_network.py`` writes for a configuration."""
    asked, told = folder / "configuration.csv", folder / "measurements.csv"
    asked.write_text(configuration, encoding="utf-8")
    script = ROOT / "examples/live_network.py"
    subprocess.run([sys.executable, script, asked, told, *options], check=True, cwd=ROOT)
    return told.read_text(encoding="utf-8")


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))

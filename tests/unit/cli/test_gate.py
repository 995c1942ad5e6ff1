"""The gate by shell commands: asked first, exit codes, and what programs read."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner, Result

import edgewise as ew
from edgewise.cli.app import app

EDGES = [(f"n{i}", f"n{(i + 1) % 20}") for i in range(20)]
CONFIG = f"""
name = "antennas"
noise = 0.3
seed = 1
[graph]
edges = {json.dumps([list(edge) for edge in EDGES])}
[arms]
low = [1.0, 0.0]
high = [0.0, 1.0]
"""


class Desk:
    """A folder with the study in it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.url = folder, f"sqlite:///{folder}/a.db"
        (folder / "antennas.toml").write_text(CONFIG, encoding="utf-8")
        self.network: ew.BilinearEnvironment | None = None

    def run(self, *arguments: str) -> Result:
        environment = {"EDGEWISE_STORAGE": self.url, "EDGEWISE_STUDY": None}
        return CliRunner().invoke(app, ("study", *arguments), env=environment)

    def create(self, *options: str) -> None:
        made = self.run("create", str(self.folder / "antennas.toml"), *options)
        assert made.exit_code == 0, made.output

    @property
    def study(self) -> ew.Study:
        return ew.Study.load("antennas", storage=self.url)

    def measured(self, typo: bool = False) -> str:
        """A file with the measurements of the round that is out."""
        study = self.study
        ticket = study.ask()
        if self.network is None:
            matrix = [[0.3, 0.2], [0.1, 0.6]]
            self.network = ew.BilinearEnvironment(study.problem, matrix, rng=2)
        values = self.network(ticket.arms)
        values[7] = 150000.0 if typo else values[7]
        labels = study.problem.graph.labels
        lines = ["source,target,reward"]
        for (i, j), value in zip(study.problem.graph.arcs.tolist(), values, strict=True):
            lines.append(f"{labels[i]},{labels[j]},{float(value)!r}")
        path = self.folder / f"round{ticket.round}.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(path)

    def facts(self, *arguments: str, exit_code: int) -> dict[str, Any]:
        result = self.run(*arguments, "--format", "json")
        assert result.exit_code == exit_code, result.output
        document: dict[str, Any] = json.loads(result.stdout)
        return document


def test_a_typo_is_asked_about_accepted_and_contradicts(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.create()
    file = desk.measured(typo=True)
    refused = desk.run("tell", file)
    assert refused.exit_code == 2
    assert "150000" in refused.output
    assert "'edgewise study tell --accept'" in refused.output
    assert desk.study.status().rounds == 0
    assert desk.run("tell", file, "--accept").exit_code == 0
    assert desk.study.status().rounds == 1
    status = desk.run("status").output
    assert "contradict the model" in status.splitlines()[0]
    assert "150000" in status.splitlines()[0]
    for command in ("report", "recommend"):
        facts = desk.facts(command, exit_code=3)
        assert next(iter(facts)) == "contradictions"
        assert facts["contradictions"][0]["form"] == "outlier"
        assert facts["contradictions"][0]["value"] == 150000.0
        assert not facts["certified"]


def test_trusting_the_model_is_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.create("--trust-model")
    while not desk.study.stopped:
        told = desk.run("tell", desk.measured())
        assert told.exit_code == 0, told.output
        assert desk.study.status().rounds < 40
    facts = desk.facts("report", exit_code=0)
    assert "The model was trusted" in facts["guarantee"]
    assert "contradictions" not in facts


def test_the_gate_of_a_file(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    config = tmp_path / "antennas.toml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text + '[gate]\nlevel = 0.05\nforms = ["noise"]\n', encoding="utf-8")
    desk.create()
    assert desk.study._session.cursor.base.gate == ew.Gate(level=0.05, forms=("noise",))
    for wrong in ('level = "high"', 'forms = ["nois"]', "levels = 0.1"):
        config.write_text(text + f"[gate]\n{wrong}\n", encoding="utf-8")
        result = desk.run("create", str(config), "--name", "other")
        assert result.exit_code == 2
        assert "antennas.toml" in result.output
    assert np.array_equal(ew.Study.names(desk.url), ["antennas"])

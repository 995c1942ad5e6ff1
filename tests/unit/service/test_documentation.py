"""The clients of docs/serve.md, run against a server; its unit and its claims, checked."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.unit.service.conftest import ACCESS, WRITE

import edgewise as ew
from edgewise.formats import read_matrix
from edgewise.service import create_app
from edgewise.service.serving import Place, _listening
from edgewise.study import MemoryStorage, Study

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")


def block(kind: str) -> str:
    (found,) = re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


@pytest.fixture
def address(storage: MemoryStorage, study: Study) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(create_app(storage, ACCESS), log_level="warning"))
    with _listening(Place(port=0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def test_the_python_client_runs_a_study_to_its_end(address: str, study: Study) -> None:
    problem = study.problem
    matrix = read_matrix(ROOT / "examples/data/matrix.csv")
    network = ew.BilinearEnvironment(problem, matrix, rng=5)
    nodes = list(problem.graph.labels)

    def deploy_and_measure(arms: dict[str, str]) -> dict[tuple[str, str], float]:
        labels = list(problem.arm_labels or ())
        rewards = network([labels.index(arms[str(node)]) for node in nodes])
        pairs = [(str(nodes[i]), str(nodes[j])) for i, j in problem.graph.arcs.tolist()]
        return dict(zip(pairs, rewards.tolist(), strict=True))

    names: dict[str, Any] = {
        "server": address, "token": WRITE, "deploy_and_measure": deploy_and_measure,
    }  # fmt: skip
    exec(compile(block("python"), "docs/serve.md", "exec"), names)
    assert study.stopped
    assert names["asked"].json()["type"] == "urn:edgewise:problem:learner-stopped"
    assert names["best"]["certified"]


def test_the_night_by_curl(address: str, study: Study, tmp_path: Path) -> None:
    assert shutil.which("curl"), "curl is not on this machine; install it: apt-get install -y curl"
    shutil.copytree(ROOT / "examples/data", tmp_path / "data")
    shutil.copy(ROOT / "examples/live_network.py", tmp_path)
    python = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "SERVER": address, "TOKEN": WRITE, "PATH": python}
    script = "set -eu\n" + block("bash")
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, text=True, capture_output=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert '"rounds": 1' in done.stdout
    assert study.status().rounds == 1


def test_limits_on_the_page_are_those_of_the_program() -> None:
    from edgewise.service import Limits
    from edgewise.service.pages.network import _NODES
    from edgewise.service.pages.thinning import POINTS

    limits = Limits()
    assert f"{limits.body // 2**20} MiB a request" in PAGE
    assert f"{limits.rate:g} requests per second" in " ".join(PAGE.split())
    assert f"{limits.streams} live streams" in PAGE
    assert f"above {_NODES:,} nodes" in PAGE
    assert f"more than {POINTS} rounds" in PAGE

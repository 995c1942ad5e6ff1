"""The names of the public interface are a contract."""

import inspect
import io
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise.live import is_watched
from edgewise.progress import ProgressLine, describe, observer_for

CONTRACT: dict[str, list[str]] = {
    "Graph.star": ["n_edges", "n_nodes"],
    "Graph.complete": ["n_edges", "n_nodes"],
    "Graph.circle": ["n_edges", "n_nodes"],
    "Graph.matching": ["n_edges", "n_nodes"],
    "Graph.from_edges": ["pairs", "n_nodes", "directed", "kinds", "weights", "labels"],
    "Graph.from_networkx": ["graph"],
    "Graph.from_scipy": ["matrix"],
    "Graph.to_networkx": [],
    "Problem": ["graph", "arms", "noise", "node_term", "candidates"],
    "g_optimal": ["arms", "tolerance", "method"],
    "allocate": ["graph", "arms", "matrix", "method", "rng", "time_limit"],
    "BilinearEnvironment": ["problem", "matrix", "beta", "rng"],
    "Learner": ["problem", "delta", "epsilon", "strategy", "stopping", "rng"],
    "Learner.ask": [],
    "Learner.tell": ["ticket", "rewards"],
    "Learner.report": [],
    "Learner.save": [],
    "Learner.restore": ["problem", "saved"],
    "Ticket": ["round", "arms"],
    "identify": [
        "problem",
        "environment",
        "delta",
        "epsilon",
        "strategy",
        "stopping",
        "max_rounds",
        "rng",
        "progress",
    ],
    "Trial": ["problem", "baseline", "candidate", "delta", "max_pairs", "rng"],
    "Trial.ask": [],
    "Trial.tell": ["ticket", "measured"],
    "Trial.report": [],
    "Study.create": [
        "name",
        "problem",
        "storage",
        "delta",
        "epsilon",
        "target",
        "strategy",
        "stopping",
        "max_rounds",
        "rng",
    ],
    "Study.load": ["name", "storage"],
    "Study.names": ["storage"],
    "Study.ask": [],
    "Study.ticket": ["key"],
    "Study.tell": ["ticket", "rewards"],
    "Study.close": ["ticket"],
    "Study.cancel": ["ticket"],
    "Study.correct": ["ticket", "rewards"],
    "Study.extend": ["rounds", "delta", "epsilon"],
    "Study.add": ["arms", "rewards", "source"],
    "Study.copy": ["name", "storage", "rng"],
    "Study.rename": ["name"],
    "Study.delete": [],
    "Study.status": [],
    "Study.recommend": [],
    "Study.report": [],
    "Study.history": [],
    "Study.export": ["path"],
    "Study.from_export": ["path", "storage", "name"],
    "theory.variance": ["graph", "arms", "weights"],
    "theory.alpha": [],
    "theory.burn_in": [],
    "theory.sample_complexity": [],
    "theory.lower_bound": [],
    "simulation.replicate": [
        "problem",
        "matrix",
        "repetitions",
        "strategy",
        "stopping",
        "delta",
        "rng",
        "jobs",
    ],
}

ATTRIBUTES: dict[str, list[str]] = {
    "Graph": ["n_nodes", "n_arcs", "directed", "n_kinds", "degrees", "labels", "edges", "arcs"],
    "Design": ["weights", "worst_variance", "gap", "dimension", "iterations"],
    "Allocation": ["arms", "value", "upper_bound", "gap", "proved_optimal", "method"],
    "Learner": ["verdict"],
    "Report": ["rounds", "ending", "certified", "best_pair", "matrix", "allocation", "design"],
}


def public(path: str) -> Any:
    value: Any = ew
    for name in path.split("."):
        value = getattr(value, name)
    return value


@pytest.mark.parametrize("path", CONTRACT)
def test_public_names_take_the_named_arguments(path: str) -> None:
    parameters = inspect.signature(public(path)).parameters
    assert list(parameters) != [] or CONTRACT[path] == []
    missing = [name for name in CONTRACT[path] if name not in parameters]
    assert missing == []


KEYWORD_ONLY = {
    "Graph.from_edges": 1,
    "Problem": 2,
    "g_optimal": 1,
    "allocate": 3,
    "BilinearEnvironment": 2,
    "Learner": 1,
    "Study.create": 2,
    "Study.load": 1,
    "identify": 2,
    "simulation.replicate": 2,
}


@pytest.mark.parametrize("path", KEYWORD_ONLY)
def test_options_are_keyword_only(path: str) -> None:
    parameters = list(inspect.signature(public(path)).parameters.values())
    split = KEYWORD_ONLY[path]
    assert all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters[:split])
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters[split:])


def test_defaults_are_those_agreed() -> None:
    parameters = inspect.signature(ew.identify).parameters
    agreed = {"delta": 0.05, "epsilon": None, "strategy": "adaptive", "max_rounds": 10**6}
    assert {name: parameters[name].default for name in agreed} == agreed
    assert inspect.signature(ew.g_optimal).parameters["tolerance"].default == 1e-6
    assert inspect.signature(ew.Problem).parameters["noise"].default == 1.0


def test_values_have_the_named_attributes() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=4), np.eye(2), noise=0.1)
    environment = ew.BilinearEnvironment(problem, np.diag([2.0, 1.0]), rng=0)
    report = ew.identify(problem, environment, strategy="g-optimal", rng=0)
    values = {
        "Graph": problem.graph,
        "Design": report.design,
        "Allocation": report.allocation,
        "Learner": ew.Learner(problem),
        "Report": report,
    }
    for name, attributes in ATTRIBUTES.items():
        assert isinstance(values[name], public(name))
        for attribute in attributes:
            assert getattr(values[name], attribute) is not None, (name, attribute)


def test_every_exported_name_exists_and_no_other() -> None:
    for name in ew.__all__:
        assert getattr(ew, name) is not None
    assert sorted(ew.__all__) == dir(ew)
    assert len(ew.__all__) <= 30
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        ew.nonsense  # noqa: B018


def python(code: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return result.stdout


def test_importing_edgewise_imports_nothing_heavy() -> None:
    loaded = python("import sys, edgewise; print(*sys.modules)").split()
    heavy = {
        "numba",
        "scipy",
        "matplotlib",
        "pandas",
        "networkx",
        "sqlalchemy",
        "joblib",
        "typer",
        "rich",
    }
    assert heavy.isdisjoint(loaded)
    used = python("import sys, edgewise; edgewise.Learner; print(*sys.modules)").split()
    assert "numba" in used  # the check above can fail


def test_graphs_and_problems_do_not_need_numba() -> None:
    code = "import sys, edgewise as ew; ew.Graph.circle(n_nodes=4); print('numba' in sys.modules)"
    assert python(code).strip() == "False"


# -- progress --------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def noisy_run(progress: Any, max_rounds: int = 40) -> ew.Report:
    problem = ew.Problem(ew.Graph.circle(n_nodes=4), np.eye(2), noise=0.7)
    environment = ew.BilinearEnvironment(problem, np.diag([2.0, 1.0]), rng=0)
    return ew.identify(problem, environment, rng=0, max_rounds=max_rounds, progress=progress)


def test_progress_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    report = noisy_run(True)
    out, err = capsys.readouterr()
    assert report.certified
    assert out == ""
    last = err.splitlines()[-1]
    assert last == f"[{'#' * 24}] 100%  round {report.rounds}  leader (0, 0)"


def test_no_progress_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    noisy_run(False)
    assert capsys.readouterr() == ("", "")


def test_progress_may_be_any_function() -> None:
    seen: list[int] = []
    report = noisy_run(lambda learner: seen.append(learner.rounds))
    assert seen == list(range(1, report.rounds + 1))


def test_a_terminal_line_is_rewritten_in_place() -> None:
    stream = Terminal()
    line = ProgressLine(stream)
    line._line.pause = 0.0
    report = noisy_run(line)
    text = stream.getvalue()
    assert text.count("\r") == report.rounds
    assert text.endswith("\n")
    assert text.count("\n") == 1
    frames = text.rstrip("\n").split("\r")[1:]
    widths = [len(frame) for frame in frames]
    assert all(b >= len(a.rstrip()) for a, b in zip(frames, widths[1:]))  # noqa: B905


def test_elsewhere_lines_are_rare() -> None:
    stream = io.StringIO()
    noisy_run(ProgressLine(stream))
    assert len(stream.getvalue().splitlines()) == 2  # the first round and the stop
    assert "\r" not in stream.getvalue()


def test_the_line_is_closed_when_the_environment_fails(capsys: pytest.CaptureFixture[str]) -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=4), np.eye(2))

    def broken(arms: Any) -> Any:
        raise OSError("the site is down")

    with pytest.raises(OSError, match="the site is down"):
        ew.identify(problem, broken, progress=True)
    assert capsys.readouterr().err == ""


def test_describe_before_and_during() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=4), np.eye(2), noise=0.7)
    learner = ew.Learner(problem, rng=0, delta=1e-6)
    assert describe(learner) == f"[{'.' * 24}]   0%  round 0  leader not estimable yet"
    environment = ew.BilinearEnvironment(problem, np.diag([2.0, 1.0]), rng=0)
    while learner.verdict.progress < 0.3:
        ticket = learner.ask()
        learner.tell(ticket, environment(ticket.arms))
    text = describe(learner)
    assert f"round {learner.rounds}  leader (" in text
    assert text.endswith("more")
    assert "about" in text


class Watched(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_shows_itself_to_whoever_watches_a_call_that_lasts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing in the first seconds; nothing at all where nobody watches, or if it is unwanted."""
    stream, clock = Watched(), iter(np.arange(0.0, 1000.0, 0.5))
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("edgewise.live.time.monotonic", lambda: float(next(clock)))
    line = observer_for(None)
    assert isinstance(line, ProgressLine)
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), np.eye(2), noise=0.1)
    learner = ew.Learner(problem, rng=0)
    shown = []
    for _ in range(8):
        line(learner)
        shown.append(bool(stream.getvalue()))
    assert shown == [False] * 5 + [True] * 3
    assert observer_for(False) is None
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert observer_for(None) is None


@pytest.mark.parametrize("jobs", [1, 2])
def test_repeated_runs_are_counted(capsys: pytest.CaptureFixture[str], jobs: int) -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), np.eye(2), noise=0.1)
    for progress, lines in ((True, 1), (None, 0), (False, 0)):  # elsewhere lines are rare
        runs = ew.simulation.replicate(
            problem, np.diag([2.0, 1.0]), repetitions=3, rng=0, jobs=jobs, progress=progress
        )
        shown = capsys.readouterr().err.splitlines()
        expected = f"run 1 of 3, {runs.rounds[0]:.4g} rounds on average"
        assert shown == [expected] * lines


def test_a_notebook_is_watched() -> None:
    """Its stream is no terminal, but rewrites a line."""
    notebook = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})
    assert is_watched(notebook())
    assert not is_watched(io.StringIO())

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import edgewise as ew
from edgewise import plots
from edgewise.errors import InvalidArgument, MissingExtra
from edgewise.plots.style import look_of

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def figures() -> dict[str, object]:
    arms, matrix = ew.simulation.paper_instance(dimension=3, omega=0.8)
    problem = ew.Problem(ew.Graph.circle(n_edges=20), arms)
    trace = plots.ConvergenceTrace(matrix)
    environment = ew.BilinearEnvironment(problem, matrix, rng=1)
    report = ew.identify(problem, environment, rng=2, progress=trace)
    blind = plots.ConvergenceTrace()
    ew.identify(problem, environment, rng=3, progress=blind)
    runs = ew.simulation.replicate(problem, matrix, repetitions=12, rng=0)
    unequal = ew.Learner(
        ew.Problem(ew.Graph.circle(n_nodes=50), arms, measured="link", pooling="partial"), rng=0
    )
    for number in range(4):
        unequal.tell(unequal.ask(), np.random.default_rng(number).standard_normal(50))
    star = plots.curve_of("star", {6: [10.0, 12.0], 12: [5.0, 7.0]}, group="paper")
    bound = plots.Curve.exact("bound", [6.0, 12.0], [1.0, 0.5])
    return {
        "curves": plots.figure_curves(
            plots.rounds_against_edges([star], references=[bound], title="t"),
            plots.rounds_against_dimension([star]),
            plots.rounds_against_dimension([star]),
            columns=2,
        ),
        "convergence": plots.figure_convergence(trace.data()),
        "margin": plots.figure_convergence(blind.data()),
        "design": plots.figure_design(ew.g_optimal(arms), ["first", "second", "third", "fourth"]),
        "estimate": plots.figure_estimate(report),
        "matrix": plots.figure_estimate(report, of="matrix"),
        "allocation": plots.figure_allocation(report),
        "many": plots.figure_graph(
            plots.graph_data(ew.Graph.complete(n_nodes=9), np.arange(9), positions=np.eye(9)[:, :2])
        ),
        "directed": plots.figure_graph(
            plots.graph_data(ew.Graph.from_edges([(0, 1), (1, 2)], directed=True), [0, 1, 0])
        ),
        "histogram": plots.figure_histogram(runs, lower_bound=1.5),
        "shrinkage": plots.figure_shrinkage(unequal),
        "residuals": plots.figure_residuals(unequal),
    }


NAMES = [
    "curves", "convergence", "margin", "design", "estimate", "matrix", "allocation", "many",
    "directed", "histogram", "shrinkage", "residuals",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_picture_is_a_valid_png_and_svg(
    figures: dict[str, object], name: str, tmp_path: Path
) -> None:
    figure = figures[name]
    png = plots.save(figure, tmp_path / "a.png")  # type: ignore[arg-type]
    svg = plots.save(figure, tmp_path / "a.svg")  # type: ignore[arg-type]
    assert png.read_bytes().startswith(PNG)
    assert png.stat().st_size > 4_000
    assert ET.parse(svg).getroot().tag.endswith("svg")


def test_the_same_figure_gives_the_same_svg(tmp_path: Path) -> None:
    design = ew.g_optimal(np.eye(3))
    first, second = (
        plots.save(plots.figure_design(design), tmp_path / f"{i}.svg").read_bytes() for i in "ab"
    )
    assert first == second


def test_pyplot_is_never_loaded(tmp_path: Path) -> None:
    code = (
        "import sys, numpy as np, edgewise as ew\n"
        "from edgewise import plots\n"
        "assert 'matplotlib' not in sys.modules\n"
        f"plots.save(plots.figure_design(ew.g_optimal(np.eye(2))), r'{tmp_path / 'x.png'}')\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


def test_an_unknown_format_names_the_known_ones(figures: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"\.png, \.svg or \.pdf"):
        plots.save(figures["design"], tmp_path / "a.gif")  # type: ignore[arg-type]


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"edgewise\[plot\]"):
        plots.figure_design(ew.g_optimal(np.eye(2)))


def test_labels_look_different_and_families_always_the_same() -> None:
    looks = look_of(["star", "grid", "circle", "tree"])
    assert len(set(looks.values())) == 4
    assert look_of(["circle"])["circle"] == looks["circle"]


def test_a_farm_is_drawn_with_rotors_across_the_wind() -> None:
    places = np.array([[0.0, 0.0], [700.0, 0.0]])
    facing = plots.FarmData(places, np.zeros(2), 270.0, 126.0, np.array([[0, 1]]), title="two")
    blades = facing.rotors[:, 1] - facing.rotors[:, 0]
    np.testing.assert_allclose(blades[:, 0], 0.0, atol=1e-9)  # north to south, wind from the west
    turned = plots.FarmData(places, np.array([90.0, 0.0]), 270.0, 126.0, np.array([[0, 1]]))
    first, second = turned.rotors[:, 1] - turned.rotors[:, 0]
    assert first[0] < 0 < second[1]  # counter-clockwise: the northern tip goes west
    assert abs(first[1]) < 1e-9
    figure = plots.figure_farm(facing, turned)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["two", ""]

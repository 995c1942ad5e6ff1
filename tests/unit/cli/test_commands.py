"""Every command gives the library's answer, in every format, with the user's names."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.instances import CELLS, DATA
from typer.testing import CliRunner, Result

import edgewise as ew
from edgewise.cli.app import app
from edgewise.formats import read_arms, read_graph, read_matrix

FARM = [str(DATA / name) for name in ("wakes.csv", "yaw.csv", "wake-matrices.csv")]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def as_json(*arguments: str, exit_code: int = 0) -> dict[str, Any]:
    result = run(*arguments, "--format", "json")
    assert result.exit_code == exit_code, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def as_csv(*arguments: str) -> list[dict[str, str]]:
    result = run(*arguments, "--format", "csv")
    assert result.exit_code == 0, result.output
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_design_is_the_optimal_design_of_the_named_arms() -> None:
    answer = as_json("design", CELLS[1])
    expected = ew.g_optimal(read_arms(CELLS[1]).arms)
    assert answer["gap"] == expected.gap <= 1e-6
    assert answer["dimension"] == 3
    weights = {row["arm"]: row["weight"] for row in answer["arms"]}
    assert set(weights) == {"low", "mid", "high", "low+mid", "mid+high"}
    assert sum(weights.values()) == pytest.approx(1.0)
    assert list(weights.values()) == sorted(weights.values(), reverse=True)
    rows = as_csv("design", CELLS[1])
    assert [(row["arm"], float(row["weight"])) for row in rows] == list(weights.items())


def test_design_without_its_certificate_ends_with_3_and_an_answer(tmp_path: Path) -> None:
    np.save(tmp_path / "arms.npy", np.random.default_rng(0).standard_normal((300, 10)))
    options = ("--method", "frank-wolfe", "--tolerance", "1e-12")
    answer = as_json("design", str(tmp_path / "arms.npy"), *options, exit_code=3)
    assert answer["gap"] > 1e-12


def test_design_in_the_span_on_request(tmp_path: Path) -> None:
    np.save(tmp_path / "arms.npy", [[1.0, 1.0], [2.0, 2.0]])
    refused = run("design", str(tmp_path / "arms.npy"))
    assert refused.exit_code == 2
    assert "span 1 of 2 dimensions" in refused.stderr
    assert as_json("design", str(tmp_path / "arms.npy"), "--project")["dimension"] == 1


def test_allocate_is_the_library_s_allocation(tmp_path: Path) -> None:
    graph, arms = read_graph(CELLS[0]), read_arms(CELLS[1])
    expected = ew.allocate(graph, arms.arms, read_matrix(CELLS[2]), method="two-arm")
    answer = as_json("allocate", *CELLS, "--method", "two-arm", "--out", str(tmp_path / "out.csv"))
    assert answer["value"] == expected.value
    assert answer["upper_bound"] == expected.upper_bound
    assert answer["proved_optimal"] is expected.proved_optimal
    assert answer["bound"] == expected.bound
    given = {row["node"]: row["arm"] for row in answer["nodes"]}
    assert given == {
        node: arms.labels[arm] for node, arm in zip(graph.labels, expected.arms, strict=True)
    }
    with (tmp_path / "out.csv").open() as stream:
        written = {row["node"]: row["arm"] for row in csv.DictReader(stream)}
    assert written == given
    cheap = as_json("allocate", *CELLS, "--method", "two-arm", "--bound", "none")
    assert cheap["upper_bound"] >= answer["upper_bound"]


def test_allocate_with_kinds_candidates_and_a_node_term(tmp_path: Path) -> None:
    beta = tmp_path / "beta.csv"
    beta.write_text("kind,straight,left,right\ndeep,0,0,0\nnear,0,0,100\n")
    options = ("--candidates", str(DATA / "service-road.csv"), "--beta", str(beta))
    given = {row["node"]: row["arm"] for row in as_csv("allocate", *FARM, *options)}
    assert given["A3"] == "ahead"
    assert given["B3"] in {"ahead", "left 10"}
    assert given["A1"] == "right 20"  # the first of a near wake, where beta is for the right


def test_simulate_counts_rounds_and_errors() -> None:
    options = ("simulate", *CELLS, "-n", "25", "--seed", "3", "--noise", "0.5")
    answer = as_json(*options)
    problem = ew.Problem(read_graph(CELLS[0]), read_arms(CELLS[1]).arms, noise=0.5)
    expected = ew.simulation.replicate(problem, read_matrix(CELLS[2]), repetitions=25, rng=3)
    assert [row["rounds"] for row in answer["per_run"]] == expected.rounds.tolist()
    assert answer["mean_rounds"] == expected.mean_rounds
    assert (answer["runs"], answer["certified"], answer["errors"]) == (25, 25, expected.errors)
    assert [int(row["rounds"]) for row in as_csv(*options, "--jobs", "2")] == [
        row["rounds"] for row in answer["per_run"]
    ]


def test_simulate_that_runs_out_of_rounds_ends_with_3() -> None:
    answer = as_json("simulate", *CELLS, "-n", "3", "--max-rounds", "2", exit_code=3)
    assert answer["certified"] == 0


def test_simulate_takes_strategy_rule_kinds_and_candidates() -> None:
    options = ["--strategy", "g-optimal", "--stopping", "union", "--target", "pair"]
    options += ["--epsilon", "0.5", "-n", "2", "--noise", "0.1"]
    answer = as_json("simulate", *FARM, *options, "--candidates", str(DATA / "service-road.csv"))
    assert answer["certified"] == 2
    easy = ("circle:24", "paper:2:1.5", "paper:2:1.5", "-n", "2")
    assert as_json("simulate", *easy, "--strategy", "paper")["certified"] == 2


@pytest.mark.parametrize(
    "arguments", [("design", CELLS[1]), ("allocate", *CELLS), ("simulate", *CELLS, "-n", "3")]
)
def test_figures_are_saved(arguments: tuple[str, ...], tmp_path: Path) -> None:
    result = run(*arguments, "--plot", str(tmp_path / "figure.svg"))
    assert result.exit_code == 0, result.output
    assert "figure.svg" in result.stderr
    assert (tmp_path / "figure.svg").read_text().startswith("<?xml")


def test_theory_explains_every_number() -> None:
    answer = as_json("theory", *CELLS[:2], "--matrix", CELLS[2], "--rounds", "40")
    values = {row["quantity"]: row["value"] for row in answer["numbers"]}
    graph, arms, matrix = read_graph(CELLS[0]), read_arms(CELLS[1]).arms, read_matrix(CELLS[2])
    law = ew.g_optimal(arms).weights
    assert values["m"] == 30
    assert values["variance"] == ew.theory.variance(graph, arms, law).norm
    assert values["burn_in"] == ew.theory.burn_in(arms)
    assert values["alpha_leading"] == ew.theory.alpha(graph, arms, 40, weights=law)
    assert values["sample_complexity"] == ew.theory.sample_complexity(graph, arms, matrix)
    assert values["lower_bound"] == ew.theory.lower_bound(graph, arms, matrix).rounds
    assert values["rho_independent"] == ew.theory.rho_independent(arms, matrix).value
    here = ew.theory.lower_bound(graph, arms, matrix, designs="realisable")
    assert values["rho_realisable"] == here.rho
    assert values["lower_bound_realisable"] == here.rounds
    printed = ew.theory.lower_bound(graph, arms, matrix, nats="printed")
    assert values["lower_bound_printed"] == printed.rounds
    assert values["lower_bound_ordered"] == "inf"  # the best pair has two different arms
    assert all(len(row["meaning"]) > 20 for row in answer["numbers"])
    assert len(as_csv("theory", *CELLS[:2])) == len(values) - 8


def test_demo_compares_in_every_format() -> None:
    options = ("demo", "paper", "--edges", "40", "--dimension", "3", "--omega", "1.0")
    answer = as_json(*options)
    assert answer["certified"] is True
    assert answer["best_pairs"] == [[0, 0]]
    assert {row["quantity"] for row in answer["comparison"]} == {"true global reward", "rounds"}
    assert len(as_csv(*options)) == len(answer["comparison"])
    assert "guarantee" in run(*options).stdout
    assert run(*options, "--max-rounds", "1").exit_code == 3


def test_the_demo_has_three_acts_and_a_picture(tmp_path: Path) -> None:
    picture = tmp_path / "tour.svg"
    result = run("demo", "--plot", str(picture))
    assert result.exit_code == 0
    words = " ".join(result.stdout.split())
    assert "Act 1" in words
    assert "nothing was recorded" in words  # the typo
    assert "edges of a kind have matrices of their own" in words  # the gate
    assert "the candidate is better than the baseline" in words  # the trial
    drawn = picture.read_text(encoding="utf-8")
    for panel in ("rounds to a certificate", "who gets which band", "recommended minus today"):
        assert panel in drawn


def test_the_numbers_of_the_demo_tell_its_story(tmp_path: Path) -> None:
    answer = as_json("demo", "--seed", "3", "--plot", str(tmp_path / "tour.png"))
    acts = [
        {row["what"]: row["value"] for row in answer["figures"] if row["act"] == i}
        for i in (1, 2, 3)
    ]
    rounds = sorted(acts[0].values())
    assert acts[0]["Algorithm 2 of the paper"] == rounds[-1]
    assert acts[0]["lower bound for any method"] == rounds[0]
    assert acts[1]["recommended"] > max(acts[1]["best common"], acts[1]["best seen"])
    assert acts[2]["measured gain"] > 0


def test_built_in_graphs_and_instances() -> None:
    for family, nodes in {"circle": 78, "star": 79, "complete": 13, "matching": 156}.items():
        answer = as_json("allocate", f"{family}:156", "paper:5:0.1", "paper:5")
        assert len(answer["nodes"]) == nodes
        assert answer["value"] == 312.0
        assert {row["arm"] for row in answer["nodes"]} == {"e1"}


def test_long_tables_are_shortened_for_people_only() -> None:
    arguments = ("allocate", "circle:400", "paper:2:0.5", "paper:2:0.5")
    result = run(*arguments)
    assert "40 of 200 nodes shown" in result.stderr
    assert len(result.stdout.splitlines()) < 60
    assert len(as_csv(*arguments)) == 200


def test_demo_wind_grades_its_answer_and_draws_the_farm(tmp_path: Path) -> None:
    picture, layout = tmp_path / "farm.svg", tmp_path / "row.csv"
    layout.write_text("x,y\n0,0\n880,0\n1760,0\n")
    small = ("--layout", str(layout), "--direction", "273", "--rounds", "30", "--noise", "0.05")
    answer = as_json("demo", "wind", *small, "--plot", str(picture))
    gains = ("gain", "optimiser_gain", "share", "expected_gain", "measured_gain")
    assert all(answer[name] > 0.0 for name in gains)
    assert answer["share"] == pytest.approx(answer["gain"] / answer["optimiser_gain"])
    low, high = answer["expected_gain_interval"]
    assert low < answer["expected_gain"] < high
    assert answer["exploring_lowest"] < answer["exploring_mean"]
    names = [row["setting"] for row in answer["settings"]]
    assert names == ["zero yaw", "edgewise", "additive regression", "CMA-ES", "FLORIS optimiser"]
    assert answer["confirmed"]
    assert b"<svg" in picture.read_bytes()


def test_demo_cells_grades_its_answer_and_draws_the_network(tmp_path: Path) -> None:
    picture = tmp_path / "cells.svg"
    small = ("--layout-seed", "3", "--sites", "2", "--rounds", "8", "--users", "300")
    answer = as_json("demo", "cells", *small, "--plot", str(picture))
    assert answer["share"] == pytest.approx(answer["gain"] / answer["ceiling"])
    assert answer["ceiling"] > 0.0
    assert answer["exploring_lowest"] <= answer["exploring_mean"]
    assert {"hill_climbing_gain", "cma_es_gain"} <= set(answer)
    rows = {row["setting"]: row["mbit_s"] for row in answer["settings"]}
    assert rows["best common tilt"] * (1.0 + answer["gain"]) == pytest.approx(rows["edgewise"])
    assert len(answer["weak_users"]) == 2
    assert b"<svg" in picture.read_bytes()


def test_demo_cells_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    crowded = tmp_path / "crowded.csv"
    crowded.write_text("site,x,y,height,azimuth\na,0,0,30,0\nb,0,0,30,90\n")
    for wrong, said in (
        (("--layout", str(crowded)), "crowded.csv: sites a and b stand 0.0 m apart, on one spot"),
        (("--hot-spots", str(crowded)), "pass --layout"),
        (("--layout", str(tmp_path / "none.csv")), "none.csv"),
        (("--error", "-1"), "at least 0"),
        (("--rounds", "1"), "rounds"),
    ):
        result = run("demo", "cells", "--sites", "2", *wrong)
        assert result.exit_code == 2, result.output
        assert said in result.stderr


def test_demo_wind_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    crowded = tmp_path / "crowded.csv"
    crowded.write_text("x,y\n0,0\n100,0\n")
    for wrong, said in (
        (("--layout", str(crowded)), "crowded.csv: turbines 0 (at 0, 0) and 1 (at 100, 0) stand"),
        (("--layout", "sideways"), "regular, random, or a file"),
        (("--wake", "jansen"), "jensen"),
        (("--speed", "-1"), "above 0"),
        (("--noise", "-1"), "at least 0"),
        (("--rounds", "1"), "rounds"),
    ):
        result = run("demo", "wind", "--turbines", "4", *wrong)
        assert result.exit_code == 2, result.output
        assert said in result.stderr

"""Trials through the REST interface and the pages."""

from __future__ import annotations

import numpy as np
import pytest
from fastapi.testclient import TestClient
from tests.unit.service.conftest import BASE, ROOT
from tests.unit.service.test_rest import detail

import edgewise as ew
from edgewise.formats import read_matrix
from edgewise.study import Study

CELLS = "/api/v1/studies/cells"


@pytest.fixture
def network(study: Study) -> ew.BilinearEnvironment:
    """The study is certified; the network is there for the trial."""
    matrix = read_matrix(ROOT / "examples/data/matrix.csv")
    found = ew.BilinearEnvironment(study.problem, matrix, rng=3)
    while not study.stopped:
        ticket = study.ask()
        study.tell(ticket, found(ticket.arms))
    return found


def total(
    study: Study, network: ew.BilinearEnvironment, ticket: dict[str, list[dict[str, str]]]
) -> float:
    labels = list(study.problem.arm_labels or ())
    return float(network(np.array([labels.index(row["arm"]) for row in ticket["nodes"]])).sum())


def test_a_trial_confirms_the_answer(
    client: TestClient, study: Study, network: ew.BilinearEnvironment
) -> None:
    assert detail(client.get(f"{CELLS}/trial"), 404)
    begun = client.post(f"{CELLS}/confirm", json={"baseline": "low", "max_pairs": 30, "seed": 1})
    assert begun.status_code == 201, begun.text
    listed = client.get("/api/v1/studies").json()["list"][0]
    assert (listed["state"], listed["pending"], listed["missing"]) == ("in trial", "T1-1.1", 1)
    assert listed["since"] is not None
    while client.get(f"{CELLS}/trial").json()["trial"] == "running":
        ticket = client.post(f"{CELLS}/ask").json()
        assert ticket["round"].startswith("T1-")
        assert client.get(f"{CELLS}/rounds/{ticket['round']}").json() == ticket
        figure = total(study, network, ticket)
        told = client.post(f"{CELLS}/rounds/{ticket['round']}/tell?total={figure!r}")
        assert told.status_code == 200, told.text
    found = client.get(f"{CELLS}/trial").json()
    assert (found["trial"], found["trial_winner"]) == ("better", "recommended")
    assert found["trial_low"] > 0
    assert client.get("/api/v1/studies").json()["list"][0]["state"] == "confirmed"
    chart = client.get("/studies/cells/charts/trial").json()
    assert [trace["name"] for trace in chart["traces"]][2:] == [
        "mean difference",
        "pairs",
        "no difference",
    ]


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"baseline": "loww"}, "no arm is called 'loww'"),
        ({"baseline": {"harbour": "low"}}, "has no arm for node"),
        ({"baseline": {"harbor": "low"}}, "no node is called 'harbor'"),
        ({}, "baseline"),
        ({"baseline": "low", "delta": 2}, "delta"),
    ],
)
def test_what_is_no_baseline(
    client: TestClient, study: Study, network: ew.BilinearEnvironment, about: object, words: str
) -> None:
    before = len(list(study.log()))
    assert words in detail(client.post(f"{CELLS}/confirm", json=about), 422)
    assert len(list(study.log())) == before


def test_a_trial_on_the_page(
    client: TestClient, study: Study, network: ew.BilinearEnvironment
) -> None:
    own = {"Origin": BASE}
    front = client.get("/studies/cells").text
    assert 'id="confirm"' in front
    assert "/studies/cells/charts/rivals" in front
    figure = client.get("/studies/cells/charts/rivals").json()
    assert len(figure["traces"]) >= 2
    assert "standard errors behind" in figure["yTitle"]
    page = client.post("/studies/cells/confirm", data={"arm": "low"}, headers=own)
    assert "Round T1-1.1 of the trial is out" in page.text
    assert "in trial" in client.get("/").text
    assert "round T1-1.1 of the trial, handed out" in " ".join(client.get("/").text.split())
    told = {"round": "T1-1.1", "total": "12.5"}
    assert "Round T1-1.2" in client.post("/studies/cells/tell", data=told, headers=own).text
    wrong = client.post(
        "/studies/cells/tell", data={"round": "T1-1.2", "total": "much"}, headers=own
    )
    assert wrong.status_code == 422
    assert "Total is &#39;much&#39;; it must be a number" in wrong.text
    again = client.post("/studies/cells/cancel", data={"round": "T1-1.2"}, headers=own)
    assert "Round T1-1.1-2" in again.text
    over = client.post("/studies/cells/end-trial", headers=own)
    assert "The trial is over" in over.text
    assert "ended by hand" in over.text
    client.post(
        "/studies/cells/confirm", files={"file": ("b.csv", b"node,arm\nharbour,low\n")}, headers=own
    )
    assert len(study.now().cursor.state.trials) == 1

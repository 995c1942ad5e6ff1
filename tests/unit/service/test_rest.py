"""Every verb of a study through the REST interface, with the answers of the command line."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from tests.unit.service.network import rows

import edgewise as ew
from edgewise.formats.output import as_json
from edgewise.study import Study
from edgewise.study.views.outputs import status_output, ticket_output

CELLS = "/api/v1/studies/cells"


def full_round(study: Study, value: float = 0.5) -> list[dict[str, Any]]:
    labels = study.problem.graph.labels
    arcs = study.problem.graph.arcs.tolist()
    return [
        {"source": labels[i], "target": labels[j], "reward": value + 0.01 * k}
        for k, (i, j) in enumerate(arcs)
    ]


def detail(response: Response, status: int) -> str:
    """What a refusal says; it is a problem, whole and without a traceback."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert problem["type"].startswith("urn:edgewise:problem:")
    assert "Traceback" not in response.text
    return str(problem["detail"])


def test_a_round_from_ask_to_tell(client: TestClient, study: Study) -> None:
    ticket = client.post(f"{CELLS}/ask").json()
    assert ticket["round"] == "1"
    assert [row["node"] for row in ticket["nodes"]] == list(study.problem.graph.labels)
    some, rest = full_round(study)[:27], full_round(study)[27:]
    told = client.post(f"{CELLS}/rounds/1/tell", json={"round": "1", "measurements": some}).json()
    assert (told["pending"], told["missing"], len(told["lacking"])) == ("1", 3, 3)
    told = client.post(f"{CELLS}/rounds/1/tell", json=rest).json()
    assert (told["rounds"], told["pending"]) == (1, None)
    assert study.status().rounds == 1


def test_answers_are_those_of_the_command_line(client: TestClient, study: Study) -> None:
    asked = client.post(f"{CELLS}/ask")
    assert asked.text == as_json(ticket_output(study.ask()))
    assert client.get(CELLS).text == as_json(status_output(study.status(), study.problem))


def test_asking_and_telling_twice_is_harmless(client: TestClient, study: Study) -> None:
    first, second = client.post(f"{CELLS}/ask"), client.post(f"{CELLS}/ask")
    assert first.text == second.text
    for _ in range(2):
        told = client.post(f"{CELLS}/rounds/1/tell", json=full_round(study))
        assert told.status_code == 200
    assert len(list(study.log())) == 3


def test_csv_in_and_out(client: TestClient, study: Study) -> None:
    csv = client.post(f"{CELLS}/ask", headers={"Accept": "text/csv"})
    assert csv.headers["content-type"].startswith("text/csv")
    assert [row["node"] for row in rows(csv.text)] == list(study.problem.graph.labels)
    line = "round,source,target,reward\n1,harbour,station,0.25\n1,station,harbour,\n"
    client.post(f"{CELLS}/rounds/1/tell", content=line).raise_for_status()
    record = rows(client.get(f"{CELLS}/rounds/1/rewards?format=csv").text)
    assert record[0] == {"round": "1", "source": "harbour", "target": "station", "reward": "0.25"}
    lacking = rows(client.get(f"{CELLS}?format=csv").text)
    assert len(lacking) == 29


def test_errors_name_the_line_and_change_nothing(client: TestClient, study: Study) -> None:
    client.post(f"{CELLS}/ask")
    wrong = "source,target,reward\nharbour,station,0.5\nharbour,stattion,0.5\n"
    said = detail(client.post(f"{CELLS}/rounds/1/tell", content=wrong), 422)
    assert "line 3" in said
    assert "stattion" in said
    assert study.status().missing == 30
    said = detail(client.post(f"{CELLS}/rounds/2/tell", json=full_round(study)), 409)
    assert "round 2 was not asked for" in said
    assert "POST .../ask" in said
    other = {"round": "7", "measurements": full_round(study)}
    assert "say round 7" in detail(client.post(f"{CELLS}/rounds/1/tell", json=other), 409)
    assert len(list(study.log())) == 2


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff\xfe", b"[" * 100_000, b'{"measurements": 3}', b"a;b\n1;2\n", b"[1]", b"9" * 5000,
     b'[{"source": "harbour", "target": "station", "reward": 1' + b"0" * 5000 + b"}]",
     b"source,target,reward\nharbour,station,inf\n"],
)  # fmt: skip
def test_bodies_that_are_no_measurements(client: TestClient, study: Study, body: bytes) -> None:
    client.post(f"{CELLS}/ask")
    assert detail(client.post(f"{CELLS}/rounds/1/tell", content=body), 422)
    assert study.status().missing == 30


def test_close_and_correct(client: TestClient, study: Study) -> None:
    client.post(f"{CELLS}/ask")
    client.post(f"{CELLS}/rounds/1/tell", json=full_round(study)[:-2])
    assert client.post(f"{CELLS}/rounds/1/close").json()["rounds"] == 1
    late = full_round(study, 0.5)[-2:]
    assert "late" in detail(client.post(f"{CELLS}/rounds/1/tell", json=late), 422)
    assert client.post(f"{CELLS}/rounds/1/correct", json=late).status_code == 200
    assert not np.isnan(study.rewards("1")).any()


def test_cancel_hands_out_the_same_under_a_new_key(client: TestClient, study: Study) -> None:
    before = client.post(f"{CELLS}/ask").json()
    assert client.post(f"{CELLS}/rounds/1/cancel").json()["pending"] is None
    again = client.post(f"{CELLS}/ask").json()
    assert again["round"] == "1.2"
    assert [row["arm"] for row in again["nodes"]] == [row["arm"] for row in before["nodes"]]
    said = detail(client.post(f"{CELLS}/rounds/1/tell", json=full_round(study)), 409)
    assert "was cancelled" in said


def test_extend_goes_on_after_the_stop(client: TestClient, study: Study) -> None:
    environment = ew.BilinearEnvironment(study.problem, np.diag([1.0, 0.2, 0.1]), rng=3)
    while not study.stopped:
        ticket = study.ask()
        study.tell(ticket, environment(ticket.arms))
    said = detail(client.post(f"{CELLS}/ask"), 409)
    assert 'POST .../extend with {"rounds": ...}' in said
    assert detail(client.post(f"{CELLS}/extend", json={}), 422)
    assert detail(client.post(f"{CELLS}/extend", json={"rounds": -1}), 422)
    assert client.post(f"{CELLS}/extend", json={"rounds": 2}).json()["ending"] == "running"
    assert client.post(f"{CELLS}/ask").status_code == 200
    answer = client.get(f"{CELLS}/recommendation").json()
    assert len(answer["nodes"]) == 10
    report = client.get(f"{CELLS}/report").json()
    assert report["configurations"][0]["value"] == pytest.approx(answer["value"])
    history = client.get(f"{CELLS}/history").json()["rounds"]
    assert [row["round"] for row in history] == list(range(1, study.status().rounds + 1))


def test_create_list_and_location(client: TestClient) -> None:
    described = {
        "name": "a/b ~ <script>",
        "graph": {"edges": [["north", "hub"], ["south", "hub"]]},
        "arms": {"low": [1.0, 0.0], "high": [0.0, 1.0]},
        "noise": 0.1,
    }
    made = client.post("/api/v1/studies", json=described)
    assert made.status_code == 201, made.text
    place = made.headers["location"]
    assert client.get(place).json()["study"] == described["name"]
    listed = client.get("/api/v1/studies").json()
    assert [(row["study"], row["state"]) for row in listed["list"]] == [
        (described["name"], "ready")
    ]
    said = detail(client.post("/api/v1/studies", json=described), 409)
    assert "already" in said
    client.post(f"{place}/ask").raise_for_status()
    row = client.get("/api/v1/studies").json()["list"][0]
    assert (row["state"], row["pending"], row["missing"]) == ("waiting", "1", 4)
    assert math.isfinite(row["since"])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"graph": "/etc/passwd"}, "was not sent along"),
        ({"arms": "../arms.csv"}, "was not sent along"),
        ({"storage": "sqlite:///other.db"}, "its own storage"),
        ({"noise": None}, "noise"),
        ({"name": None}, "name"),
        ({"colour": 1}, "there is no key 'colour'"),
        ({"graph": {"edges": [["north", "north"]]}}, "itself"),
    ],
)
def test_descriptions_that_are_refused(
    client: TestClient, changes: dict[str, Any], words: str
) -> None:
    described: dict[str, Any] = {
        "name": "new",
        "graph": {"edges": [["north", "hub"]]},
        "arms": {"low": [1.0, 0.0], "high": [0.0, 1.0]},
        "noise": 0.1,
    }
    said = detail(client.post("/api/v1/studies", json={**described, **changes}), 422)
    assert words in said
    assert client.get("/api/v1/studies").json()["studies"] == 0


def test_toml_is_read_with_its_lines(client: TestClient) -> None:
    text = 'name = "x"\nnoise = true\n[graph]\nedges = [["a", "b"]]\n[arms]\nlow = [1.0]\n'
    toml = {"Content-Type": "application/toml"}
    said = detail(client.post("/api/v1/studies", content=text, headers=toml), 422)
    assert "line 2" in said


def test_export_and_import(client: TestClient, study: Study) -> None:
    client.post(f"{CELLS}/ask")
    client.post(f"{CELLS}/rounds/1/tell", json=full_round(study))
    export = client.get(f"{CELLS}/export")
    assert json.loads(export.text.splitlines()[0])["name"] == "cells"
    made = client.post("/api/v1/studies/import?name=copy", content=export.content)
    assert made.status_code == 201
    assert made.json() | {"study": "cells"} == client.get(CELLS).json()
    assert detail(client.post("/api/v1/studies/import", content=export.content), 409)
    broken = export.content.splitlines()[0]
    said = detail(client.post("/api/v1/studies/import?name=c2", content=broken), 422)
    assert "nothing was imported" in said
    assert "/tmp" not in said


def test_remodel(client: TestClient, study: Study) -> None:
    study.extend(rounds=3)
    for _ in range(3):
        ticket = study.ask()
        study.tell(ticket, np.arange(30) / 10)
    made = client.post(f"{CELLS}/remodel", json={"name": "levels", "levels": "channel"})
    assert made.status_code == 201, made.text
    assert made.json()["remodelled_from"] == "cells"
    assert detail(client.post(f"{CELLS}/remodel", json={"name": "other"}), 422)


def test_the_log_is_read_from_its_end(client: TestClient, study: Study) -> None:
    study.extend(rounds=4)
    for _ in range(4):
        ticket = study.ask()
        study.tell(ticket, {("harbour", "station"): 1.0})
        study.tell(ticket, np.linspace(1.0, 2.0, 30))
    everything = client.get(f"{CELLS}/log").json()
    assert everything["events"] == 14
    texts = [row["what"] for row in everything["log"]]
    assert texts[0] == "study created"
    assert "1 measurement told, 29 missing" in texts[3]
    some = client.get(f"{CELLS}/log?last=2&before=6").json()["log"]
    assert [row["event"] for row in some] == [4, 5]
    assert [row["what"] for row in some] == texts[3:5]


def test_openapi_describes_every_verb(client: TestClient, study: Study) -> None:
    described = client.get("/api/v1/openapi.json").json()
    verbs = {path.rpartition("/")[2] for path in described["paths"]}
    wanted = "ask tell close cancel correct extend remodel recommendation report history log export"
    planned = "add copy rename predict explain pairs-needed"
    assert {*wanted.split(), *planned.split()} | {"rewards", "import", "studies", "events"} <= verbs
    assert "delete" in described["paths"]["/api/v1/studies/{study}"]
    assert all(path.startswith("/api/v1/") for path in described["paths"])
    page = client.get("/nothing-here")
    assert page.status_code == 404
    assert detail(client.get("/api/v1/nothing"), 404)


def test_answers_have_the_fields_that_openapi_promises(client: TestClient, study: Study) -> None:
    client.post(f"{CELLS}/ask")
    client.post(f"{CELLS}/rounds/1/tell", json=full_round(study))
    assert client.post(f"{CELLS}/confirm", json={"baseline": "low"}).status_code == 201
    described = client.get("/api/v1/openapi.json").json()
    for path, operations in described["paths"].items():
        if "get" not in operations or path.endswith(("events", "export", "explain")):
            continue
        schema = operations["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        promised = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        found = client.get(path.format(study="cells", round="1"))
        assert found.status_code == 200, found.text
        assert set(promised["required"]) <= set(found.json()), path


def test_unknown_studies_and_rounds(client: TestClient, study: Study, tmp_path: Path) -> None:
    said = detail(client.get("/api/v1/studies/nobody"), 404)
    assert "'nobody'" in said
    assert detail(client.get(f"{CELLS}/rounds/1"), 404)
    assert detail(client.get(f"{CELLS}/rounds/one"), 404)
    assert detail(client.get("/api/v1/studies/nobody/events"), 404)


def test_an_unlikely_value_is_recorded_on_demand_only(client: TestClient, study: Study) -> None:
    client.post(f"{CELLS}/ask")
    wild = [
        {**row, "reward": 1e6 if k == 3 else row["reward"]}
        for k, row in enumerate(full_round(study))
    ]
    said = detail(client.post(f"{CELLS}/rounds/1/tell", json=wild), 422)
    assert "POST .../tell?accept_outliers=true" in said
    assert study.status().missing == 30
    told = client.post(f"{CELLS}/rounds/1/tell?accept_outliers=true", json=wild)
    assert told.json()["rounds"] == 1

"""Add, copy, rename, delete and plan, for programs and on pages."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from tests.unit.service.conftest import BASE
from tests.unit.service.test_live import first
from tests.unit.service.test_rest import CELLS, detail, full_round

from edgewise.service.desk import Desk
from edgewise.service.watch import Watch
from edgewise.study import MemoryStorage, Study
from edgewise.study.log.cursor import begin_log

PAGE = "/studies/cells"


def deployed(study: Study, *arms: Any) -> dict[str, Any]:
    return {
        "source": "2025",
        "rounds": [{"arms": one, "rewards": full_round(study, 0.4)} for one in arms],
    }


def several(study: Study, rounds: int) -> None:
    rng = np.random.default_rng(7)
    study.extend(rounds=rounds)
    for _ in range(rounds):
        study.tell(study.ask(), rng.normal(1.0, 0.1, 30))


def test_rounds_from_outside_are_added_once(client: TestClient, study: Study) -> None:
    nodes = {str(label): "high" for label in study.problem.graph.labels}
    body = deployed(study, "low", nodes)
    for _ in range(2):
        added = client.post(f"{CELLS}/add", json=body)
        assert added.status_code == 200, added.text
        assert added.json()["rounds"] == 2
    assert study.history().totals == pytest.approx(
        [sum(r["reward"] for r in full_round(study, 0.4))] * 2
    )
    log = [row["what"] for row in client.get(f"{CELLS}/log").json()["log"]]
    assert sum("2025" in what for what in log) == 2  # one a round


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"arms": "loud"}, "configuration of round 1: no arm is called 'loud'"),
        ({"arms": {"harbour": "low"}}, "has no arm for node"),
        ({"arms": {"nobody": "low"}}, "no node is called 'nobody'"),
        ({"rewards": [{"source": "harbour", "target": "moon", "reward": 1.0}]}, "'moon'"),
        ({"rewards": [{"source": "harbour", "target": "station", "reward": "1_0"}]}, "finite"),
        ({"rewards": []}, "rewards"),
        ({"colour": 1}, "colour"),
    ],
)
def test_rounds_that_are_wrong_are_not_added(
    client: TestClient, study: Study, change: dict[str, Any], words: str
) -> None:
    body = deployed(study, "low", "low")
    body["rounds"][0] |= change
    assert words in detail(client.post(f"{CELLS}/add", json=body), 422)
    assert len(list(study.log())) == 1


def test_a_copy_asks_something_else_of_the_same_rounds(client: TestClient, study: Study) -> None:
    several(study, 3)
    made = client.post(f"{CELLS}/copy", json={"name": "strict", "delta": 0.001})
    assert made.status_code == 201, made.text
    assert made.headers["location"] == "/api/v1/studies/strict"
    assert made.json()["rounds"] == 3
    assert made.json()["delta"] == 0.001
    assert client.get(CELLS).json()["delta"] == 0.05
    same = client.post(f"{CELLS}/copy", json={"name": "same"}).json()
    assert same | {"study": "cells"} == client.get(CELLS).json()
    assert detail(client.post(f"{CELLS}/copy", json={"name": "same"}), 409)
    assert detail(client.post(f"{CELLS}/copy", json={"name": "x", "strategy": "magic"}), 422)
    assert detail(client.post(f"{CELLS}/copy", json={"name": "\u202e"}), 422)
    assert client.get("/api/v1/studies").json()["studies"] == 3


def test_a_renamed_study_is_found_under_its_new_name_only(client: TestClient, study: Study) -> None:
    client.get(CELLS)
    renamed = client.post(f"{CELLS}/rename", json={"name": "a/b"})
    assert renamed.json()["study"] == "a/b"
    assert client.get(renamed.headers["location"]).json()["study"] == "a/b"
    for verb, path in (("GET", ""), ("POST", "/ask"), ("POST", "/copy"), ("DELETE", "")):
        assert detail(client.request(verb, CELLS + path, json={"name": "x"}), 404)
    assert client.post("/api/v1/studies/a~2Fb/ask").status_code == 200
    client.post("/api/v1/studies/a~2Fb/copy", json={"name": "other"})
    assert detail(client.post("/api/v1/studies/other/rename", json={"name": "a/b"}), 409)
    assert [row["study"] for row in client.get("/api/v1/studies").json()["list"]] == [
        "a/b",
        "other",
    ]


def test_a_deleted_study_is_gone(client: TestClient, study: Study) -> None:
    several(study, 2)
    assert client.delete(CELLS).json() == {"deleted": "cells", "rounds": 2, "studies": []}
    assert detail(client.delete(CELLS), 404)
    assert detail(client.get(CELLS), 404)
    assert client.get("/api/v1/studies").json()["studies"] == 0


def test_a_study_created_anew_elsewhere_is_noticed(
    client: TestClient, study: Study, storage: MemoryStorage
) -> None:
    several(study, 2)
    client.get(CELLS).raise_for_status()
    storage.delete("cells")
    cursor = study.seen.cursor
    with storage.creating("cells") as journal:
        journal.append(begin_log(cursor.base, cursor.created, 2e9)[0])
    assert "look at it again" in detail(client.post(f"{CELLS}/ask"), 409)
    assert client.get(CELLS).json()["rounds"] == 0
    assert client.post(f"{CELLS}/ask").json()["round"] == "1"


def test_live_updates_survive_a_deleted_study(storage: MemoryStorage, study: Study) -> None:
    study.copy("other")

    async def listen() -> list[list[str]]:
        watch = Watch(Desk(storage), most=9, interval=0.01)
        listeners = [asyncio.create_task(first(watch, name, None)) for name in ("cells", "other")]
        await asyncio.sleep(0.1)
        study.delete()
        await asyncio.wait_for(listeners[0], 10)
        Study.load("other", storage=storage).ask()
        return await asyncio.wait_for(asyncio.gather(*listeners), 10)

    gone, other = asyncio.run(listen())
    assert gone[-1] == "event: change\nid: 0\ndata: 0\n\n"
    assert other[-1] == "event: change\nid: 2\ndata: 2\n\n"


def test_predictions_are_those_of_the_study(client: TestClient, study: Study) -> None:
    assert detail(client.get(f"{CELLS}/explain?node=harbour"), 422)
    several(study, 30)
    found = client.post(f"{CELLS}/predict", json={"arms": "low"}).json()
    expected = study.predict(dict.fromkeys(study.problem.graph.labels, "low"))
    assert (found["value"], found["deviation"]) == (expected.value, expected.deviation)
    both = client.post(f"{CELLS}/predict", json={"arms": "low", "against": "low"}).json()
    assert both["value"] == pytest.approx(0.0)
    assert "no arm is called 'loud'" in detail(
        client.post(f"{CELLS}/predict", json={"arms": "loud"}), 422
    )
    why = client.get(f"{CELLS}/explain?node=harbour").json()
    assert (why["node"], why["arm"]) == ("harbour", study.explain("harbour").arm)
    assert detail(client.get(f"{CELLS}/explain?node=moon"), 422)
    needed = client.post(f"{CELLS}/pairs-needed", json={"baseline": "low", "difference": 1.0})
    assert needed.json()["expected"] > 0
    assert len(list(study.log())) == 62


def test_pages_add_copy_rename_and_delete(client: TestClient, study: Study) -> None:
    client.headers["Origin"] = BASE
    nodes = study.problem.graph.labels
    arms = "node,arm\n" + "".join(f"{node},low\n" for node in nodes)
    told = "source,target,reward\n" + "".join(
        f"{row['source']},{row['target']},{row['reward']}\n" for row in full_round(study)
    )
    files = {"configurations": ("a.csv", arms), "measurements": ("b.csv", told)}
    wrong = {
        **files,
        "measurements": ("b.csv", "round,source,target,reward\n7,harbour,station,1\n"),
    }
    refused = client.post(f"{PAGE}/add", files=wrong)
    assert refused.status_code == 422
    assert "do not name the same rounds" in refused.text
    assert "/tmp" not in refused.text
    assert "as a phase of their own" in client.post(f"{PAGE}/add", files=files).text
    assert study.status().rounds == 1
    assert (
        "This is the copy" in client.post(f"{PAGE}/copy", data={"new": "<b>", "delta": "0.2"}).text
    )
    assert client.get("/api/v1/studies/~3Cb~3E").json()["delta"] == 0.2
    assert "already" in client.post(f"{PAGE}/rename", data={"new": "<b>"}).text
    assert "new name" in client.post(f"{PAGE}/rename", data={"new": "towers"}).text
    assert (
        "nothing was deleted" in client.post("/studies/towers/delete", data={"typed": "tower"}).text
    )
    gone = client.post("/studies/towers/delete", data={"typed": "towers"})
    assert "The study is deleted" in gone.text
    assert client.get("/studies/towers").status_code == 404

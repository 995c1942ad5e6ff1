"""Two thousand requests nobody foresaw: none breaks the server, none refused leaves a trace."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from tests.unit.service.conftest import ACCESS, BASE, WRITE

import edgewise as ew
from edgewise.service import Limits, create_app
from edgewise.study import MemoryStorage, Study

REQUESTS = 2000
LABELS = ["a", "b", "c"]
PARTS = ["ask", "extend", "remodel", "log", "report", "history", "export", "recommendation",
         "events", "rounds/1/tell", "rounds/2/tell", "rounds/1/correct", "rounds/2/close",
         "rounds/2/cancel", "rounds/1/rewards", "rounds/2", "rounds/0/tell", "rounds/-1/correct",
         "rounds/1.2/tell", "rounds/9999999999999999999999/correct", "charts/network?show=x",
         "confirm", "trial", "trial/end", "rounds/T1-1.1/tell?total=1",
         "rounds/T1-1.1/tell?total=inf", "rounds/T1-1.2/tell", "rounds/T1-1.1/cancel", "end-trial",
         "charts/trial", "charts/evidence", "charts/rivals", "rounds/\u0661/tell",
         "rounds/2\u00b2/close"]  # fmt: skip

texts = st.one_of(st.text(max_size=12), st.sampled_from([*LABELS, "", "2", "nan", "1e400", "\x00"]))
numbers = st.one_of(
    st.integers(), st.floats(), st.just(10**400), st.booleans(), st.none(), texts, st.just([])
)
trees: SearchStrategy[Any] = st.recursive(
    numbers,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=8,
)


@st.composite
def measurements(draw: DrawFn) -> bytes:
    names = st.one_of(st.sampled_from(LABELS), texts)
    rows = [
        {"source": draw(names), "target": draw(names), "reward": draw(numbers)}
        for _ in range(draw(st.integers(0, 4)))
    ]
    if draw(st.booleans()):
        tree = {"round": draw(numbers), "measurements": rows} if draw(st.booleans()) else rows
        return json.dumps(tree).encode()
    lines = [",".join(str(cell) for cell in row.values()) for row in rows]
    head = draw(st.sampled_from(["source,target,reward", "u,v,value,round", "a", ""]))
    return "\n".join([head, *lines]).encode(errors="replace")


@st.composite
def descriptions(draw: DrawFn) -> bytes:
    """A study that is right but for some of its keys."""
    tree: dict[str, Any] = {
        "name": draw(texts),
        "graph": {"edges": [["a", "b"], ["b", "c"]]},
        "arms": {"low": [1.0, 0.0], "high": [0.0, 1.0]},
        "noise": 0.5,
    }
    keys = ["name", "graph", "arms", "noise", "delta", "epsilon", "target", "strategy", "levels",
            "stopping", "max_rounds", "seed", "measured", "pooling", "candidates", "node_kinds",
            "node_term", "covariates", "own_term", "average", "project"]  # fmt: skip
    for key in draw(st.lists(st.sampled_from(keys), max_size=3)):
        tree[key] = draw(trees)
    return json.dumps(tree).encode()


@st.composite
def requests(draw: DrawFn) -> dict[str, Any]:
    study = draw(st.sampled_from(["s", "s", "s", "s", "nobody", "~", "~F", "%00", "s/.."]))
    part = draw(st.sampled_from(PARTS))
    paths = [
        *[f"/api/v1/studies/{study}/{part}"] * 4, *["/api/v1/studies"] * 2, "/",
        "/api/v1/studies/import", f"/studies/{study}/{part}", f"/studies/{study}", "/new",
        f"/studies/{study}/{part.rpartition('/')[2]}", "/import", "/compare?study=s&study=s",
        "/sign-in", "/static/../app.py",
    ]  # fmt: skip
    path = draw(st.sampled_from(paths))
    body = draw(
        st.one_of(
            measurements(),
            descriptions(),
            trees.map(lambda tree: json.dumps(tree).encode()),
            st.binary(max_size=40),
            st.sampled_from(
                [b'{"rounds": 1}', b'{"delta": 0.01}', b'{"name": "n", "levels": true}']
            ),
        )
    )
    kinds = ["application/json", "text/csv", "application/toml", "multipart/form-data",
             "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
             ""]  # fmt: skip
    query = draw(st.one_of(st.just({}), st.dictionaries(
        st.sampled_from(["format", "last", "before", "name", "show", "done", "after"]), texts,
        max_size=2)))  # fmt: skip
    return {
        "method": draw(st.sampled_from(["POST", "POST", "POST", "GET", "PUT", "DELETE", "HEAD"])),
        "url": path,
        "content": body,
        **({"params": query} if query else {}),
        "headers": {
            "Content-Type": draw(st.sampled_from(kinds)),
            "Accept": draw(st.sampled_from(["*/*", "text/csv", "text/html", ";;"])),
        },
    }


@pytest.fixture(scope="module")
def server() -> tuple[TestClient, MemoryStorage]:
    storage = MemoryStorage()
    graph = ew.Graph.from_edges([("a", "b"), ("b", "c")])
    problem = ew.Problem(graph, np.eye(2), noise=0.5, arm_labels=["low", "high"])
    study = Study.create("s", problem, storage=storage, delta=1e-9, rng=0)
    study.extend(rounds=10**6)
    study.tell(study.ask(), [1.0, 0.5, 0.25, 0.125])
    study.ask()
    app = create_app(storage, ACCESS, limits=Limits(streams=0, rate=1e9, burst=1e9))
    client = TestClient(app, base_url=BASE, headers={"Authorization": f"Bearer {WRITE}"})
    return client, storage


def marks(storage: MemoryStorage) -> dict[str, int]:
    return {name: len(log.entries) for name, log in storage._logs.items()}


def test_nothing_unforeseen_breaks_it(server: tuple[TestClient, MemoryStorage]) -> None:
    client, storage = server
    answered: list[int] = []

    @settings(max_examples=REQUESTS, suppress_health_check=list(HealthCheck))
    @given(requests())
    def one(request: dict[str, Any]) -> None:
        before = marks(storage)
        response = client.request(**request, follow_redirects=False)
        answered.append(response.status_code)
        assert response.status_code < 500, response.text
        assert "Traceback" not in response.text
        if response.status_code >= 400 or request["method"] in ("GET", "HEAD"):
            assert marks(storage) == before

    one()
    assert len(answered) >= REQUESTS
    assert {200, 404, 405, 422} <= set(answered), sorted(set(answered))

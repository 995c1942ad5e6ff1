"""What takes bytes from outside: every reader and codec, and ``tell``. Each may refuse in words."""

from __future__ import annotations

import json
import tempfile
import warnings
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import edgewise as ew
from edgewise.errors import EdgewiseError
from edgewise.formats import (
    parse_rewards,
    read_arms,
    read_candidates,
    read_graph,
    read_joint_arm,
    read_matrix,
    read_node_kinds,
    read_node_term,
)
from edgewise.study.files.config import read_config
from edgewise.study.log.chain import unsealed
from edgewise.study.log.codec import pack, unpack
from edgewise.study.log.snapshot import snapshot_of, state_of
from edgewise.study.storage.secrets import masked

CORPUS = Path(__file__).with_name("corpus")
_NAMES: dict[str, Any] = {"nodes": ["a", "b", "c"], "arms": ["low", "high"]}


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="edgewise-fuzz-"))


@cache
def problem() -> ew.Problem:
    """A small network."""
    graph = ew.Graph.from_edges([("a", "b"), ("b", "c")])
    return ew.Problem(graph, np.eye(2), noise=0.5, arm_labels=["low", "high"])


@cache
def _study() -> ew.Study:
    study = ew.Study.create("fuzz", problem(), delta=1e-300, rng=0)
    for _ in range(3):
        study.tell(study.ask(), np.zeros(4))
    study.ask()
    return study


def _reading(ending: str, reader: Callable[..., Any], **options: Any) -> Callable[[bytes], None]:
    def target(data: bytes) -> None:
        file = _folder() / f"x{ending}"
        file.write_bytes(data)
        reader(file, **options)

    return target


def _rewards(data: bytes) -> None:
    parse_rewards("x", data.decode("utf-8", errors="replace"), problem())


def _entry(data: bytes) -> None:
    """An entry whose own checksum is right: the damage is inside."""
    _, body = unsealed(data)
    inside = body[4:]
    unpack(zlib.crc32(inside).to_bytes(4, "little") + inside)


def _state(data: bytes) -> None:
    inside = data[4:]
    base = _study()._session.cursor.base
    state_of(base, zlib.crc32(inside).to_bytes(4, "little") + inside)


def _imported(data: bytes) -> None:
    file = _folder() / "x.jsonl"
    file.write_bytes(data)
    ew.Study.from_export(file)


def _told(data: bytes) -> None:
    """Whatever JSON can say, told as rewards; the study must be as it was if it is refused."""
    study = _study()
    before = study._session.cursor.position
    try:
        told = json.loads(data.decode("utf-8", errors="replace"))
    except (ValueError, RecursionError):
        told = data
    ticket = study.ask()
    try:
        study.tell(ticket, told)
    except EdgewiseError:
        assert study._session.cursor.position <= before + 1, "a refused tell was recorded"
        raise
    finally:
        if study.pending is not None:
            study.cancel(study.pending)


@cache
def _client() -> Any:
    """A server with that study, and somebody who may write."""
    from fastapi.testclient import TestClient

    from edgewise.service import Access, Limits, create_app
    from edgewise.study import MemoryStorage

    storage, token = MemoryStorage(), "w" * 32
    study = ew.Study.create("fuzz", problem(), storage=storage, delta=1e-300, rng=0)
    study.tell(study.ask(), np.zeros(4))
    study.ask()
    limits = Limits(streams=0, rate=1e9, burst=1e9)
    app = create_app(storage, Access(write=(token,)), limits=limits)
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
    return TestClient(app, base_url="http://localhost", headers=headers)


def _requested(data: bytes) -> None:
    """A request: its first line method, path and type, then its body."""
    head, _, body = data.partition(b"\n")
    words = [*head.decode("latin-1").split(" "), "", "", ""]
    try:
        method, path, kind = (word.encode("ascii").decode() for word in words[:3])
        request = _client().build_request(
            method, f"/{path.lstrip('/')}", content=body, headers={"Content-Type": kind}
        )
    except Exception as error:  # no client would send it
        raise EdgewiseError(str(error)) from error
    answer = _client().send(request)
    assert answer.status_code < 500, answer.text
    assert "Traceback" not in answer.text
    if answer.status_code >= 400:
        raise EdgewiseError(answer.text)


def _masked(data: bytes) -> None:
    masked(data.decode("utf-8", errors="replace"))


TARGETS: dict[str, Callable[[bytes], None]] = {
    "graph.csv": _reading(".csv", read_graph),
    "graph.npy": _reading(".npy", read_graph),
    "graph.npz": _reading(".npz", read_graph),
    "graph.mtx": _reading(".mtx", read_graph),
    "graph.txt": _reading(".txt", read_graph),
    "graph.graphml": _reading(".graphml", read_graph),
    "graph.parquet": _reading(".parquet", read_graph),
    "arms.csv": _reading(".csv", read_arms),
    "arms.npy": _reading(".npy", read_arms),
    "matrix.csv": _reading(".csv", read_matrix),
    "term.csv": _reading(".csv", read_node_term),
    "joint.csv": _reading(".csv", read_joint_arm, **_NAMES),
    "candidates.csv": _reading(".csv", read_candidates, **_NAMES),
    "kinds.csv": _reading(".csv", read_node_kinds, nodes=_NAMES["nodes"]),
    "rewards.csv": _rewards,
    "rewards.json": _rewards,
    "tell.json": _told,
    "study.toml": _reading(".toml", read_config),
    "study.jsonl": _imported,
    "entry.bin": _entry,
    "state.bin": _state,
    "url.txt": _masked,
    "tell.http": _requested,
    "create.http": _requested,
}


def attempt(name: str, data: bytes) -> str:
    """What becomes of an input: "read" or "refused"; anything else is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            TARGETS[name](data)
        except EdgewiseError:
            return "refused"
    return "read"


def write_corpus() -> None:
    """One right input for every target."""
    import scipy.io
    import scipy.sparse as sp

    CORPUS.mkdir(exist_ok=True)
    texts = {
        "graph.csv": "source,target,kind,weight\na,b,x,1.5\nb,c,y,2\n",
        "graph.txt": "3 2\n1 2 1\n2 3 -1\n",
        "arms.csv": "name,x,y\nlow,1,0\nhigh,0,1\n",
        "matrix.csv": "1,0.5\n-2e1,1\n",
        "term.csv": "1,0.5\n",
        "joint.csv": "node,arm\na,low\nb,high\nc,low\n",
        "candidates.csv": "node,arm\na,low\nb,high\n",
        "kinds.csv": "node,kind\na,big\nb,small\nc,big\n",
        "rewards.csv": "round,source,target,reward\n1,a,b,0.5\n1,b,a,\n",
        "rewards.json": '{"round": 1, "measurements": '
        '[{"source": "a", "target": "b", "reward": 1}]}',
        "tell.json": "[0.5, null, 1e-3, -0.25]",
        "study.toml": 'name = "x"\ngraph = "x.csv"\narms = "x.csv"\nnoise = 0.5\n',
        "tell.http": "POST /api/v1/studies/fuzz/rounds/2/tell application/json\n"
        '[{"source": "a", "target": "b", "reward": 1}]',
        "create.http": "POST /api/v1/studies application/json\n"
        '{"name": "new", "graph": {"edges": [["a", "b"]]}, "arms": {"x": [1.0], "y": [2.0]}, '
        '"noise": 0.5}',
        "url.txt": "postgresql://ann:s3cret@host:5432/db?sslpassword=x",
    }  # fmt: skip
    for name, text in texts.items():
        (CORPUS / name).write_text(text, encoding="utf-8")
    ring = sp.csr_array(np.ones((3, 3)) - np.eye(3))
    np.save(CORPUS / "graph.npy", np.array([[0, 1], [1, 2]]))
    np.save(CORPUS / "arms.npy", np.eye(2))
    sp.save_npz(CORPUS / "graph.npz", ring)
    scipy.io.mmwrite(CORPUS / "graph.mtx", ring)
    ew_graph = problem().graph.to_networkx()
    __import__("networkx").write_graphml(ew_graph, CORPUS / "graph.graphml")
    pa = __import__("pyarrow.parquet")
    table = pa.table({"source": ["a", "b"], "target": ["b", "c"]})
    pa.parquet.write_table(table, CORPUS / "graph.parquet")
    _study().export(CORPUS / "study.jsonl")
    (CORPUS / "entry.bin").write_bytes(pack({"arms": np.arange(4), "values": np.zeros(4)}))
    (CORPUS / "state.bin").write_bytes(snapshot_of(_study()._session.cursor.state))


if __name__ == "__main__":
    write_corpus()

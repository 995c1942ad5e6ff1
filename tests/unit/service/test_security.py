"""Who is refused, with what, and that nothing leaks: one by one."""

from __future__ import annotations

import logging
import re
import socket
import time
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from tests.unit.service.conftest import ACCESS, BASE, READ, WRITE

from edgewise.errors import InvalidArgument, InvalidFile
from edgewise.service import Access, Limits, create_app, read_access
from edgewise.service.security.access import SESSION_SECONDS, Role
from edgewise.service.security.guard import Hosts, is_own_origin
from edgewise.service.security.identity import COOKIE
from edgewise.service.security.limits import Buckets
from edgewise.service.serving import Place, Serving, _listening
from edgewise.study import MemoryStorage, Study

CELLS = "/api/v1/studies/cells"
OPEN = {"/sign-in", "/healthz", "/static/{file}", "/static/plotly.js"}
"""What is shown to anyone."""
PLANNING = {f"/api/v1/studies/{{study}}/{verb}" for verb in ("predict", "pairs-needed")}
"""What changes nothing, although it is sent by POST."""


def routes(client: TestClient) -> list[tuple[str, str]]:
    """Every method and address of the server, with the parts of a real study filled in."""
    described = client.app.openapi()["paths"]  # type: ignore[attr-defined]
    rest = [(verb.upper(), path) for path, verbs in described.items() for verb in verbs]
    folder = Path(__file__).parents[3] / "src/edgewise/service/pages"
    text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    of_a_study = "/studies/{study}"
    prefixes = {
        "acting.py": of_a_study,
        "managing.py": of_a_study,
        "charting.py": f"{of_a_study}/charts",
    }
    pages = [
        (verb.upper(), prefixes.get(path.name, "") + place)
        for path in folder.glob("*.py")
        for verb, place in re.findall(
            r'@router\.(get|post)\("([^"]*)"', path.read_text(encoding="utf-8")
        )
    ]
    assert len(pages) > 18
    assert text
    return [*rest, *pages]


def filled(path: str) -> str:
    return path.format(study="cells", round="1", file="edgewise.css")


def test_nothing_is_shown_or_done_without_a_token(anyone: TestClient, study: Study) -> None:
    for verb, path in routes(anyone):
        if path in OPEN or path == "/sign-out":
            continue
        response = anyone.request(verb, filled(path), headers={"Origin": BASE})
        assert response.status_code == 401, (verb, path)
        assert "harbour" not in response.text
        assert response.headers["WWW-Authenticate"] == "Bearer"
    assert len(list(study.log())) == 1


def test_a_wrong_token_is_no_token(anyone: TestClient, study: Study) -> None:
    for token in ("", "x", WRITE[:-1], WRITE + "x", WRITE.upper(), "\u00e9" * 20):
        headers = {"Authorization": f"Bearer {token}".encode()}
        assert anyone.get(CELLS, headers=headers).status_code == 401  # type: ignore[arg-type]
    basic = {"Authorization": f"Basic {WRITE}"}
    assert anyone.get(CELLS, headers=basic).status_code == 401


def test_a_token_in_an_address_counts_for_nothing(anyone: TestClient, study: Study) -> None:
    assert anyone.get(f"{CELLS}?token={WRITE}").status_code == 401
    assert anyone.get(f"/?token={WRITE}").status_code == 401


def test_a_token_for_reading_reads_and_changes_nothing(reader: TestClient, study: Study) -> None:
    assert reader.get(CELLS).status_code == 200
    for verb, path in routes(reader):
        if verb in ("POST", "DELETE") and path not in {"/sign-in", "/sign-out", *PLANNING}:
            response = reader.request(verb, filled(path))
            assert response.status_code == 403, path
    assert len(list(study.log())) == 1
    page = reader.get("/studies/cells").text
    assert 'id="tell"' not in page
    assert 'id="ask"' not in page


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "evil.example:8765", "localhost.evil.example", "",
     "127.0.0.2", "[::2]:8765", "[", "0x7f000001"],
)  # fmt: skip
def test_a_foreign_host_is_misdirected(client: TestClient, study: Study, host: str) -> None:
    for path in (CELLS, "/", "/sign-in", "/static/edgewise.css"):
        assert client.get(path, headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8765", "LOCALHOST", "[::1]:8765"])
def test_names_of_this_machine_are_known(client: TestClient, study: Study, host: str) -> None:
    assert client.get(CELLS, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:9999", "https://127.0.0.1:8765.evil.example",
     "file://", "http://localhost:8765", "127.0.0.1:8765"],
)  # fmt: skip
def test_a_foreign_origin_is_forbidden(client: TestClient, study: Study, origin: str) -> None:
    for verb, path in (("POST", f"{CELLS}/ask"), ("GET", CELLS), ("POST", "/sign-in")):
        response = client.request(verb, path, headers={"Origin": origin})
        assert response.status_code == 403, (verb, path)
    assert study.pending is None


def test_an_origin_behind_a_proxy_is_our_own() -> None:
    assert is_own_origin("https://farm.example", "farm.example")
    assert not is_own_origin("https://farm.example:8443", "farm.example")
    assert Hosts.of("0.0.0.0", ["Farm.example"]).know("farm.example:443")
    assert not Hosts.of("192.0.2.1").know("192.0.2.2")


def signed_in(client: TestClient, token: str) -> TestClient:
    response = client.post(
        "/sign-in", data={"token": token}, headers={"Origin": BASE}, follow_redirects=False
    )
    assert response.status_code == 303
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert token not in cookie
    return client


def test_a_browser_signs_in_and_out(anyone: TestClient, study: Study) -> None:
    browser = signed_in(anyone, WRITE)
    assert browser.get("/studies/cells").status_code == 200
    own = {"Origin": BASE}
    assert browser.post("/studies/cells/ask", headers=own).status_code == 200
    assert study.pending is not None
    browser.post("/sign-out", headers=own)
    assert browser.get("/studies/cells").status_code == 401


def test_a_cookie_alone_changes_nothing(anyone: TestClient, study: Study) -> None:
    """No Origin and no Sec-Fetch-Site: perhaps another site's form in an old browser."""
    browser = signed_in(anyone, WRITE)
    assert browser.post(f"{CELLS}/ask").status_code == 401
    cross = {"Sec-Fetch-Site": "cross-site"}
    assert browser.post(f"{CELLS}/ask", headers=cross).status_code == 401
    assert study.pending is None


def test_signing_in_leads_nowhere_else(anyone: TestClient, study: Study) -> None:
    for onward in ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:1"):
        response = anyone.post(
            "/sign-in",
            data={"token": READ, "onward": onward},
            headers={"Origin": BASE},
            follow_redirects=False,
        )
        assert response.headers["location"] == "/"
    wrong = anyone.post("/sign-in", data={"token": "wrong"}, headers={"Origin": BASE})
    assert wrong.status_code == 401


def test_cookies_cannot_be_made_or_prolonged(anyone: TestClient, study: Study) -> None:
    now = time.time()
    genuine = ACCESS.session(Role.READER, now)
    assert ACCESS.role_of_session(genuine, now) is Role.READER
    assert ACCESS.role_of_session(genuine, now + SESSION_SECONDS + 1) is Role.NOBODY
    role, ends, seal = genuine.split(".")
    forged = [
        f"2.{ends}.{seal}",
        f"{role}.{int(ends) + 9}.{seal}",
        f"{role}.{ends}.",
        "",
        "..",
        "a",
    ]
    other = Access(write=("another-token-of-the-tests",)).session(Role.WRITER, now)
    for cookie in [*forged, other]:
        assert ACCESS.role_of_session(cookie, now) is Role.NOBODY
        anyone.cookies.set(COOKIE, cookie)
        assert anyone.get(CELLS).status_code == 401


def test_headers_forbid_scripts_of_others(anyone: TestClient) -> None:
    for path in ("/sign-in", "/", "/api/v1/studies", "/static/edgewise.js", "/nothing"):
        headers = anyone.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe-eval" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers
    assert anyone.get("/sign-in").headers["cache-control"] == "no-store"


def test_pages_have_no_inline_script() -> None:
    folder = Path(__file__).parents[3] / "src/edgewise/service/pages"
    for template in (folder / "templates").iterdir():
        text = template.read_text(encoding="utf-8")
        assert not re.search(r"<script(?![^>]* src=)|\son\w+=|javascript:|\|\s*safe", text), (
            template
        )
    script = (folder / "static/edgewise.js").read_text(encoding="utf-8")
    assert not re.search(r"\beval\b|new Function|https?://", script)


def test_a_request_too_large_is_refused(storage: MemoryStorage, study: Study) -> None:
    app = create_app(storage, ACCESS, limits=Limits(body=2000))
    client = TestClient(app, base_url=BASE, headers={"Authorization": f"Bearer {WRITE}"})
    client.post(f"{CELLS}/ask")
    assert client.post(f"{CELLS}/rounds/1/tell", content=b"x" * 2001).status_code == 413
    pieces = (b"x" * 500 for _ in range(5))  # no length is announced
    assert client.post(f"{CELLS}/rounds/1/tell", content=pieces).status_code == 413
    assert client.post("/sign-in", data={"token": "x" * 3000}).status_code == 413
    assert len(list(study.log())) == 2


def test_too_many_requests_are_refused(storage: MemoryStorage, study: Study) -> None:
    app = create_app(storage, ACCESS, limits=Limits(rate=0.001, burst=3))
    client = TestClient(app, base_url=BASE, headers={"Authorization": f"Bearer {READ}"})
    codes = [client.get(CELLS).status_code for _ in range(5)]
    assert codes == [200, 200, 200, 429, 429]
    assert int(client.get(CELLS).headers["retry-after"]) > 100


def test_buckets_fill_with_time_and_clients_do_not_share() -> None:
    clock = iter([0.0, 0.0, 0.0, 0.0, 0.5]).__next__
    buckets = Buckets(rate=2.0, burst=1.0, clock=clock)
    assert buckets.take("a") == 0.0
    assert buckets.take("a") == pytest.approx(0.5)
    assert buckets.take("b") == 0.0
    assert buckets.take("a") > 0.0
    assert buckets.take("a") == 0.0


def test_streams_are_limited(storage: MemoryStorage, study: Study) -> None:
    app = create_app(storage, ACCESS, limits=Limits(streams=0))
    client = TestClient(app, base_url=BASE, headers={"Authorization": f"Bearer {READ}"})
    assert client.get(f"{CELLS}/events").status_code == 429


def test_another_address_needs_a_token() -> None:
    with pytest.raises(InvalidArgument, match="EDGEWISE_TOKEN"):
        Serving(MemoryStorage(), Place(host="0.0.0.0")).run(print)
    with pytest.raises(InvalidArgument, match="could be guessed"):
        Access(write=("short",))
    with pytest.raises(InvalidArgument, match="there is no token"):
        Access()


def test_answers_do_not_wait_for_receipts() -> None:
    with _listening(Place(port=0)) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_tokens_from_a_file_and_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"# machines\nwrite {WRITE}\n\nread {READ}  # the screen\n")
    found = read_access(file, {"EDGEWISE_TOKEN": "x" * 20})
    assert found is not None
    assert [found.role(t) for t in (WRITE, READ, "x" * 20, "y" * 20)] == [2, 1, 2, 0]
    assert read_access(None, {}) is None
    assert WRITE not in repr(found)
    file.write_text(f"{WRITE}\n")
    with pytest.raises(InvalidFile, match="line 1") as error:
        read_access(file, {})
    assert WRITE not in str(error.value)


def test_credentials_of_the_storage_stay_inside(
    caplog: pytest.LogCaptureFixture, study: Study
) -> None:
    secret = "hunter2secret"
    url = f"postgresql://farmer:{secret}@127.0.0.1:1/farm?connect_timeout=1"
    with caplog.at_level(logging.DEBUG):
        client = TestClient(
            create_app(url, ACCESS), base_url=BASE, headers={"Authorization": f"Bearer {WRITE}"}
        )
        for path in ("/api/v1/studies", "/", CELLS):
            response = client.get(path)
            assert response.status_code == 503
            assert "farmer" not in response.text
            assert secret not in response.text
    assert secret not in caplog.text
    assert WRITE not in caplog.text


def test_a_mistake_of_ours_shows_no_traceback(
    client: TestClient, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a secret of the server")

    monkeypatch.setattr(Study, "ask", fail)
    response = client.post(f"{CELLS}/ask")
    assert response.status_code == 500
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["content-security-policy"]
    assert "secret" not in response.text

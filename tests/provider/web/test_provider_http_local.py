"""The page without Airflow: its token, its name, its cookie."""

import time
from pathlib import Path

import pytest
from _http import BASE, build
from fastapi.testclient import TestClient

from provspark.web.app import manifest
from provspark.web.local import local_app, new_token
from provspark.web.policy import Policy
from provspark.web.source import AnswerSource

TOKEN = new_token()
HOME = "http://127.0.0.1:8765"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory):
    root: Path = build(tmp_path_factory.mktemp("http"))
    return local_app(AnswerSource(lambda: str(root / "prov"), Policy()), TOKEN, "127.0.0.1", 8765)


def browser(app, url: str = HOME) -> TestClient:
    return TestClient(app, base_url=url, follow_redirects=False)


def test_the_address_logs_in_once_and_loses_its_token(app) -> None:
    page = browser(app)
    assert page.get("/").status_code == 401
    answer = page.get("/", params={"token": TOKEN, "ds": "x&y"})
    assert answer.status_code == 303 and answer.headers["location"] == "/?ds=x%26y"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie
    shown = page.get("/")
    assert shown.status_code == 200 and TOKEN not in shown.text
    assert "script-src 'self'" in shown.headers["content-security-policy"]
    assert page.get(f"/provspark{BASE}/datasets").json()["total"] == 5
    for name in manifest()["files"]:
        assert page.get(f"/provspark/static/{name}").status_code == 200


def test_the_cookie_is_a_session_and_no_token(app, monkeypatch: pytest.MonkeyPatch) -> None:
    page = browser(app)
    answer = page.get("/", params={"token": TOKEN})
    assert TOKEN not in str(answer.headers)
    session = answer.cookies["provspark_8765"]
    assert page.get("/").status_code == 200
    asked = f"/provspark{BASE}/about"
    # The session is no token: not in the address, and not as a program's.
    assert browser(app).get("/", params={"token": session}).status_code == 401
    assert browser(app).get(asked, headers={"Authorization": f"Bearer {session}"}).status_code == 401
    # The token is no session.
    assert browser(app).get(asked, headers={"Cookie": f"provspark_8765={TOKEN}"}).status_code == 401
    assert browser(app).get(asked, headers={"Cookie": f"provspark_8765={session}"}).status_code == 200
    assert browser(app).get("/", params={"token": TOKEN}).cookies["provspark_8765"] != session
    later = time.monotonic() + 12 * 3600 + 1
    monkeypatch.setattr("time.monotonic", lambda: later)
    assert browser(app).get(asked, headers={"Cookie": f"provspark_8765={session}"}).status_code == 401


def test_programs_send_the_token(app) -> None:
    answer = browser(app).get(f"/provspark{BASE}/about", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.json()["airflow"] is False


def test_nothing_answers_without_the_token(app) -> None:
    names = [f"/provspark/static/{name}" for name in manifest()["files"]]
    for path in ("/", f"/provspark{BASE}/datasets", f"/provspark{BASE}/steps", *names):
        for headers in (
            {},
            {"Authorization": "Bearer "},
            {"Authorization": f"Basic {TOKEN}"},
            {"Cookie": "provspark_8765="},
        ):
            assert browser(app).get(path, headers=headers).status_code == 401, path
    for wrong in ("", "x", TOKEN[:-1], TOKEN + "x", "é"):
        assert browser(app).get("/", params={"token": wrong}).status_code == 401


@pytest.mark.parametrize("name", ["evil.example", "evil.example:8765", "127.0.0.1:80", "127.0.0.1.evil.example", ""])
def test_another_sites_name_that_leads_here_gets_nothing(app, name: str) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": name}
    for path in ("/", f"/provspark{BASE}/datasets"):
        assert browser(app).get(path, headers=headers).status_code == 421


@pytest.mark.parametrize("path", ["/other", "/provspark/api/v1/steps/%0A", "/provspark%0A/api/v1/about"])
def test_paths_without_anything_are_problems_too(app, path: str) -> None:
    answer = browser(app).get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


def test_other_names_of_this_machine_do(app) -> None:
    for url in ("http://localhost:8765", "http://[::1]:8765"):
        headers = {"Authorization": f"Bearer {TOKEN}"}
        assert browser(app, url).get(f"/provspark{BASE}/about", headers=headers).status_code == 200

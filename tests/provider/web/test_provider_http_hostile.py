"""What a request says reaches no file and no engine: corpora of paths, injections and lengths in every parameter."""

import builtins
import json
import os
from pathlib import Path
from typing import Any

import pytest
from _http import BASE, build, client, id_of
from fastapi.testclient import TestClient

from provspark.web.replays import Replays

CANARY = "canary-7d1f"
PATHS = [
    "../../../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "....//....//etc/passwd",
    "..\\..\\windows\\win.ini",
    "/etc/passwd",
    "file:///etc/passwd",
    "http://127.0.0.1:9/x",
    "s3://bucket/key",
    "//127.0.0.1/share",
    "%00",
    "manifest.json/../app.py",
    "../app.py",
]
INJECTIONS = [
    "' OR '1'='1",
    "1; DROP TABLE provspark_steps; --",
    "age = 1 OR 1=1",
    "name = '' UNION SELECT * FROM x",
    "`; import os; os.system('true'); `",
    "${jndi:ldap://127.0.0.1/a}",
    "{{7*7}}",
    "__import__('os').system('true')",
    "<script>alert(1)</script>",
    "age = 1e999",
    "age in ()",
    "age in (" + ",".join("1" for _ in range(200)) + ")",
    "(" * 400,
    " " * 500,
    "a" + " " * 400 + "is" + " " * 90,
    "`" * 499,
    "'" * 499,
    "\u202e\u0000\ud7ff",
    "name = '\udcff'".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
]
SIZES = ["x" * 501, "x" * 20_000, "0" * 5000, "-1", "1e9", "NaN", str(2**63), str(2**53), "9" * 400]
CORPUS = [*PATHS, *INJECTIONS, *SIZES]
PARAMETERS = {
    "/datasets": ["search", "cursor", "limit"],
    "/datasets/{id}": ["version"],
    "/datasets/{id}/rows": ["version", "where", "columns", "cursor", "limit"],
    "/datasets/{id}/export": ["version", "where", "format"],
    "/datasets/{id}/columns": ["version", "column", "direction", "to"],
    "/steps/{step}/profiles": ["source", "output"],
    "/steps/{step}/operations/0/profiles": ["child", "output"],
    "/steps": ["dag_id", "run_id", "task_id", "map_index", "cursor", "limit"],
}
FIELDS = ["dataset", "version", "rows", "where", "direction", "context", "to", "node", "cursor", "limit", "columns"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = build(tmp_path_factory.mktemp("http"))
    (root / "canary").write_text(CANARY)
    return root


@pytest.fixture(scope="module")
def api(root: Path) -> TestClient:
    made = client(root, ["shop"])
    assert made.get(f"{BASE}/datasets").status_code == 200
    return made


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths that Python opens while a test runs."""
    paths: list[str] = []
    real, real_os = builtins.open, os.open

    def note(path: Any, *args: Any, **kwargs: Any) -> Any:
        paths.append(str(path))
        return real(path, *args, **kwargs)

    def note_os(path: Any, *args: Any, **kwargs: Any) -> Any:
        paths.append(str(path))
        return real_os(path, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", note)
    monkeypatch.setattr(os, "open", note_os)
    return paths


def refused(answer: Any, *, may: tuple[int, ...] = (403, 404, 405, 409, 413, 422)) -> None:
    assert answer.status_code in may or answer.status_code == 200, (answer.status_code, answer.text[:300])
    assert CANARY not in answer.text and "root:" not in answer.text
    if answer.status_code != 200:
        assert answer.headers["content-type"] == "application/problem+json"
        assert len(answer.text) < 5000


@pytest.mark.parametrize("path", PARAMETERS)
def test_query_parameters(api: TestClient, root: Path, path: str) -> None:
    step = api.get(f"{BASE}/steps").json()["items"][-1]["step"]
    for name in PARAMETERS[path]:
        for text in [*CORPUS, str(root / "canary"), (root / "canary").as_uri()]:
            refused(api.get(BASE + path.format(id=id_of(root, "raw"), step=step), params={name: text}))


def test_paths_of_routes(api: TestClient, root: Path, opened: list[str]) -> None:
    from urllib.parse import quote

    for text in [*PATHS, *SIZES, str(root / "canary")]:
        for route in (
            "/datasets/{}",
            "/datasets/{}/rows",
            "/datasets/{}/export",
            "/steps/{}",
            "/steps/{}/profiles",
            "/steps/{}/operations/0/profiles",
            "/../static/{}",
        ):
            for escaped in (quote(text, safe=""), quote(text)):
                answer = api.get((BASE + route).replace("/api/v1/..", "").format(escaped))
                assert answer.status_code in (404, 422), (route, text, answer.text[:200])
                refused(answer)
    assert not [p for p in opened if "canary" in p or "passwd" in p or p.endswith("app.py")]


BODIES: dict[str, dict[str, Any]] = {
    "/trace/rows": {"node": 0},
    "/trace/export": {},
    "/trace": {},
    "/co_contributory": {"to": "{id}"},
    "/co_dependency/export?answer_version={version}": {"to": "{id}", "via": "{id}"},
    "/sideways": {"to": "{id}", "relation": "together"},
    "/composition": {"source": "{id}", "column": "age"},
    "/replay": {"step": None, "direction": "backward"},
}


@pytest.mark.parametrize("path", BODIES)
def test_fields_of_bodies(api: TestClient, root: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They share their model: one takes the whole corpus, the others a part."""

    async def nothing(*_: Any) -> dict[str, Any]:
        return {"passages": []}

    monkeypatch.setattr(Replays, "run", nothing)
    every = 1 if path == "/trace/rows" else 7
    raw = id_of(root, "raw")
    good: dict[str, Any] = {"dataset": raw, "rows": [0]}
    good |= {name: raw if value == "{id}" else value for name, value in BODIES[path].items()}
    path = path.format(version=api.get(f"{BASE}/datasets/{raw}").json()["version"])
    assert api.post(BASE + path, json=good).status_code == (404 if "answer_version=" in path else 200)
    for name in dict.fromkeys([*FIELDS, *good]):
        for text in [*CORPUS[::every], str(root / "canary")]:
            for value in (text, [text]):
                refused(api.post(BASE + path, json={**good, name: value}))
        for value in (
            None,
            -1,
            2**63,
            10**30,
            1.5,
            [],
            {},
            True,
            [-1],
            [2**63],
            [1.5],
            [True],
            [None],
            {"a": 1},
            [["a"]],
        ):
            refused(api.post(BASE + path, json={**good, name: value}))
    assert api.post(BASE + path, json={**good, "path": "/etc/passwd"}).status_code == 422
    assert api.post(BASE + path, json={**good, "rows": [0] * 10_001}).status_code == 422
    assert api.post(BASE + path, json={**good, "where": ["age = 1"] * 33}).status_code == 422


def test_bodies_that_are_no_questions(api: TestClient) -> None:
    for body in (b"", b"null", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b'"' + b"x" * 1000 + b'"'):
        answer = api.post(f"{BASE}/trace", content=body, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 422), (body[:10], answer.text)
    answer = api.post(f"{BASE}/trace", content=b" " * (1 << 20) + b"{}", headers={"content-type": "application/json"})
    assert answer.status_code == 413

    def endless() -> Any:
        for _ in range(100):
            yield b" " * 65536

    assert api.post(f"{BASE}/trace", content=endless()).status_code == 413


def test_a_form_of_another_site_is_no_question(api: TestClient, root: Path) -> None:
    body = json.dumps({"dataset": id_of(root, "raw")})
    answer = api.post(f"{BASE}/trace", content=body, headers={"content-type": "text/plain"})
    assert answer.status_code == 422


def test_the_engine_is_asked_for_known_data_sets_only(
    api: TestClient, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from provspark.index_store.query.graph import Graph

    asked: list[str] = []
    real = Graph.find

    def find(self: Graph, dataset: Any, version: str | None = None) -> Any:
        asked.append(str(dataset))
        return real(self, dataset, version)

    monkeypatch.setattr(Graph, "find", find)
    for text in CORPUS:
        api.get(f"{BASE}/datasets/{id_of(root, 'raw')}/rows", params={"where": text, "version": text})
        api.post(f"{BASE}/trace", json={"dataset": text, "to": text})
        api.post(f"{BASE}/trace", json={"dataset": id_of(root, "raw"), "to": text})
    assert set(asked) <= {(root / name).as_uri() for name in ("raw", "people", "secret", "report")}


def test_answers_are_not_guessed_or_kept_by_browsers(api: TestClient, root: Path) -> None:
    for path in ("/datasets", f"/datasets/{id_of(root, 'raw')}/rows", "/datasets/none"):
        headers = api.get(BASE + path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "private, no-store"
        assert "json" in headers["content-type"]

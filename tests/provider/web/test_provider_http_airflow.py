"""The plugin in Airflow's own api-server: login on every route, and two users under its own auth manager."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from _api_server import TEAMS, Server, api_server
from _http import build, client, id_of, path_of
from fastapi.routing import APIRoute

from provspark.web.app import manifest

pytestmark = pytest.mark.airflow
IN_TEAMS = {"ann": "viewer:shops", "bob": "viewer:vaults", "eve": "viewer:others", "root": "admin"}
USERS = {user: role if TEAMS else role.split(":")[0] for user, role in IN_TEAMS.items()}
DAGS = {"shops": ["shop"], "vaults": ["vault"], "others": ["other"]}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("http"))


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[Server]:
    settings = {"AIRFLOW__CORE__MULTI_TEAM": str(TEAMS), "AIRFLOW__PROVSPARK__STORE": str(root / "prov")}
    with api_server(root / "airflow", USERS, DAGS, **settings) as found:
        yield found


def test_every_route_needs_airflows_login(server: Server, root: Path) -> None:
    routes = [r for r in client(root).app.routes if isinstance(r, APIRoute)]  # type: ignore[attr-defined]
    names = ["page.js", "icon.svg", *manifest()["files"]]
    asked = 0
    for route in routes:
        for name in names if "{name}" in route.path else [""]:
            path = "/provspark" + path_of(root, route, name)
            for method in route.methods:
                for headers in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": "_token=wrong"}):
                    with server.client(None) as nobody:
                        answer = nobody.request(method, path, headers=headers, content=b"{}")
                    assert answer.status_code in (401, 403), (method, path, answer.text)
                    assert "items" not in answer.text
                    asked += 1
    assert asked >= 30


def test_what_is_no_route_answers_nothing(server: Server) -> None:
    with server.client(None) as nobody:
        for path in ("/provspark/openapi.json", "/provspark/docs", "/provspark/redoc", "/provspark/api/v1"):
            assert nobody.get(path).status_code in (401, 404)


@pytest.mark.skipif(not TEAMS, reason="Airflow's simple auth manager has no teams before 3.2")
def test_each_user_sees_their_dags(server: Server, root: Path) -> None:
    seen = {}
    for user in USERS:
        with server.client(user) as api:
            listed = api.get("/provspark/api/v1/datasets").json()["items"]
            steps = api.get("/provspark/api/v1/steps").json()["items"]
            seen[user] = ([d["label"] for d in listed], sorted(s["task_id"] for s in steps))
            about = api.get("/provspark/api/v1/about").json()
            assert about["airflow"] and about["steps"] == len(steps)
    assert seen["ann"] == (["people", "raw", "report", "secret"], ["clean", "report"])
    assert seen["bob"] == (["people", "secret"], ["hide"])
    assert seen["eve"] == ([], [])
    # A step without a DAG has nobody who could say who may see it.
    assert seen["root"] == (["people", "raw", "report", "secret"], ["clean", "hide", "report"])


@pytest.mark.skipif(not TEAMS, reason="Airflow's simple auth manager has no teams before 3.2")
def test_hidden_steps_and_guessed_ids(server: Server, root: Path) -> None:
    with server.client("ann") as ann:
        traced = ann.post("/provspark/api/v1/trace", json={"dataset": id_of(root, "report"), "rows": [0]}).json()
        assert [(n["dataset"]["label"], n["hidden"]) for n in traced["nodes"]] == [
            ("report", None),
            ("secret", "before"),
        ]
        values = ann.get(f"/provspark/api/v1/datasets/{id_of(root, 'raw')}/rows").json()["values"]
        assert values[0][0] == "Ann"
    with server.client("bob") as bob:
        (hidden,) = (s["step"] for s in bob.get("/provspark/api/v1/steps").json()["items"])
    with server.client("ann") as ann:
        asked = {"dataset": id_of(root, "people"), "rows": [0]}
        for answer in (
            ann.get(f"/provspark/api/v1/steps/{hidden}/profiles"),
            ann.post("/provspark/api/v1/replay", json={**asked, "step": hidden}),
        ):
            assert answer.status_code == 404 and "hide" not in answer.text
        seen = ann.post("/provspark/api/v1/replay", json=asked).json()["passages"]
        assert [p["step"]["task_id"] for p in seen] == ["clean", "report"]
    with server.client("bob") as bob:
        for name in ("raw", "report", "loose"):
            for path in ("", "/rows", "/export"):
                answer = bob.get(f"/provspark/api/v1/datasets/{id_of(root, name)}{path}")
                assert answer.status_code == 404 and name not in answer.json()["detail"]
            told = bob.post("/provspark/api/v1/replay", json={"dataset": id_of(root, name), "rows": [0]})
            assert told.status_code == 404 and name not in told.json()["detail"]


def test_the_cookie_of_airflows_page_is_a_login(server: Server, root: Path) -> None:
    with server.client(None) as api:
        api.cookies.set("_token", server.token("ann"), domain="127.0.0.1", path="/")
        assert api.get("/provspark/api/v1/datasets").json()["total"] == 4


def test_airflow_knows_the_pages(server: Server) -> None:
    with server.client("root") as api:
        (ours,) = (p for p in api.get("/api/v2/plugins").json()["plugins"] if p["name"] == "provspark")
        for page in ours["react_apps"]:
            answer = api.get(page["bundle_url"])
            assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/javascript")
            assert api.get(page["icon"]).headers["content-type"] == "image/svg+xml"
    assert {a["destination"] for a in ours["react_apps"]} == {"nav", "dag_run", "task", "task_instance"}
    assert len({a["bundle_url"] for a in ours["react_apps"]}) == len(ours["react_apps"])

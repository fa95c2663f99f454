"""A user sees the DAGs that they may read: of the others no name, row, count, reason or id."""

import json
from pathlib import Path

import pytest
from _http import BASE, build, client, id_of, path_of
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from provspark.index_store.query.graph import Graph
from provspark.index_store.store.store import Store


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("http"))


@pytest.fixture(scope="module")
def shop(root: Path) -> TestClient:
    """A user of DAG shop; vault, and the run without a DAG, are others'."""
    return client(root, ["shop", "another"])


def test_nothing_answers_without_a_login(root: Path) -> None:
    api = client(root)
    routes = [r for r in api.app.routes if isinstance(r, APIRoute)]  # type: ignore[attr-defined]
    assert len(routes) >= 10
    assert all(isinstance(r, APIRoute) for r in api.app.routes)  # type: ignore[attr-defined]
    for route in routes:
        path = path_of(root, route)
        for method in route.methods:
            for headers in ({"who": "other"}, {"who": ""}):
                answer = api.request(method, path, headers=headers, content=b"{}")
                assert answer.status_code == 401, (method, path)
                assert answer.json()["detail"] == "log in"


def test_other_dags_are_in_no_list(shop: TestClient, root: Path) -> None:
    assert [d["label"] for d in shop.get(f"{BASE}/datasets").json()["items"]] == ["people", "raw", "report", "secret"]
    assert [s["task_id"] for s in shop.get(f"{BASE}/steps").json()["items"]] == ["report", "clean"]
    assert shop.get(f"{BASE}/about").json()["steps"] == 2
    secret = shop.get(f"{BASE}/datasets/{id_of(root, 'secret')}").json()
    # It is theirs as an input of their own step; who wrote it is not.
    assert [(v["written"], v["step"]["task_id"]) for v in secret["versions"]] == [(False, "report")]
    people = shop.get(f"{BASE}/datasets/{id_of(root, 'people')}").json()
    assert [s["task_id"] for s in people["read_by"]] == ["report"]


def test_a_trace_ends_at_a_hidden_step(shop: TestClient, root: Path) -> None:
    back = shop.post(f"{BASE}/trace", json={"dataset": id_of(root, "report"), "rows": [0]}).json()
    assert [(n["dataset"]["label"], n["rows"], n["hidden"]) for n in back["nodes"]] == [
        ("report", 1, None),
        ("secret", 2, "before"),
    ]
    ahead = shop.post(f"{BASE}/trace", json={"dataset": id_of(root, "raw"), "rows": [0], "direction": "forward"}).json()
    assert [(n["dataset"]["label"], n["hidden"]) for n in ahead["nodes"]] == [("raw", "after"), ("people", "after")]
    # That it read the file is all that is told: whether it used this row is not.
    other = shop.post(
        f"{BASE}/trace", json={"dataset": id_of(root, "raw"), "rows": [4], "direction": "forward", "context": True}
    ).json()
    assert [(n["dataset"]["label"], n["hidden"]) for n in other["nodes"]] == [
        ("raw", "after"),
        ("people", "after"),
        ("report", None),
    ]


def test_where_rows_ended_in_hidden_steps_is_not_told(shop: TestClient, root: Path) -> None:
    def ended(api: TestClient, **asked: object) -> set[tuple[str, int, int]]:
        body = {"dataset": id_of(root, "raw"), "direction": "forward", **asked}
        told = api.post(f"{BASE}/trace", json=body).json()
        return {(e["dataset"]["label"], e["read"], e["kept"]) for e in told["endings"]}

    assert ended(shop, rows=[3]) == {("people", 1, 0)}
    assert ended(shop, rows=[4], context=True) == set()
    assert ended(client(root), rows=[3]) == {("people", 1, 0), ("loose", 1, 0)}
    assert ended(client(root), rows=[4], context=True) == {("secret", 1, 0), ("loose", 1, 0)}


def test_guessed_ids_are_as_if_not_there(root: Path) -> None:
    vault = client(root, ["vault"])
    hidden = [id_of(root, "report"), id_of(root, "raw"), id_of(root, "loose")]
    steps = [m.step for m in Graph([Store.open(str(root / "prov"))]).manifests if m.key.dag_id != "vault"]
    versions = {v for m in Graph([Store.open(str(root / "prov"))]).manifests for w in m.writes for v in [w.output.id]}
    known = {d["version"] for d in vault.get(f"{BASE}/datasets").json()["items"]}
    people, nothing = id_of(root, "people"), "0" * 16
    for guess in hidden:
        for there, not_there in (
            (vault.get(f"{BASE}/datasets/{guess}"), vault.get(f"{BASE}/datasets/{nothing}")),
            (vault.get(f"{BASE}/datasets/{guess}/rows"), vault.get(f"{BASE}/datasets/{nothing}/rows")),
            (vault.get(f"{BASE}/datasets/{guess}/export"), vault.get(f"{BASE}/datasets/{nothing}/export")),
            *(
                (
                    vault.post(BASE + path, json={"dataset": guess, "rows": [0], "node": 0}),
                    vault.post(BASE + path, json={"dataset": nothing, "rows": [0], "node": 0}),
                )
                for path in ("/trace/rows",)
            ),
            (
                vault.post(f"{BASE}/trace", json={"dataset": people, "to": guess}),
                vault.post(f"{BASE}/trace", json={"dataset": people, "to": nothing}),
            ),
        ):
            assert there.status_code == not_there.status_code == 404
            assert there.text.replace(guess, nothing) == not_there.text
    for step in steps:
        assert vault.get(f"{BASE}/steps/{step}").json() == vault.get(f"{BASE}/steps/none").json()
    for version in versions - known:
        answer = vault.get(f"{BASE}/datasets/{people}/rows", params={"version": version})
        assert answer.status_code == 404


def test_no_answer_names_what_is_hidden(root: Path) -> None:
    vault = client(root, ["vault"])
    people = id_of(root, "people")
    bodies = [
        vault.get(f"{BASE}/datasets").text,
        vault.get(f"{BASE}/steps").text,
        vault.get(f"{BASE}/datasets/{people}").text,
        vault.get(f"{BASE}/datasets/{people}", params={"version": "0" * 32}).text,
        vault.post(f"{BASE}/trace", json={"dataset": people, "rows": [0]}).text,
        vault.post(f"{BASE}/trace", json={"dataset": people, "rows": [0], "direction": "forward"}).text,
    ]
    for body in bodies:
        json.loads(body)
        for word in ("raw", "report", "loose", "shop", "clean"):
            assert f"/{word}" not in body and f'"{word}"' not in body, body


def test_who_may_read_no_dag_sees_nothing(root: Path) -> None:
    nobody = client(root, [])
    assert nobody.get(f"{BASE}/datasets").json() == {"items": [], "total": 0, "next": None, "broken": []}
    assert nobody.get(f"{BASE}/steps").json()["total"] == 0

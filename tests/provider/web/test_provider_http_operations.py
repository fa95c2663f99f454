"""Operations, columns and cells over HTTP, compared with the Python API; nothing hidden or masked shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _http import BASE, client, id_of
from _people import people
from fastapi.testclient import TestClient

import provspark
from provspark.index_store.query.tabular import both_names
from provspark.web.policy import Policy


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("http")
    people(folder)
    return folder


@pytest.fixture(scope="module")
def api(root: Path) -> TestClient:
    return client(root)


def told(answer: Any, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()


def plain(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**x, "dataset": x["dataset"]["name"]} for x in lines]


def test_operations_of_a_step_and_behind_a_data_set(api: TestClient, root: Path) -> None:
    prov = provspark.open(str(root / "prov"))
    report = f"{BASE}/datasets/{id_of(root, 'report.csv')}/operations"
    behind = told(api.get(report))
    assert plain(behind) == prov.operations(str(root / "report.csv")).table().to_pylist()
    step = behind[0]["step"]
    assert plain(told(api.get(f"{BASE}/steps/{step}/operations", params={"parts": True}))) == (
        prov.operations(step, parts=True).table().to_pylist()
    )
    touched = told(api.get(report, params={"column": "first"}))
    assert [x["operations"] for x in touched] == [[0], [0], [1]]
    told(api.get(f"{BASE}/steps/none/operations"), 404)


def test_columns_cells_and_ends(api: TestClient, root: Path) -> None:
    prov = provspark.open(str(root / "prov"))
    at = f"{BASE}/datasets/{id_of(root, 'report.csv')}"
    lines = told(api.get(f"{at}/columns"))
    assert plain(lines["lines"]) == both_names(prov.columns(str(root / "report.csv")).table()).to_pylist()
    copied = told(api.get(f"{BASE}/datasets/{id_of(root, 'copy.csv')}/columns"))
    assert [s["what"] for s in copied["stops"]] == ["columns"]
    ends = told(api.get(f"{BASE}/datasets/{id_of(root, 'people.csv')}/dropped"))["lines"]
    assert next((x["column"], x["text"]) for x in ends) == ("age", "drop age")
    told(api.get(f"{at}/columns", params={"column": "age"}), 422)
    asked = {"dataset": id_of(root, "report.csv"), "rows": [1], "columns": ["n", "first"], "limit": 3}
    page = told(api.post(f"{BASE}/cells", json=asked))
    cells = prov.cells(str(root / "report.csv"), [1], ["n", "first"]).table()
    whole = both_names(cells.drop_columns(["why"])).to_pylist()
    assert (page["total"], page["next"]) == (len(whole), 3)
    rest = told(api.post(f"{BASE}/cells", json={**asked, "cursor": 3, "limit": 1000}))
    assert plain(page["lines"] + rest["lines"]) == whole


def test_how_counts_rows_by_path(api: TestClient, root: Path) -> None:
    asked = {"dataset": id_of(root, "report.csv"), "rows": [1]}
    (path,) = told(api.post(f"{BASE}/how", json=asked))["paths"]
    assert (path["dataset"]["label"], path["rows"], len(path["operations"])) == ("people.csv", 2, 5)
    ahead = {"dataset": id_of(root, "people.csv"), "rows": [3], "direction": "forward", "to": id_of(root, "clean.csv")}
    (path,) = told(api.post(f"{BASE}/how", json={**ahead, "parts": True}))["paths"]
    assert [x["operations"] for x in path["operations"]] == [[0], [1], [2], [3]]


def test_texts_that_may_tell_masked_values_are_left_out(root: Path) -> None:
    at = f"{BASE}/datasets/{id_of(root, 'report.csv')}/operations"
    for policy in (Policy(masks=("age",)), Policy(show_values=False)):
        lines = told(client(root, policy=policy).get(at, params={"parts": True}))
        for line in lines:
            about = {*line["reads"], *line["makes"]}
            assert (line["text"] is None) == (not policy.show_values or "age" in about), line
    ended = f"{BASE}/datasets/{id_of(root, 'people.csv')}/dropped"
    ends = told(client(root, policy=Policy(masks=("age",))).get(ended))["lines"]
    assert [x["text"] for x in ends if x["column"] == "age"] == ["drop age"]
    hidden = told(client(root, policy=Policy(masks=("name",))).get(ended))["lines"]
    assert [x["text"] is None for x in hidden if x["column"] == "name"] == [True]


def test_steps_of_hidden_dags_are_in_no_answer(root: Path) -> None:
    hidden = client(root, ["other"])
    told(hidden.get(f"{BASE}/datasets/{id_of(root, 'report.csv')}/columns"), 404)
    step = provspark.open(str(root / "prov")).steps().table()["step"][0].as_py()
    told(hidden.get(f"{BASE}/steps/{step}/operations"), 404)
    told(hidden.post(f"{BASE}/cells", json={"dataset": id_of(root, "report.csv")}), 404)
    assert hidden.get(f"{BASE}/steps/{step}/operations", headers={"who": "nobody"}).status_code == 401

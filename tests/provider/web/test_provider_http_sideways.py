"""Sideways questions and graphs over HTTP, compared with the Python API; nothing hidden or masked shows."""

import json
from pathlib import Path

import pytest
from _http import BASE, build, client, id_of
from fastapi.testclient import TestClient

import provspark
from provspark.web.policy import Policy


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("http"))


@pytest.fixture(scope="module")
def api(root: Path) -> TestClient:
    return client(root)


def post(api: TestClient, path: str, status: int = 200, **body: object):
    answer = api.post(BASE + path, json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_siblings_share_a_witness(api: TestClient, root: Path) -> None:
    asked = {"dataset": id_of(root, "loose"), "rows": [0], "relation": "siblings"}
    to = {"to": id_of(root, "people"), "via": id_of(root, "raw")}
    (found,) = post(api, "/sideways", **asked, **to)
    expected = (
        provspark.open(str(root / "prov"))
        .co_dependency(str(root / "loose"), [0], to=str(root / "people"), via=str(root / "raw"))
        .table()
    )
    assert found["rows"] == expected.num_rows == 1 and found["total"] == 4
    rows = post(api, "/sideways/rows", **asked, **to, found=found["version"])
    assert rows["rows"] == expected["related_row"].to_pylist() == [0] and rows["values"][0][0] == "Ann"
    post(api, "/sideways/rows", 404, **asked, **to, found="0" * 32)
    assert "via" in post(api, "/sideways", 422, **asked, to=id_of(root, "people"))["detail"]


def test_rows_used_together(api: TestClient, root: Path) -> None:
    asked = {"dataset": id_of(root, "people"), "rows": [0], "relation": "together", "context": True}
    found = post(api, "/sideways", **asked, to=id_of(root, "secret"))
    expected = (
        provspark.open(str(root / "prov"))
        .co_contributory(str(root / "people"), [0], to=str(root / "secret"), kinds=("data", "context"))
        .table()
    )
    assert sum(f["rows"] for f in found) == len(set(expected["related_row"].to_pylist()))


def test_composition_counts_witnesses(api: TestClient, root: Path) -> None:
    asked = {"dataset": id_of(root, "report"), "rows": [0], "source": id_of(root, "raw")}
    found = post(api, "/composition", **asked, column="age")
    assert sorted((v["value"], v["witnesses"]) for v in found["values"]) == [(30, 1), (41, 1)]
    assert (found["total_values"], found["total_witnesses"]) == (2, 2)
    assert len(post(api, "/composition", **asked, column="age", limit=1)["values"]) == 1
    post(api, "/composition", 422, **asked, column="nothing")


def test_graphs_of_single_rows(api: TestClient, root: Path) -> None:
    asked = {"dataset": id_of(root, "report"), "rows": [0]}
    expected = provspark.open(str(root / "prov")).neighbourhood(str(root / "report"), [0])
    assert post(api, "/trace/graph", **asked) == json.loads(json.dumps(expected.prov_json()))
    for form in ("node_link", "graphml"):
        answer = api.post(f"{BASE}/trace/graph", params={"format": form}, json=asked)
        made = getattr(expected, form)()
        assert answer.status_code == 200 and (answer.text if form == "graphml" else answer.json()) == (
            made if form == "graphml" else json.loads(json.dumps(made))
        )


def test_masked_columns_are_not_counted_by(root: Path) -> None:
    asked = {"dataset": id_of(root, "report"), "rows": [0], "source": id_of(root, "raw")}
    masked = client(root, policy=Policy.of(True, "e_mail"))
    post(masked, "/composition", 403, **asked, column="E_MAIL")
    post(masked, "/composition", **asked, column="age")
    post(client(root, policy=Policy(False)), "/composition", 403, **asked, column="age")


def test_other_dags_are_not_there(root: Path) -> None:
    shop = client(root, ["shop"])
    asked = {"dataset": id_of(root, "report"), "rows": [0]}
    loose = id_of(root, "loose")
    for path, more in (
        ("/sideways", {"relation": "together", "to": loose}),
        ("/sideways", {"relation": "siblings", "to": id_of(root, "people"), "via": loose}),
        ("/composition", {"source": loose, "column": "age"}),
    ):
        assert "that you may see" in post(shop, path, 404, **asked, **more)["detail"]
    graph = json.dumps(post(shop, "/trace/graph", **asked))
    assert "hide" not in graph and "vault" not in graph and str(root / "raw") not in graph
    # Through the hidden step, rows of raw stand behind the report; nothing tells of them.
    found = post(shop, "/composition", **asked, source=id_of(root, "raw"), column="age")
    assert found["values"] == []


def labels(choices: list) -> dict[str, set[str]]:
    return {c["dataset"]["label"]: {v["label"] for v in c["via"]} for c in choices}


def test_what_can_be_asked_sideways_names_nothing_hidden(api: TestClient, root: Path) -> None:
    people = f"{BASE}/datasets/{id_of(root, 'people')}/beside"
    whole = api.get(people).json()
    assert labels(whole["together"])["secret"] == {"report"}
    assert labels(whole["siblings"])["loose"] == {"raw"} and [d["label"] for d in whole["sources"]] == ["raw"]
    seen = client(root, dags=["shop"]).get(people).json()
    assert labels(seen["siblings"]) == {"people": {"raw"}, "report": {"raw"}} and "loose" not in json.dumps(seen)


def test_all_rows_and_one_example(api: TestClient, root: Path) -> None:
    """All rows are told first; the example is a row asked about, which the answer names."""
    asked = {"dataset": id_of(root, "report"), "rows": [0]}
    found = post(api, "/trace", **asked)
    by_label = {n["dataset"]["label"]: n for n in found["nodes"]}
    assert found["example"] == 0
    assert {label: (n["rows"], n["one"]) for label, n in by_label.items()} == {
        "report": (1, [0]),
        "secret": (2, [0]),
        "people": (2, [0]),
        "raw": (2, [0]),
    }
    assert {e["rows"] for e in found["edges"]} == {2}
    raw = by_label["raw"]["id"]
    assert post(api, "/trace/rows", **asked, node=raw)["rows"] == [0, 1]
    rows = post(api, "/trace/rows", **asked, node=raw, one=True)
    assert (rows["rows"], rows["selected"]) == ([0], 1)
    forward = post(api, "/trace", dataset=id_of(root, "raw"), rows=[0], direction="forward", example=0)
    assert all(n["one"] == [] for n in forward["nodes"]) and forward["example"] is None


@pytest.mark.parametrize(("example", "told", "source"), [(None, 1, 1), (1, 1, 1), (2, 2, 2), (3, 3, 4)])
def test_the_example_is_any_of_the_rows_asked_about(
    api: TestClient, root: Path, example: int | None, told: int, source: int
) -> None:
    rows = {"dataset": id_of(root, "people"), "rows": [3, 1, 2]}
    asked = {**rows, "example": example}
    found = post(api, "/trace", **asked)
    assert found["example"] == told
    assert {n["dataset"]["label"]: (n["rows"], n["one"]) for n in found["nodes"]} == {
        "people": (3, [told]),
        "raw": (3, [source]),
    }
    assert post(api, "/trace/rows", **asked, node=1, one=True)["rows"] == [source]
    assert post(api, "/trace/rows", **asked, node=1)["rows"] == [1, 2, 4]
    export = api.post(f"{BASE}/trace/export", params={"node": 1, "format": "json"}, json=rows)
    assert len(export.json()) == 3


def test_an_example_that_was_not_asked_about(api: TestClient, root: Path) -> None:
    asked = {"dataset": id_of(root, "people"), "where": ["age >= 41"], "example": 0}
    for path, more in (("/trace", {}), ("/trace/rows", {"node": 1, "one": True})):
        assert "row 0 is not among the rows asked about" in post(api, path, 422, **asked, **more)["detail"]
    assert post(api, "/trace", **{**asked, "example": 3})["example"] == 3

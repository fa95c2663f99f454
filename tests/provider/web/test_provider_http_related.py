"""Rows beside rows, and graphs, over HTTP, compared with the Python API; nothing hidden or masked shows."""

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


def test_rows_that_share_a_witness(api: TestClient, root: Path) -> None:
    asked = {"dataset": id_of(root, "loose"), "rows": [0], "to": id_of(root, "people")}
    via = {"via": id_of(root, "raw")}
    (counted,) = post(api, "/co_dependency", **asked, **via)
    expected = (
        provspark.open(str(root / "prov"))
        .co_dependency(str(root / "loose"), [0], to=str(root / "people"), via=str(root / "raw"))
        .table()
    )
    assert counted["rows"] == expected.num_rows == 1 and counted["total"] == 4
    rows = post(api, "/co_dependency/rows", **asked, **via, answer_version=counted["version"])
    assert rows["rows"] == expected["related_row"].to_pylist() == [0] and rows["values"][0][0] == "Ann"
    post(api, "/co_dependency/rows", 404, **asked, **via, answer_version="0" * 32)
    assert "via" in post(api, "/co_dependency", 422, **asked)["detail"]


def test_rows_used_together(api: TestClient, root: Path) -> None:
    asked = {"dataset": id_of(root, "people"), "rows": [0], "context": True}
    counted = post(api, "/co_contributory", **asked, to=id_of(root, "secret"))
    expected = (
        provspark.open(str(root / "prov"))
        .co_contributory(str(root / "people"), [0], to=str(root / "secret"), kinds=("data", "context"))
        .table()
    )
    assert sum(f["rows"] for f in counted) == len(set(expected["related_row"].to_pylist()))


def test_former_paths_answer_as_before_and_name_the_new_ones(
    api: TestClient, root: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("provspark.web.former_routes._told", set())
    people, loose, raw = (id_of(root, name) for name in ("people", "loose", "raw"))
    sharing = {"dataset": loose, "rows": [0], "to": people, "via": raw}
    together = {"dataset": people, "rows": [0], "to": id_of(root, "secret"), "context": True}
    for name, relation, asked in (("co_dependency", "siblings", sharing), ("co_contributory", "together", together)):
        version = post(api, f"/{name}", **asked)[0]["version"]
        for end, body, params in (
            ("", {}, {}),
            ("/rows", {"VERSION": version, "limit": 1}, {}),
            ("/export", {}, {"VERSION": version, "format": "json"}),
        ):
            answers = []
            for path, called, more in ((name, "answer_version", {}), ("sideways", "found", {"relation": relation})):
                sent, query = ({k.replace("VERSION", called): v for k, v in x.items()} for x in (body, params))
                answers.append(api.post(f"{BASE}/{path}{end}", json={**asked, **sent, **more}, params=query))
            new, old = answers
            assert (old.status_code, old.content) == (new.status_code, new.content) and new.status_code == 200
            assert "Deprecation" not in new.headers and old.headers["Deprecation"] == "true"
            assert f'<{BASE}/{name}{end}>; rel="successor-version"' in old.headers["Link"]
    assert "via" in post(api, "/sideways", 422, dataset=loose, rows=[0], relation="siblings", to=people)["detail"]
    old, new = (api.get(f"{BASE}/datasets/{people}/{name}") for name in ("beside", "related"))
    names = {"together": "co_contributory", "siblings": "co_dependency", "sources": "composition", "next": "next"}
    assert {names[k]: v for k, v in old.json().items()} == new.json()
    assert f"{BASE}/datasets/{people}/related" in old.headers["Link"] and old.headers["Deprecation"] == "true"
    told = [r.getMessage() for r in caplog.records if r.name == "provspark.web.former_routes"]
    assert len(told) == 4 and all("The next release removes" in text for text in told)


def test_former_paths_are_described_as_such(api: TestClient) -> None:
    described = api.app.openapi()["paths"]  # type: ignore[attr-defined]
    former = {p.removeprefix(BASE) for p, ways in described.items() if any(w.get("deprecated") for w in ways.values())}
    assert former == {"/sideways", "/sideways/rows", "/sideways/export", "/datasets/{dataset}/beside"}


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
        ("/co_contributory", {"to": loose}),
        ("/co_dependency", {"to": id_of(root, "people"), "via": loose}),
        ("/composition", {"source": loose, "column": "age"}),
    ):
        assert "you have no access to it" in post(shop, path, 404, **asked, **more)["detail"]
    graph = json.dumps(post(shop, "/trace/graph", **asked))
    assert "hide" not in graph and "vault" not in graph and str(root / "raw") not in graph
    # Through the hidden step, rows of raw stand behind the report; nothing tells of them.
    found = post(shop, "/composition", **asked, source=id_of(root, "raw"), column="age")
    assert found["values"] == []


def labels(choices: list) -> dict[str, set[str]]:
    return {c["dataset"]["label"]: {v["label"] for v in c["via"]} for c in choices}


def test_what_can_be_asked_names_nothing_hidden(api: TestClient, root: Path) -> None:
    people = f"{BASE}/datasets/{id_of(root, 'people')}/related"
    whole = api.get(people).json()
    assert labels(whole["co_contributory"])["secret"] == {"report"}
    assert labels(whole["co_dependency"])["loose"] == {"raw"} and [d["label"] for d in whole["composition"]] == ["raw"]
    seen = client(root, dags=["shop"]).get(people).json()
    assert labels(seen["co_dependency"]) == {"people": {"raw"}, "report": {"raw"}} and "loose" not in json.dumps(seen)


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
        assert "Row 0 is not among the selected rows" in post(api, path, 422, **asked, **more)["detail"]
    assert post(api, "/trace", **{**asked, "example": 3})["example"] == 3

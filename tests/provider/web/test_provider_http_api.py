"""The API's answers, compared with those of the Python API and with the rows as they were made."""

import csv
import io
import json
import time
from pathlib import Path

import pyarrow as pa
import pytest
from _http import BASE, PEOPLE, SCRIPT, build, client, id_of, on_disk, publish
from _steps import read, version, write
from fastapi.testclient import TestClient

import provspark
from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset, Field, Files
from provspark.model.pending import PendingVersion
from provspark.model.steps import StepKey
from provspark.web import source
from provspark.web.policy import Policy
from provspark.web.visible import HIDDEN


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("http"))


@pytest.fixture(scope="module")
def api(root: Path) -> TestClient:
    return client(root)


def get(api: TestClient, path: str, **params: object) -> dict:
    answer = api.get(BASE + path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def post(api: TestClient, path: str, **body: object) -> dict:
    answer = api.post(BASE + path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_data_sets_are_listed_searched_and_paged(api: TestClient, root: Path) -> None:
    every = get(api, "/datasets")
    assert [d["label"] for d in every["items"]] == ["loose", "people", "raw", "report", "secret"]
    expected = provspark.open(str(root / "prov")).datasets().table().to_pylist()
    for ours, theirs in zip(every["items"], expected, strict=True):
        assert ours["name"] == theirs["dataset"]
        assert {k: ours[k] for k in ("rows", "versions", "version", "step", "role", "coverage")} == {
            k: theirs[k] for k in ("rows", "versions", "version", "step", "role", "coverage")
        }
    assert [d["label"] for d in get(api, "/datasets", search="RE port")["items"]] == ["report"]
    assert get(api, "/datasets", search="nothing like it") == {"items": [], "total": 0, "next": None, "broken": []}
    seen, cursor = [], 0
    while cursor is not None:
        page = get(api, "/datasets", cursor=cursor, limit=2)
        seen += page["items"]
        cursor = page["next"]
    assert seen == every["items"]


def test_a_data_set_tells_versions_columns_and_readers(api: TestClient, root: Path) -> None:
    people = get(api, f"/datasets/{id_of(root, 'people')}")
    assert [(c["name"], c["type"], c["masked"]) for c in people["columns"]] == [
        ("name", "string", False),
        ("age", "bigint", False),
        ("e_mail", "string", False),
    ]
    (version,) = people["versions"]
    assert version["written"] and version["step"]["task_id"] == "clean" and version["rows"] == 4
    assert [s["task_id"] for s in people["read_by"]] == ["hide", "report"]
    assert get(api, f"/datasets/{people['id']}", version=people["version"]) == people


def test_rows_page_through_a_version(api: TestClient, root: Path) -> None:
    raw = id_of(root, "raw")
    rows, values, cursor = [], [], 0
    while cursor is not None:
        page = get(api, f"/datasets/{raw}/rows", cursor=cursor, limit=2)
        assert page["total"] == page["selected"] == 5
        rows += page["rows"]
        values += page["values"]
        cursor = page["next"]
    assert rows == [0, 1, 2, 3, 4]
    expected = [list(v) for v in zip(*PEOPLE.values(), strict=True)]
    expected[3][1] = str(2**60)
    assert values == expected
    assert values[1][0] == SCRIPT
    beyond = get(api, f"/datasets/{raw}/rows", cursor=2**53 - 1)
    assert (beyond["rows"], beyond["values"], beyond["next"]) == ([], [], None)


def test_rows_are_filtered_by_conditions(api: TestClient, root: Path) -> None:
    raw = id_of(root, "raw")
    page = get(api, f"/datasets/{raw}/rows", where=["age = 30", "name is not null"], columns=["age"])
    assert (page["rows"], page["values"], page["selected"]) == ([0, 2], [[30], [30]], 2)
    assert get(api, f"/datasets/{raw}/rows", where=[f'name in ("{SCRIPT}")'])["rows"] == [1]
    assert get(api, f"/datasets/{raw}/rows", where=["age < 0"])["rows"] == []


def test_a_trace_counts_its_rows_and_answers_them(api: TestClient, root: Path) -> None:
    report = id_of(root, "report")
    found = post(api, "/trace", dataset=report, rows=[0])
    count = {n["dataset"]["label"]: (n["rows"], n["total"], n["role"], n["hidden"]) for n in found["nodes"]}
    assert count == {
        "report": (1, 1, "asked", None),
        "secret": (2, 2, "between", None),
        "people": (2, 4, "between", None),
        "raw": (2, 5, "end", None),
    }
    labels = {n["id"]: n["dataset"]["label"] for n in found["nodes"]}
    named = {s["step"]: s["task_id"] for s in found["steps"]}
    edges = {(labels[e["source"]], labels[e["target"]], named[e["step"]], e["kind"]) for e in found["edges"]}
    assert edges == {
        ("secret", "report", "report", "data"),
        ("people", "secret", "hide", "data"),
        ("raw", "people", "clean", "data"),
    }
    end = next(n["id"] for n in found["nodes"] if n["dataset"]["label"] == "raw")
    rows = post(api, "/trace/rows", dataset=report, rows=[0], node=end)
    assert (rows["rows"], rows["total"], rows["selected"]) == ([0, 1], 5, 2)
    assert [v[0] for v in rows["values"]] == ["Ann", SCRIPT]


def test_context_forward_and_to(api: TestClient, root: Path) -> None:
    both = post(api, "/trace", dataset=id_of(root, "report"), where=["age = 2"], context=True)
    people = next(n for n in both["nodes"] if n["dataset"]["label"] == "people")
    assert (people["rows"], people["context_only"]) == (3, 1)
    assert {e["kind"] for e in both["edges"]} == {"data", "context"}
    to = post(api, "/trace", dataset=id_of(root, "raw"), rows=[1], direction="forward", to=id_of(root, "secret"))
    assert [(n["dataset"]["label"], n["rows"]) for n in to["nodes"]] == [("raw", 1), ("people", 1), ("secret", 1)]


def test_a_trace_forward_tells_where_rows_ended(api: TestClient, root: Path) -> None:
    found = post(api, "/trace", dataset=id_of(root, "raw"), direction="forward")
    labels, named = [n["dataset"]["label"] for n in found["nodes"]], {s["step"]: s["task_id"] for s in found["steps"]}
    told = {
        (named[e["step"]], e["write"], e["dataset"]["label"], labels[e["node"]]): (
            e["read"],
            e["kept"],
            e["context"],
            e["ended"],
        )
        for e in found["endings"]
    }
    assert told == {
        ("clean", 0, "people", "raw"): (5, 4, 0, [3]),
        ("hide", 0, "secret", "people"): (4, 2, 0, [2, 3]),
        ("loose", 0, "loose", "raw"): (5, 2, 0, [2, 3, 4]),
        ("report", 0, "report", "people"): (4, 0, 1, [0, 1, 2, 3]),
    }
    assert {e["coverage"] for e in found["endings"]} == {"exact"}
    followed = post(api, "/trace", dataset=id_of(root, "raw"), direction="forward", context=True)["endings"]
    assert [(e["kept"], e["context"], e["ended"]) for e in followed if e["dataset"]["label"] == "report"] == [
        (1, 0, [0, 1, 2])
    ]
    assert post(api, "/trace", dataset=id_of(root, "report"), rows=[0])["endings"] == []


def test_no_more_rows_that_ended_are_listed_than_a_replay_takes(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "prov"), create=True)
    many = {"name": ["Ann"] * 50, "age": [1] * 50, "e_mail": ["a@x"] * 50}
    raw, one = on_disk(tmp_path / "raw", many, written=False), {name: values[:1] for name, values in many.items()}
    out = on_disk(tmp_path / "e_mail=a@x" / "out", one, written=True)
    publish(store, 1, StepKey("clean", "r1", "shop"), write(out, [(raw, [(0, 3)])]))
    asked = {"dataset": id_of(tmp_path, "raw"), "direction": "forward"}
    (ending,) = post(client(tmp_path), "/trace", **asked)["endings"]
    assert (ending["read"], ending["kept"]) == (50, 1)
    assert ending["ended"] == [0, 1, 2, *range(4, 21)]
    (ending,) = post(client(tmp_path, policy=Policy.of(True, "e_mail")), "/trace", **asked, rows=[0])["endings"]
    assert ending["dataset"]["name"].endswith(f"/e_mail={HIDDEN}/out")


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "arrow"])
def test_exports_hold_every_row(api: TestClient, root: Path, form: str) -> None:
    one = api.get(f"{BASE}/datasets/{id_of(root, 'raw')}/export", params={"format": form, "where": "age = 30"})
    two = api.post(
        f"{BASE}/trace/export",
        params={"format": form},
        json={"dataset": id_of(root, "raw"), "where": ["age = 30"]},
    )
    assert one.status_code == two.status_code == 200 and one.content == two.content
    assert one.headers["content-disposition"] == f'attachment; filename="raw.{form}"'
    version = get(api, f"/datasets/{id_of(root, 'raw')}")["version"]
    named = {"provspark_version": version}
    expected = [{"provspark_row": i, **{k: v[i] for k, v in PEOPLE.items()}, **named} for i in (0, 2)]
    if form == "csv":
        found = [{**r, "provspark_row": int(r["provspark_row"]), "age": int(r["age"])} for r in _csv(one.text)]
        assert [r["name"] for r in found if r["name"].startswith("'")] == ["'=1+1"]  # no formula of a spreadsheet
        found = [{**r, "name": r["name"].removeprefix("'")} for r in found]
    elif form == "jsonl":
        found = [json.loads(line) for line in one.text.splitlines()]
    elif form == "json":
        found = one.json()
    else:
        found = pa.ipc.open_stream(one.content).read_all().to_pylist()
    assert found == expected
    none = api.get(f"{BASE}/datasets/{id_of(root, 'raw')}/export", params={"format": form, "where": "age < 0"})
    assert none.status_code == 200
    if form == "arrow":
        assert pa.ipc.open_stream(none.content).read_all().num_rows == 0
    if form == "json":
        assert none.json() == []


def _csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_steps_are_listed_by_task_and_described(api: TestClient) -> None:
    assert [s["task_id"] for s in get(api, "/steps")["items"]] == ["loose", "report", "hide", "clean"]
    (clean,) = get(api, "/steps", dag_id="shop", run_id="r1", task_id="clean", map_index=-1)["items"]
    detail = get(api, f"/steps/{clean['step']}")
    (write,) = detail["writes"]
    assert (write["output"]["label"], [v["label"] for v in write["inputs"]], write["edges"]) == ("people", ["raw"], 4)
    assert (write["output"]["rows"], write["written"]) == (4, 4)
    assert detail["stored_bytes"] > 0


def test_rows_that_a_step_appended_are_told_from_all(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "prov"), create=True)
    writes = [
        write(version(f"/out{n}", {"a": 5, "b": n + 1}, {"b"}), coverage="untracked" if n == 2 else "exact")
        for n in range(3)
    ]
    publish(store, 1, StepKey("more", "r"), *writes)
    api = client(tmp_path)
    (step,) = get(api, "/steps")["items"]
    detail = get(api, f"/steps/{step['step']}")
    assert [(w["output"]["rows"], w["written"]) for w in detail["writes"]] == [(6, 1), (7, 2), (8, None)]
    page = get(api, f"/steps/{step['step']}", cursor=1, limit=1)
    assert [(w["index"], w["written"]) for w in page["writes"]] == [(1, 2)]
    for lists in (tmp_path / "prov" / "steps" / step["step"] / "versions").iterdir():
        lists.write_bytes(b"")
    again = get(client(tmp_path), f"/steps/{step['step']}")
    assert [w["written"] for w in again["writes"]] == [None, None, None]


def test_new_steps_and_changed_files_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = build(tmp_path)
    monkeypatch.setattr(source, "_FRESH", -1.0)
    api = client(root)
    before = get(api, "/about")["steps"]
    nothing = PendingVersion(Dataset.parse(str(root / "more")), Files.of([]), "parquet")
    publish(Store.open(str(root / "prov")), 9, StepKey("more", "r", "shop"), write(read(nothing)))
    assert get(api, "/about")["steps"] == before + 1
    (root / "raw" / "part.parquet").write_bytes(b"other")
    page = get(api, f"/datasets/{id_of(root, 'raw')}/rows")
    assert page["values"] is None and page["rows"] == [0, 1, 2, 3, 4] and "part.parquet" in page["why"]
    answer = api.get(f"{BASE}/datasets/{id_of(root, 'raw')}/export")
    assert answer.status_code == 409 and answer.headers["content-type"] == "application/problem+json"


def test_a_large_store_is_looked_at_while_questions_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = build(tmp_path)
    monkeypatch.setattr(source, "_FRESH", -1.0)
    monkeypatch.setattr(source, "_AT_ONCE", 0.0)
    api = client(root)
    before = get(api, "/about")["steps"]
    nothing = PendingVersion(Dataset.parse(str(root / "more")), Files.of([]), "parquet")
    publish(Store.open(str(root / "prov")), 9, StepKey("more", "r", "shop"), write(read(nothing)))
    for _ in range(200):
        if get(api, "/about")["steps"] == before + 1:
            break
        time.sleep(0.02)
    else:
        raise AssertionError("the new step does not show")
    next((root / "prov" / "steps").glob("*/manifest.json")).write_bytes(b"broken")
    for _ in range(200):
        if get(api, "/about")["broken"]:
            break
        time.sleep(0.02)
    else:
        raise AssertionError("that a manifest is broken does not show")
    assert get(api, "/about")["steps"] == before


def test_values_can_be_switched_off(root: Path) -> None:
    api = client(root, policy=Policy(show_values=False))
    assert get(api, "/about")["values"] is False
    page = get(api, f"/datasets/{id_of(root, 'raw')}/rows")
    assert page["rows"] == [0, 1, 2, 3, 4] and page["values"] is None and "hidden all values" in page["why"]
    assert all(c["masked"] for c in page["columns"])
    found = api.get(f"{BASE}/datasets/{id_of(root, 'raw')}/export")
    lines = [f"{row},{page['version']}" for row in range(5)]
    assert found.text.split() == ["provspark_row,provspark_version", *lines]
    asked = [{"where": ["age = 30"]}, {"where": ["name is null"]}]
    for body in asked:
        assert api.post(f"{BASE}/trace", json={"dataset": id_of(root, "raw"), **body}).status_code == 403
        assert api.get(f"{BASE}/datasets/{id_of(root, 'raw')}/rows", params=body).status_code == 403


def test_columns_are_masked_by_pattern(root: Path) -> None:
    api = client(root, policy=Policy.of(True, "E*mail, ssn"))
    page = get(api, f"/datasets/{id_of(root, 'raw')}/rows")
    assert [c["masked"] for c in page["columns"]] == [False, False, True]
    assert all(v[2] is None for v in page["values"]) and page["values"][0][0] == "Ann"
    for form in ("csv", "json", "jsonl", "arrow"):
        answer = api.get(f"{BASE}/datasets/{id_of(root, 'raw')}/export", params={"format": form})
        assert b"e_mail" not in answer.content and b"a@x" not in answer.content
    refused = api.get(f"{BASE}/datasets/{id_of(root, 'raw')}/rows", params={"where": "E_MAIL = 'a@x'"})
    assert refused.status_code == 403 and "e_mail" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("kind", "masked"),
    [
        ("struct<a:int,ssn:string>", True),
        ("array<struct<b:map<string,struct<SSN:int>>>>", True),
        ("struct<a:int>", False),
        ("interval", False),
        ("struct<a:interval day,ssn:string>", True),
        ("struct<a:int,... 5 more fields>", True),
    ],
)
def test_a_mask_reaches_into_nested_columns(kind: str, masked: bool) -> None:
    assert Policy.of(True, "ssn").masked_by_name(Field("c", kind)) is masked


def test_errors_are_problem_documents_with_a_hint(api: TestClient, root: Path) -> None:
    raw = id_of(root, "raw")
    cases = [
        (api.get(f"{BASE}/datasets/{'0' * 16}"), 404, "GET /datasets"),
        (api.get(f"{BASE}/datasets/{raw}", params={"version": "0" * 32}), 404, "Pass one of its versions"),
        (api.get(f"{BASE}/datasets/{raw}/rows", params={"where": "agee = 1"}), 422, "did you mean age"),
        (api.get(f"{BASE}/datasets/{raw}/rows", params={"where": "age = x"}), 422, "age"),
        (api.post(f"{BASE}/trace", json={"dataset": raw, "rows": [5]}), 422, "0 to 4"),
        (api.post(f"{BASE}/trace", json={"dataset": raw, "rows": [0], "where": ["age = 1"]}), 422, "one of them"),
        (api.post(f"{BASE}/trace/rows", json={"dataset": raw, "rows": [0], "node": 9}), 404, "nodes are 0 to"),
        (api.get(f"{BASE}/steps/nothing"), 404, "GET /steps"),
        (api.get("/elsewhere"), 404, ""),
    ]
    for answer, status, hint in cases:
        body = answer.json()
        assert answer.status_code == body["status"] == status, body
        assert answer.headers["content-type"] == "application/problem+json"
        assert hint in body["detail"]


def test_a_missing_store_is_told(tmp_path: Path) -> None:
    answer = client(tmp_path).get(f"{BASE}/datasets")
    assert answer.status_code == 503 and "no store" in answer.json()["detail"]

"""Limits of every request: each has a default and a setting, and holds on every route, new ones included."""

from __future__ import annotations

import asyncio
import inspect
import sys
import time
from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import pytest
from _http import BASE, FIELDS, PATIENT, build, client, id_of, path_of, publish
from _people import people
from _question_bodies import least
from _steps import read, write
from fastapi import APIRouter
from fastapi.responses import Response
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from pydantic import BaseModel

import provspark
from provspark.errors import SettingsError, TooManyStepsError
from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset, Files
from provspark.model.pending import PendingVersion
from provspark.model.progress import QuestionProgress, check, watched
from provspark.model.steps import StepKey
from provspark.web.limits import Limits
from provspark.web.question_bodies import asked_over_http
from provspark.web.replays import Replays

DEEP = 5
WALKS: dict[str, dict[str, Any] | None] = {
    "/datasets/{id}/related": None,
    "/datasets/{id}/beside": None,
    "/datasets/{id}/columns": None,
    "/datasets/{id}/operations": None,
    "/trace": {},
    "/trace/rows": {"node": 0},
    "/trace/export": {},
    "/trace/graph": {},
    "/how": {},
    "/cells": {},
    "/co_contributory": {"to": "{id}"},
    "/co_contributory/rows": {"to": "{id}", "answer_version": "0" * 32},
    "/co_contributory/export?answer_version=" + "0" * 32: {"to": "{id}"},
    "/co_dependency": {"to": "{id}", "via": "{first}"},
    "/co_dependency/rows": {"to": "{id}", "via": "{first}", "answer_version": "0" * 32},
    "/co_dependency/export?answer_version=" + "0" * 32: {"to": "{id}", "via": "{first}"},
    "/sideways": {"relation": "together", "to": "{id}"},
    "/sideways/rows": {"relation": "together", "to": "{id}", "found": "0" * 32},
    "/sideways/export?found=" + "0" * 32: {"relation": "together", "to": "{id}"},
    "/composition": {"source": "{first}", "column": "name"},
    **{
        f"/questions/{name}": {}
        for name in ("backward", "cell_neighbourhood", "cells", "how", "neighbourhood", "trace")
    },
    "/questions/co_contributory": {"to": "{id}"},
    "/questions/co_dependency": {"to": "{id}", "via": "{first}"},
    "/questions/columns": {"rows": None},
    "/questions/composition": {"source": "{first}", "column": "name"},
    "/questions/correspondence": {"to": "{first}"},
    "/questions/operations": {"dataset": None, "what": "{id}"},
}
"""Routes that go through steps, with what they take."""
STAYS = {
    "/about",
    "/datasets",
    "/datasets/{dataset}",
    "/datasets/{dataset}/dropped",
    "/datasets/{dataset}/export",
    "/datasets/{dataset}/rows",
    "/locate",
    "/questions",
    "/replay",
    "/steps",
    "/steps/{step}",
    "/steps/{step}/operations",
    "/steps/{step}/operations/{operation}/profiles",
    "/steps/{step}/profiles",
    "/static/{name}",
}
"""Routes that look at one version or step; dropped goes forward, and replays have their own limits."""
PAGES = {
    "/datasets/{dataset}": ("versions", "read_by"),
    "/datasets/{dataset}/related": ("co_contributory", "co_dependency", "composition"),
    "/datasets/{dataset}/beside": ("together", "siblings", "sources"),
    "/datasets/{dataset}/columns": ("lines", "stops"),
    "/datasets/{dataset}/dropped": ("lines", "stops"),
    "/datasets/{dataset}/operations": (),
    "/how": ("paths", "stops"),
    "/co_contributory": (),
    "/co_dependency": (),
    "/sideways": (),
    "/steps/{step}": ("writes", "untracked"),
    "/steps/{step}/operations": (),
}
"""Answers with lists that page by the parameters `cursor` and `limit`; () for those that are a list."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("http"))


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Step 0 makes d1 of d0, step 1 makes d2 of d1, and so on."""
    folder = tmp_path_factory.mktemp("chain")
    store = Store.open(str(folder / "prov"), create=True)
    versions = [_version(folder / f"d{i}", i > 0) for i in range(DEEP + 1)]
    for i, (before, after) in enumerate(pairwise(versions)):
        source = before if i == 0 else read(before)
        publish(store, i, StepKey(f"t{i}", f"r{i}", "shop"), write(after, [(source, [(0, 0)])]))
    return folder


def _version(path: Path, written: bool) -> PendingVersion:
    files = Files.of([("part.parquet", 100, 1, 1, written)])
    return PendingVersion(Dataset.parse(str(path)), files, "parquet", (), FIELDS)


def routes(api: TestClient) -> list[APIRoute]:
    return [r for r in api.app.routes if isinstance(r, APIRoute)]  # type: ignore[attr-defined]


def calls(root: Path) -> Iterator[tuple[APIRoute, str, str]]:
    for route in routes(client(root)):
        for method in route.methods:
            yield route, method, path_of(root, route)


def test_every_limit_is_a_setting() -> None:
    changed = {f.name: str(f.default + 1) for f in fields(Limits)}
    found = Limits.read(changed.get)
    assert {f.name: getattr(found, f.name) for f in fields(Limits)} == {n: float(x) for n, x in changed.items()}
    assert Limits.read(lambda _: None) == Limits.read(lambda _: " ") == Limits()
    for wrong in ("x", "0", "-1", "nan"):
        with pytest.raises(SettingsError, match=r"\[provspark\] max_body"):
            Limits.read({"max_body": wrong}.get)
    with pytest.raises(SettingsError, match="whole number"):
        Limits.read({"replays": "1.5"}.get)
    assert Limits.read({"replay_seconds": "0"}.get).replay_seconds == 0


def test_bodies(root: Path) -> None:
    api = client(root, limits=replace(PATIENT, max_body=1000))
    tried = 0
    for _, method, path in calls(root):
        answer = api.request(method, path, content=b" " * 1001)
        assert answer.status_code == 413 and "max_body" in answer.json()["detail"], path
        if method != "GET":
            assert api.request(method, path, content=b" " * 1000).status_code == 422, path
            tried += 1
    assert tried >= 10


def test_conditions(root: Path) -> None:
    """On each route whose description has `where`."""
    api = client(root, limits=replace(PATIENT, max_conditions=3))
    description: Any = api.app.openapi()  # type: ignore[attr-defined]
    tried = []
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            url = path.format(dataset=id_of(root, "raw"), step="x", operation=0)
            query = [p["schema"] for p in operation.get("parameters", ()) if p["name"] == "where"]
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            model = description["components"]["schemas"][body["$ref"].rsplit("/", 1)[1]] if body else {}
            taken = [*query, *([model["properties"]["where"]] if "where" in model.get("properties", {}) else [])]
            for schema in taken:
                assert schema["maxItems"] == 100, path
                for n, allowed in ((3, True), (4, False)):
                    given: Any = {**_nowhere(path), "where": ["age >= 40"] * n}
                    answer = api.request(method, url, params=given) if query else api.request(method, url, json=given)
                    assert ("max_conditions" in answer.text) is not allowed, (path, answer.text)
                    assert allowed or answer.status_code == 422
                    assert not allowed or path != f"{BASE}/datasets/{{dataset}}/rows" or answer.status_code == 200
                tried.append(path)
    assert len(tried) >= 12
    usual = client(root).get(f"{BASE}/datasets/{id_of(root, 'raw')}/rows", params={"where": ["age >= 40"] * 100})
    assert usual.status_code == 200


def test_steps(chain: Path) -> None:
    known = {r.path.removeprefix(BASE) for r in routes(client(chain))}
    templates = {p.split("?")[0].replace("{id}", "{dataset}") for p in WALKS}
    questions = {f"/questions/{q.name}" for q in asked_over_http()}
    assert known == templates | STAYS | questions, "a new route: add it above"
    last, first = id_of(chain, f"d{DEEP}"), id_of(chain, "d0")
    for limit in (DEEP - 1, DEEP):
        api = client(chain, limits=replace(PATIENT, max_steps=limit))
        for path, body in WALKS.items():
            if body is None:
                answer = api.get(BASE + path.format(id=last))
            else:
                values = {k: v.format(id=last, first=first) if isinstance(v, str) else v for k, v in body.items()}
                # These go forward first.
                start = first if "sideways" in path or "co_contributory" in path else last
                asked = {"dataset": start, "rows": [0], **values}
                answer = api.post(BASE + path, json={k: v for k, v in asked.items() if v is not None})
            refused = answer.status_code == 422 and "max_steps" in answer.text
            assert refused is (limit < DEEP), (path, limit, answer.text)
        dropped = api.get(f"{BASE}/datasets/{first}/dropped", params={"column": "name"})
        assert dropped.status_code == 200  # no operations: it ends at once
    few = client(chain, limits=replace(PATIENT, max_steps=2))
    near = {"dataset": last, "rows": [0], "to": id_of(chain, f"d{DEEP - 1}")}
    assert few.post(f"{BASE}/trace", json=near).status_code == 200


def test_steps_are_counted_once_and_not_in_python(chain: Path) -> None:
    prov = provspark.open(str(chain / "prov"))
    last = str(chain / f"d{DEEP}")
    assert len(prov.trace(last, [0]).nodes) == DEEP + 1
    with watched(QuestionProgress(DEEP)):
        for _ in range(3):
            prov.trace(last, [0])
    with watched(QuestionProgress(DEEP - 1)), pytest.raises(TooManyStepsError, match=f"more than {DEEP - 1} steps"):
        prov.trace(last, [0])


def test_dropped_and_trails_count_steps(tmp_path: Path) -> None:
    people(tmp_path)
    prov = provspark.open(str(tmp_path / "prov"))
    for ask in (
        lambda: prov.dropped(str(tmp_path / "people.csv"), "city").table(),
        lambda: prov.operations(str(tmp_path / "report.csv"), column="city").table(),
    ):
        ask()
        with watched(QuestionProgress(1)), pytest.raises(TooManyStepsError):
            ask()


def slow_sync(**_: Any) -> None:
    while True:
        check()
        time.sleep(0.01)


async def slow_async(**_: Any) -> None:
    while True:
        check()
        await asyncio.sleep(0.01)


def test_time(root: Path) -> None:
    """On each route, whatever it does, if it looks whether it was cancelled."""
    api = client(root, limits=replace(PATIENT, request_seconds=0.2))
    tried = 0
    for route in routes(api):
        # As the router does for a function of its own.
        route.dependant.call = type(route)(route.path, slow_sync, response_model=None).dependant.call
        for method in route.methods:
            body = {} if method == "GET" else {"json": _body(root, route)}
            began = time.monotonic()
            answer = api.request(method, path_of(root, route), params=_query(route), **body)
            assert answer.status_code == 503 and "request_seconds" in answer.json()["detail"], (route.path, answer.text)
            assert answer.headers["content-type"] == "application/problem+json"
            assert time.monotonic() - began < 60
            tried += 1
    assert tried >= 25


def test_time_of_coroutines_and_events(root: Path) -> None:
    api = client(root, limits=replace(PATIENT, request_seconds=0.6))
    (route,) = (r for r in routes(api) if r.path == f"{BASE}/about")
    route.dependant.call = slow_async
    assert api.get(f"{BASE}/about").status_code == 503
    told = api.get(f"{BASE}/about", headers={"accept": "text/event-stream"})
    assert told.status_code == 200 and '"status": 503' in told.text and "request_seconds" in told.text


def test_what_does_not_look_is_answered_in_time_too(root: Path) -> None:
    """The answer does not wait for the work, which goes on until it looks."""
    api = client(root, limits=replace(PATIENT, request_seconds=0.2))
    (route,) = (r for r in routes(api) if r.path == f"{BASE}/about")
    ended: list[float] = []
    sent: list[float] = []

    async def deaf(**_: Any) -> Response:
        await asyncio.sleep(1.5)
        ended.append(time.monotonic())
        return Response()

    route.dependant.call = deaf
    scope = {"type": "http", "method": "GET", "path": f"{BASE}/about", "query_string": b"", "http_version": "1.1"}
    scope |= {"headers": [(b"who", b"me")], "scheme": "http", "server": ("x", 80), "client": ("x", 1), "root_path": ""}

    async def run() -> None:
        async def receive() -> Any:
            await asyncio.sleep(3600)

        async def send(message: Any) -> None:
            sent.append(time.monotonic())
            assert message.get("status", 503) == 503

        app: Any = api.app
        await app(scope, receive, send)

    asyncio.run(run())
    assert len(sent) == 2 and ended and sent[-1] < ended[0]


def test_replays_have_their_own_time(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    limits = replace(PATIENT, request_seconds=0.5, replay_seconds=60)
    api = client(root, limits=limits)
    slow = (
        'import sys, time\nfor line in sys.stdin: time.sleep(1.5); print(\'{"answer": {"passages": []}}\', flush=True)'
    )
    replays = Replays(limits, "here", (sys.executable, "-c", slow))
    api.app.state.replays = replays  # type: ignore[attr-defined]
    assert api.post(f"{BASE}/replay", json={"dataset": id_of(root, "people"), "rows": [0]}).status_code == 200
    replays.close()


def test_lists_page(root: Path) -> None:
    """Each answer with lists of any length pages, or is checked as a whole."""
    paged = {r.path.removeprefix(BASE) for r in routes(client(root)) if "cursor" in _parameters(r)}
    assert {*PAGES} <= paged
    for route in routes(client(root)):
        model = route.response_model
        names = _lists(model)
        path = route.path.removeprefix(BASE)
        if names and path not in PAGES and "limit" not in _parameters(route) | _fields(route):
            assert path in {"/about", "/locate", "/trace", "/replay", "/questions"} or path.endswith("/profiles"), (
                f"a new route, {path}: page its lists"
            )


def test_pages_fit_together(root: Path, tmp_path: Path) -> None:
    people(tmp_path)
    shop, town = client(root), client(tmp_path)
    step = next(s["step"] for s in town.get(f"{BASE}/steps").json()["items"] if s["task_id"] == "clean")
    together = {"dataset": id_of(root, "raw"), "rows": [0], "to": id_of(root, "raw")}
    aside = {**together, "relation": "together"}
    related = {"dataset": id_of(root, "report"), "to": id_of(root, "raw")}
    for api, path, body, names in (
        (shop, f"/datasets/{id_of(root, 'people')}", None, ("versions", "read_by")),
        (shop, f"/datasets/{id_of(root, 'people')}/beside", None, ("together", "siblings", "sources")),
        (shop, f"/datasets/{id_of(root, 'people')}/related", None, ("co_contributory", "co_dependency", "composition")),
        (shop, f"/steps/{shop.get(f'{BASE}/steps').json()['items'][0]['step']}", None, ("writes", "untracked")),
        (town, f"/steps/{step}/operations?parts=true", None, ()),
        (town, f"/datasets/{id_of(tmp_path, 'report.csv')}/operations", None, ()),
        (town, f"/datasets/{id_of(tmp_path, 'report.csv')}/columns", None, ("lines", "stops")),
        (town, f"/datasets/{id_of(tmp_path, 'people.csv')}/dropped", None, ("lines", "stops")),
        (shop, "/how", {"dataset": id_of(root, "report"), "rows": [0], "context": True}, ("paths", "stops")),
        (shop, "/sideways", aside, ()),
        (shop, "/co_contributory", together, ()),
        (shop, "/questions/backward", {"dataset": id_of(root, "report"), "kinds": ["data", "context"]}, ("lines",)),
        (shop, "/questions/cells", {"dataset": id_of(root, "report")}, ("lines",)),
        (shop, "/questions/correspondence", related, ("lines",)),
        (shop, "/questions/derivations", {"dataset": id_of(root, "report")}, ("rows", "sources")),
        (shop, "/questions/how", {"dataset": id_of(root, "report")}, ("lines",)),
        (shop, "/questions/select", {"dataset": id_of(root, "raw")}, ("lines",)),
    ):
        method = "GET" if body is None else "POST"
        whole = api.request(method, BASE + path, json=body).json()
        assert isinstance(whole, list) or whole["next"] is None
        parts, query = [], {"cursor": 0, "limit": 1}
        url = f"{BASE}{path}"
        while url:
            first = url == f"{BASE}{path}"
            answer = api.request(method, url, json=body, **({"params": query} if first and "?" not in url else {}))
            if first and "?" in url:
                answer = api.request(method, f"{url}&cursor=0&limit=1", json=body)
            assert answer.status_code == 200, answer.text
            parts.append(answer.json())
            if isinstance(whole, list):
                link = answer.links.get("next", {}).get("url", "")
                url = f"{BASE}{path.split('?')[0]}{link}" if link else ""
            else:
                following = answer.json()["next"]
                url = f"{BASE}{path}?cursor={following}&limit=1" if following is not None else ""
        if isinstance(whole, list):
            assert [x for part in parts for x in part] == whole and len(parts) == max(1, len(whole)), path
            assert all(len(p) <= 1 for p in parts)
        for name in names:
            assert [x for part in parts for x in part[name]] == whole[name], (path, name)
            assert all(len(p[name]) <= 1 for p in parts)


def test_lists_have_an_end(root: Path, chain: Path) -> None:
    few = client(root, limits=replace(PATIENT, max_items=1))
    report, people_id = id_of(root, "report"), id_of(root, "people")
    told = few.get(f"{BASE}/datasets/{people_id}/related").json()
    names = ("co_contributory", "co_dependency", "composition")
    assert max(len(told[name]) for name in names) == 1 and told["next"] == 1
    more = few.get(f"{BASE}/datasets/{people_id}/related", params={"limit": 99, "cursor": 0}).json()
    assert more == told
    # A graph does not page.
    refused = few.post(f"{BASE}/trace", json={"dataset": report, "rows": [0]})
    assert refused.status_code == 422 and "max_items" in refused.json()["detail"]
    assert client(root).post(f"{BASE}/trace", json={"dataset": report, "rows": [0]}).status_code == 200


def _lists(model: Any) -> set[str]:
    """Lists that an answer has, but not within its items."""
    if get_origin(model) is list:
        return {""}
    if not (inspect.isclass(model) and issubclass(model, BaseModel)):
        return set()
    kinds = {name: f.annotation for name, f in model.model_fields.items()}
    return {n for n, kind in kinds.items() if any(get_origin(k) is list for k in (kind, *_options(kind)))}


def _options(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) is Union or "|" in str(kind) else ()


def _parameters(route: APIRoute) -> set[str]:
    found, waiting = set(), [route.dependant]
    while waiting:
        dependant = waiting.pop()
        found |= {p.name for p in dependant.query_params}
        waiting += dependant.dependencies
    return found


def _fields(route: APIRoute) -> set[str]:
    """Fields of the body that a route takes."""
    models = [p.field_info.annotation for p in route.dependant.body_params]
    return {name for m in models if m is not None for name in m.model_fields}


def _nowhere(path: str) -> dict[str, Any]:
    """What a question must be given, of a data set that is not there."""
    nowhere = {"dataset": "0" * 16, "step": "x", "column": "name", "version": "0" * 32, "conditions": "age = 1"}
    same = [q for q in asked_over_http() if path == f"{BASE}/questions/{q.name}"]
    return least(same[0], nowhere) if same else {}


def _query(route: APIRoute) -> dict[str, str]:
    return {name: "0" * 32 for name in ("found", "answer_version") if name in _parameters(route)}


def _body(root: Path, route: APIRoute) -> dict[str, Any]:
    raw = id_of(root, "raw")
    for question in asked_over_http():
        if route.path == f"{BASE}/questions/{question.name}":
            given = {"dataset": raw, "step": "x", "column": "name", "conditions": "age >= 40", "version": "0" * 32}
            return least(question, given)
    body = {
        "dataset": raw,
        "via": raw,
        "rows": [0],
        "to": raw,
        "source": raw,
        "column": "name",
        "node": 0,
        "relation": "together",
    }
    body |= {"found": "0" * 32, "answer_version": "0" * 32}
    if route.path.endswith("/locate"):
        body["version"] = "0" * 32
    return {name: value for name, value in body.items() if name in _fields(route)}


def test_a_new_route_runs_in_threads_of_its_own() -> None:
    from provspark.web.former_routes import router as former
    from provspark.web.operation_routes import router as operations
    from provspark.web.question_routes import question_router
    from provspark.web.related_routes import router as related
    from provspark.web.replay_routes import router as replays
    from provspark.web.routes import router

    routers: list[APIRouter] = [router, operations, replays, related, former, question_router()]
    found = [r for x in routers for r in x.routes if isinstance(r, APIRoute)]
    assert found and all(inspect.iscoroutinefunction(r.endpoint) for r in found)


def test_short_lists_and_odd_queries(root: Path) -> None:
    api = client(root, limits=replace(PATIENT, max_items=3))
    for path in ("datasets", "steps"):
        told = api.get(f"{BASE}/{path}")
        assert told.status_code == 200 and len(told.json()["items"]) == told.json()["next"] == 3
    one = client(root)
    step = one.get(f"{BASE}/steps").json()["items"][0]["step"]
    for path in (f"steps/{step}/operations", f"datasets/{id_of(root, 'report')}/operations"):
        answer = one.get(f"{BASE}/{path}?limit=1&x=%ff&y=\u00e9")
        assert answer.status_code == 200, answer.text

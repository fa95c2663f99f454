"""Asks every route of the API about everything in a store, and searches each answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle, product
from typing import Any

from _http import BASE
from _question_bodies import every_parameter
from _secrets_search import Leak, Secrets
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

import provspark
from provspark.index_store.query.parameters import replays
from provspark.index_store.query.question import Question
from provspark.web.app import manifest
from provspark.web.question_bodies import asked_over_http, fields
from provspark.web.scope import dataset_id

NOTHING = "0" * 32
FORMATS = ("csv", "json", "jsonl", "arrow")
GRAPHS = ("prov_json", "node_link", "graphml")
WAYS = ("backward", "forward")


@dataclass(frozen=True)
class Found:
    """A version of a data set."""

    name: str
    id: str
    version: str
    rows: int
    columns: tuple[str, ...]
    last: bool


@dataclass
class Catalogue:
    """All that a store has, hidden or not."""

    versions: list[Found]
    steps: dict[str, tuple[int, list[str], list[str]]]
    """By id: how many operations it has, and ids of the data sets that it wrote and read."""

    @classmethod
    def of(cls, store: str) -> Catalogue:
        graph = provspark.open(store).graph
        versions = []
        for dataset in graph.datasets():
            known = {s.version.id: s.version for s in graph.references(dataset)}
            last = graph.references(dataset)[-1].version.id
            versions += [
                Found(dataset.uri, dataset_id(dataset), v.id, v.rows, tuple(f.name for f in v.fields), v.id == last)
                for v in known.values()
            ]
        steps = {}
        for m in graph.manifests:
            nodes = [n for n in graph.nodes if n.step == m.step]
            steps[m.step] = (
                max((len(n.operations) for n in nodes if n.operations), default=0),
                [dataset_id(w.output.dataset) for w in m.writes],
                [dataset_id(v.dataset) for w in m.writes for v in w.inputs],
            )
        return cls(versions, steps)


PAGED = {
    *(
        ("GET", f"/datasets/{{dataset}}{of}")
        for of in ("", "/related", "/beside", "/operations", "/columns", "/dropped")
    ),
    *(("GET", f"/steps/{{step}}{of}") for of in ("", "/operations")),
    *(("POST", route) for route in ("/co_contributory", "/co_dependency", "/sideways", "/how")),
}
"""Routes whose lists are cut by `cursor` and `limit` of the address."""


@dataclass
class Sweep:
    """What one user asked, and what was found in the answers."""

    role: str
    api: TestClient
    secrets: Secrets
    catalogue: Catalogue
    every: int = 1
    """Of the requests to a route, but for those that others depend on, only each so many-th is sent."""
    leaks: list[tuple[str, Leak]] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    """Answers of status 200, by route."""
    parameters: set[tuple[str, str]] = field(default_factory=set)
    trouble: list[str] = field(default_factory=list)
    """Answers of status 500 and above."""
    searched: int = 0
    """Bytes."""
    answers: list[tuple[str, bytes]] = field(default_factory=list)
    """Where `kept`: each request with its status, and the body of its answer."""
    kept: bool = False
    _due: Counter[str] = field(default_factory=Counter)

    def ask(
        self,
        method: str,
        route: str,
        body: dict[str, Any] | None = None,
        *,
        always: bool = False,
        events: bool = False,
        **more: Any,
    ) -> Any:
        """Send one request, search its answer, and return its JSON, or None where it is an error or a stream."""
        self._due[route] += 1
        if not always and self._due[route] % self.every:
            return None
        path = {
            k: more.pop(k) for k in ("dataset", "step", "operation", "name") if k in more and "{" + k + "}" in route
        }
        params = {k: v for k, v in more.items() if v is not None}
        url = ("" if route.startswith("/static") else BASE) + route.format(**path)
        headers = {"accept": "text/event-stream"} if events else {}
        answer = self.api.request(method, url, params=params, json=body, headers=headers)
        self.asked[f"{method} {route}"] += 1
        self.parameters |= {(f"{method} {route}", name) for name in (*path, *params, *(body or {}))}
        head = "\n".join(f"{k}: {v}" for k, v in answer.headers.items()).encode()
        question = json.dumps([params, body], ensure_ascii=False)
        self.searched += len(head) + len(answer.content)
        found = self.secrets.find(head, [question]) + self.secrets.find(answer.content, [question])
        if answer.headers.get("content-type", "").startswith("application/vnd.apache.arrow"):
            found += self.secrets.find_packed(answer.content)
        raw = answer.request.url.raw_path.decode()
        where = f"{self.role}: {method} {raw} {json.dumps(body) if body else ''} → {answer.status_code}"
        self.leaks += [(where, leak) for leak in found]
        if self.kept:
            self.answers.append((where, answer.content))
        if answer.status_code >= 500:
            self.trouble.append(f"{where}: {answer.text[:200]}")
        if answer.status_code != 200:
            return None
        self.answered[f"{method} {route}"] += 1
        if (method, route) in PAGED and "limit" not in more and self.answered[f"{method} {route}"] % 5 == 1:
            self.ask(method, route, body, always=True, **path, **params, cursor=1, limit=1)
        return answer.json() if answer.headers["content-type"] == "application/json" else None

    def run(self, area: str) -> None:
        """Ask all routes of an area."""
        AREAS[area](self)


def routes_of(api: TestClient) -> set[str]:
    """Every route of the app, as the sweep names them."""
    found: set[str] = set()
    for route in api.app.routes:  # type: ignore[attr-defined]
        assert isinstance(route, APIRoute), route
        found |= {f"{method} {route.path.removeprefix(BASE)}" for method in route.methods}
    return found


def parameters_of(api: TestClient) -> set[tuple[str, str]]:
    """Every parameter of every route: of paths, queries and bodies."""
    described = api.app.openapi()  # type: ignore[attr-defined]
    found = set()
    for path, methods in described["paths"].items():
        for method, about in methods.items():
            route = f"{method.upper()} {path.removeprefix(BASE)}"
            found |= {(route, p["name"]) for p in about.get("parameters", ())}
            if "requestBody" in about:
                name = about["requestBody"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[-1]
                found |= {(route, p) for p in described["components"]["schemas"][name]["properties"]}
    return found


def _versions(sweep: Sweep) -> Iterator[tuple[Found, dict[str, Any]]]:
    """Each version by its id, and one that is not there."""
    for found in sweep.catalogue.versions:
        yield found, {"dataset": found.id, "version": found.version}
    yield found, {"dataset": found.id, "version": NOTHING}


def _lists(sweep: Sweep) -> None:
    sweep.ask("GET", "/about")
    for name in manifest()["files"] if sweep.every == 1 else ():
        sweep.ask("GET", "/static/{name}", name=name)
    sweep.ask("GET", "/static/{name}", name="nothing.js")
    sweep.ask("GET", "/datasets", always=True)
    sweep.ask("GET", "/datasets", cursor=1, limit=2)
    for word in ("ssn", "=", "by_ssn", "people"):
        sweep.ask("GET", "/datasets", search=word)
    sweep.ask("GET", "/steps", always=True)
    sweep.ask("GET", "/steps", cursor=1, limit=3)
    for about in ({"dag_id": "pay"}, {"run_id": "r1"}, {"task_id": "clean"}, {"map_index": -1}):
        sweep.ask("GET", "/steps", **about)


def _rows(sweep: Sweep) -> None:
    conditions = cycle(("is not null", "startswith QX", "> 4000000", "!= 1"))
    for found, at in _versions(sweep):
        sweep.ask("GET", "/datasets/{dataset}", **at, always=True)
        sweep.ask("GET", "/datasets/{dataset}/rows", **at, always=True, events=True)
        sweep.ask("GET", "/datasets/{dataset}/rows", **at, limit=1000, cursor=1, columns=list(found.columns))
        for form in FORMATS:
            sweep.ask("GET", "/datasets/{dataset}/export", **at, format=form)
        for column in (*found.columns, "nothing"):
            sweep.ask("GET", "/datasets/{dataset}/rows", **at, columns=column)
            sweep.ask("GET", "/datasets/{dataset}/rows", **at, where=f"`{column}` {next(conditions)}")
            sweep.ask("GET", "/datasets/{dataset}/export", **at, where=f"`{column}` {next(conditions)}")
        if found.last and "version" in at:
            for route in ("", "/rows", "/export", "/operations", "/columns", "/dropped", "/related", "/beside"):
                sweep.ask("GET", f"/datasets/{{dataset}}{route}", dataset=found.id)


def _operations(sweep: Sweep) -> None:
    ways = cycle(WAYS)
    for found, at in _versions(sweep):
        to = sweep.catalogue.versions[0].id
        for way in WAYS:
            sweep.ask("GET", "/datasets/{dataset}/operations", **at, direction=way, parts=True)
            sweep.ask("GET", "/datasets/{dataset}/columns", **at, direction=way, existence=False)
        sweep.ask("GET", "/datasets/{dataset}/columns", **at, to=to)
        for column in found.columns:
            sweep.ask("GET", "/datasets/{dataset}/operations", **at, column=column, direction=next(ways))
            sweep.ask("GET", "/datasets/{dataset}/columns", **at, column=column, direction=next(ways))
            sweep.ask("GET", "/datasets/{dataset}/dropped", **at, column=column)
            next(ways)
        for way, parts in product(WAYS, (False, True)):
            sweep.ask("POST", "/how", {**at, "direction": way, "context": way == "forward", "parts": parts})
        sweep.ask("POST", "/how", {**at, "rows": [0, 1], "to": to})
        for way, existence in product(WAYS, (False, True)):
            sweep.ask("POST", "/cells", {**at, "direction": way, "context": True, "existence": existence, "limit": 20})
        sweep.ask("POST", "/cells", {**at, "columns": list(found.columns), "rows": [0], "to": to, "cursor": 1})
        for column, route in zip(found.columns, cycle(("/how", "/cells")), strict=False):
            sweep.ask("POST", route, {**at, "where": [f"`{column}` is not null"]})


def _steps(sweep: Sweep) -> None:
    for step, (_, outputs, inputs) in sweep.catalogue.steps.items():
        sweep.ask("GET", "/steps/{step}", step=step, always=True)
        for parts in (False, True):
            sweep.ask("GET", "/steps/{step}/operations", step=step, parts=parts)
        sweep.ask("GET", "/steps/{step}/profiles", step=step, always=True)
        for output, source in product(outputs, inputs):
            sweep.ask("GET", "/steps/{step}/profiles", step=step, output=output, source=source)


def _traces(sweep: Sweep) -> None:
    formats, graphs, selections = (
        cycle(FORMATS),
        cycle(GRAPHS),
        cycle(("/trace", "/trace/rows", "/trace/export", "/trace/graph")),
    )
    for found, at in _versions(sweep):
        for way in WAYS:
            asked = {**at, "direction": way, "context": True}
            trace = sweep.ask("POST", "/trace", asked, always=True)
            sweep.ask("POST", "/trace/graph", {**asked, "rows": [0, 1]}, format=next(graphs))
            for node in trace["nodes"] if trace else ():
                sweep.ask("POST", "/trace/rows", {**asked, "node": node["id"], "limit": 100})
                sweep.ask("POST", "/trace/rows", {**asked, "node": node["id"], "one": True, "cursor": 1})
                sweep.ask("POST", "/trace/rows", {**asked, "node": node["id"], "one": True, "example": 0})
                sweep.ask("POST", "/trace/export", asked, node=node["id"], format=next(formats))
        every = {**at, "direction": "forward", "versions": "all"}
        for node in (sweep.ask("POST", "/trace", every, always=True) or {"nodes": ()})["nodes"]:
            known = {"node": node["id"], "node_version": node["version"]}
            sweep.ask("POST", "/trace/rows", {**every, **known})
            sweep.ask("POST", "/trace/export", every, **known, format=next(formats))
        sweep.ask("POST", "/trace/graph", {**every, "rows": [0]})
        for into in (None, at["version"]):
            sweep.ask("POST", "/locate", {**at, "rows": [0], "into": into})
        to = sweep.catalogue.versions[0].id
        sweep.ask("POST", "/trace", {**at, "rows": [0], "to": to})
        sweep.ask("POST", "/trace", {**at, "rows": [0, 1], "example": 1})
        sweep.ask("POST", "/trace/rows", {**at, "rows": [0], "to": to, "node": 0, "columns": list(found.columns)})
        sweep.ask("POST", "/trace/export", {**at, "rows": [0], "to": to})
        sweep.ask("POST", "/trace/graph", {**at, "rows": [0], "to": to})
        for column, route in zip(found.columns, selections, strict=False):
            more = {"node": 0} if route == "/trace/rows" else {}
            sweep.ask("POST", route, {**at, "where": [f"`{column}` is not null"], **more})


def _beside(sweep: Sweep) -> None:
    columns = {f.id: f.columns for f in sweep.catalogue.versions}
    formats, selections = cycle(FORMATS), cycle(("", "/rows", "/export"))
    for found, at in _versions(sweep):
        sweep.ask("GET", "/datasets/{dataset}/beside", **at)
        related = sweep.ask("GET", "/datasets/{dataset}/related", **at, always=True)
        related = related or {"co_contributory": [], "co_dependency": [], "composition": []}
        choices = [("/co_contributory", c, None) for c in related["co_contributory"][:2]]
        sharing = related["co_dependency"]
        choices += [("/co_dependency", c, c["via"][0]["id"]) for c in sharing[:: max(1, len(sharing) // 4)]]
        for route, choice, via in choices:
            asked = {**at, "to": choice["dataset"]["id"], "via": via, "context": True}
            for version in sweep.ask("POST", route, asked) or ():
                there = {"answer_version": version["version"]}
                sweep.ask("POST", f"{route}/rows", {**asked, **there, "limit": 100, "cursor": 1}, always=True)
                sweep.ask("POST", f"{route}/rows", {**asked, **there, "columns": list(columns[asked["to"]])})
                sweep.ask("POST", f"{route}/export", asked, **there, format=next(formats))
                _former(sweep, route, asked, version["version"])
        here = {"answer_version": found.version}
        for route in ("/co_contributory", "/co_dependency"):
            asked = {**at, "to": found.id, "via": found.id}
            for column, end in zip(found.columns, selections, strict=False):
                where = {"where": [f"`{column}` is not null"]}
                in_body, in_query = (here if end == part else {} for part in ("/rows", "/export"))
                sweep.ask("POST", route + end, {**asked, **where, **in_body}, **in_query)
                sweep.ask("POST", "/composition", {**at, **where, "source": found.id, "column": column})
            sweep.ask("POST", route, {**asked, "rows": [0]})
            sweep.ask("POST", f"{route}/export", {**asked, "rows": [0]}, **here)
            sweep.ask("POST", f"{route}/rows", {**asked, "rows": [0], **here})
        for source in related["composition"]:
            for column in columns[source["id"]]:
                sweep.ask("POST", "/composition", {**at, "source": source["id"], "column": column})
            sweep.ask("POST", "/composition", {**at, "rows": [0], "source": source["id"], "column": "city", "limit": 1})


def _former(sweep: Sweep, route: str, asked: dict[str, Any], version: str) -> None:
    """Ask by the paths of the last release."""
    former = {**asked, "relation": "together" if route == "/co_contributory" else "siblings"}
    city = {**former, "where": ["city is not null"]}
    sweep.ask("POST", "/sideways", former)
    rows = {"found": version, "cursor": 0, "limit": 100, "columns": ["city"]}
    for one in ({**former, "rows": [0]}, city):
        sweep.ask("POST", "/sideways", one)
        sweep.ask("POST", "/sideways/rows", {**one, **rows})
        sweep.ask("POST", "/sideways/export", one, found=version, format="jsonl")
    sweep.ask("POST", "/sideways/rows", {**former, "found": version})


def _questions(sweep: Sweep) -> None:
    """Ask each question about each version: what must be given alone, and with one parameter more, each in turn."""
    steps = cycle(sweep.catalogue.steps)
    first = sweep.catalogue.versions[0].id
    sweep.ask("GET", "/questions")
    for number, (found, at) in enumerate(_versions(sweep)):
        for turn, column in enumerate((found.columns or ("x",))[:3]):
            given = {"dataset": at["dataset"], "version": at["version"], "step": next(steps), "column": column}
            given |= {"to": first, "source": first, "via": first, "conditions": f"`{column}` is not null"}
            given["step or dataset"] = given["step"] if turn % 2 else at["dataset"]
            for question in asked_over_http():
                if not replays(question) or question.name == "cells":
                    bodies = [b for b in every_parameter(question, given) if not b.get("replay")]
                    some = {**bodies[0], "version": at["version"]} if _versioned(question) else bodies[0]
                    route, page = f"/questions/{question.name}", {"cursor": 0, "limit": 50} if turn else {}
                    sweep.ask("POST", route, some, **page, always=not turn)
                    sweep.ask("POST", route, bodies[(3 * number + turn) % len(bodies)])


def _versioned(question: Question) -> bool:
    return any(p.name == "version" for p in fields(question))


def _replays(sweep: Sweep) -> None:
    """Run replays for real: back from rows, by step, and before and after operations."""
    by_name = {f.name.rsplit("/", 1)[-1]: f for f in sweep.catalogue.versions if f.last}
    steps = {step.rsplit("-", 1)[0]: (step, outputs) for step, (_, outputs, _) in sweep.catalogue.steps.items()}
    profiles = "/steps/{step}/operations/{operation}/profiles"
    whole = sweep.every == 1
    for task, number in (("intake-clean", 2), ("pay-derive", 1), ("audit-after", 1)):
        step, (output, *_) = steps[task]
        sweep.ask("GET", profiles, step=step, operation=1000, child=0, output=output)
        if whole or task != "pay-derive":
            sweep.ask("POST", "/replay", {"dataset": output, "rows": [0], "step": step}, always=True, events=True)
        if whole or task == "audit-after":
            sweep.ask("GET", profiles, step=step, operation=number, always=True)
    if whole:
        opaque = by_name["opaque"]
        asked = {"dataset": opaque.id, "version": opaque.version, "rows": [0], "direction": "backward"}
        sweep.ask("POST", "/replay", asked)
    _replayed_questions(sweep, by_name, steps)
    raw = by_name["raw"]
    for column in raw.columns[2:]:
        sweep.ask("POST", "/replay", {"dataset": raw.id, "where": [f"`{column}` is null"], "direction": "forward"})


def _replayed_questions(sweep: Sweep, by_name: dict[str, Found], steps: dict[str, tuple[str, list[str]]]) -> None:
    """Run a replay of each question that needs one; its other parameters are given with more rows than it may have."""
    step, (output, *_) = steps["intake-clean"]
    people = {"dataset": output, "rows": [0]}
    between = {**people, "operation": 1, "to": 1, "via": 3, "step": step}
    bodies: dict[str, dict[str, Any]] = {
        "replay": people,
        "history": {**people, "direction": "backward"},
        "co_contributory_lines": between,
        "co_dependency_lines": {**between, "via": 1},
        "counts": {"step": step},
        "operation_profiles": {"step": step, "operations": [1]},
        "why_not": {"dataset": output, "where": ["city = Nowhere"]},
    }
    for name, body in bodies.items():
        if sweep.every <= 2:
            sweep.ask("POST", f"/questions/{name}", body, always=True)
    given = {"dataset": output, "version": NOTHING, "step": step, "column": "city", "conditions": "ssn is not null"}
    for question in asked_over_http() if sweep.every == 1 else ():
        if replays(question):
            for body in every_parameter(question, given):
                many = {"rows": [0] * 21} if "rows" in {p.name for p in fields(question)} else {"dataset": NOTHING[:16]}
                sweep.ask("POST", f"/questions/{question.name}", {**body, **many}, always=True, cursor=0, limit=5)


AREAS: dict[str, Callable[[Sweep], None]] = {
    "lists": _lists,
    "rows": _rows,
    "operations": _operations,
    "steps": _steps,
    "traces": _traces,
    "beside": _beside,
    "questions": _questions,
    "replays": _replays,
}

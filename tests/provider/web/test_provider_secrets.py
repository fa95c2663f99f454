"""No answer of the API contains a value of a masked column, nor one that was made of it; all others are whole.

A DAG of real Spark steps is asked through every route by users of every role, and each byte of each answer is searched.
"""

from __future__ import annotations

import csv
import json
import logging
import re
from collections import Counter
from collections.abc import Iterator
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from _http import BASE, client
from _secrets_dag import MASKS, MISSING, World, build, build_quiet
from _secrets_requests import AREAS, Catalogue, Found, Sweep, parameters_of, routes_of
from _secrets_search import STATISTICS, Secrets, readable
from fastapi.testclient import TestClient

from provspark.index_store.query.question import QUESTIONS
from provspark.web.policy import Policy
from provspark.web.visible import HIDDEN

pytestmark = pytest.mark.spark

MASKED = Policy.of(True, MASKS)
ROLES: dict[str, tuple[list[str] | None, Policy, int]] = {
    "all DAGs": (None, MASKED, 1),
    "later DAG": (["audit"], MASKED, 2),
    "earlier DAGs": (["intake", "town"], MASKED, 3),
    "no DAG": ([], MASKED, 7),
    "no values": (None, Policy.of(False, MASKS), 3),
}
"""The DAGs that a user may read, what is masked, and how many of the possible requests one is sent for."""
UNMASKED = "all DAGs, nothing masked"
ALSO = ("badge 1", "floor 2", "land 1", "LIMA")
"""Values of columns that are not masked: no answer contains them where values are off."""
_SHOWN = 25


@pytest.fixture(scope="module")
def world(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> World:
    return build(spark, tmp_path_factory.mktemp("secrets"))


@pytest.fixture(scope="module")
def secrets(world: World) -> Secrets:
    return Secrets(world)


@pytest.fixture(scope="module")
def catalogue(world: World) -> Catalogue:
    return Catalogue.of(world.store)


class Users:
    """Clients and sweeps of each role; replays of all share their processes."""

    def __init__(self, world: World, secrets: Secrets, catalogue: Catalogue) -> None:
        self.world, self.secrets, self.catalogue = world, secrets, catalogue
        self._clients: dict[str, TestClient] = {}
        self.sweeps: dict[tuple[str, str], Sweep] = {}

    def client(self, name: str, dags: list[str] | None, policy: Policy, root: Path | None = None) -> TestClient:
        found = self._clients.get(name)
        if found is None:
            found = self._clients[name] = client(root or self.world.root, dags, policy)
            first = next(iter(self._clients.values()))
            found.app.state.replays = first.app.state.replays  # type: ignore[attr-defined]
        return found

    def swept(self, role: str, area: str) -> Sweep:
        """Ask the routes of an area, once."""
        found = self.sweeps.get((role, area))
        if found is None:
            dags, policy, every = ROLES[role]
            sought = self.secrets if policy.show_values else Secrets(self.world, ALSO)
            found = Sweep(role, self.client(role, dags, policy), sought, self.catalogue, every)
            found.run(area)
            self.sweeps[role, area] = found
        return found

    def counts(self) -> str:
        """Say how much was asked and searched."""
        sweeps = self.sweeps.values()
        routes = {route for sweep in sweeps for route in sweep.asked}
        return (
            f"masked values: {len(routes)} routes × {len({s.role for s in sweeps})} roles × "
            f"{len(self.catalogue.versions)} versions of {len({v.id for v in self.catalogue.versions})} data sets, "
            f"{len(self.secrets)} values searched for in {sum(sum(s.asked.values()) for s in sweeps)} answers "
            f"({sum(sum(s.answered.values()) for s in sweeps)} of status 200, {sum(s.searched for s in sweeps)} bytes)"
        )

    def close(self) -> None:
        for api in self._clients.values():
            api.app.state.replays.close()  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def users(request: pytest.FixtureRequest, world: World, secrets: Secrets, catalogue: Catalogue) -> Iterator[Users]:
    logging.getLogger("provspark.web.problems").setLevel(logging.CRITICAL)
    made = Users(world, secrets, catalogue)
    yield made
    made.close()
    terminal = request.config.pluginmanager.get_plugin("terminalreporter")
    if terminal:
        terminal.write_line(f"\n{made.counts()}")
    logging.getLogger("provspark.web.problems").setLevel(logging.NOTSET)


def test_every_route_and_parameter_is_asked(users: Users) -> None:
    """A route or parameter that the requests do not know makes this fail, as does a route that never answers."""
    sweeps = [users.swept("all DAGs", area) for area in AREAS]
    api = users.client("all DAGs", None, MASKED)
    asked = {route for sweep in sweeps for route in sweep.asked}
    assert asked == routes_of(api)
    assert {p for sweep in sweeps for p in sweep.parameters} >= parameters_of(api)
    answered = Counter[str]()
    for sweep in sweeps:
        answered.update(sweep.answered)
    refused = {f"POST /questions/{q.name}" for q in QUESTIONS.values() if q.compares}  # of all columns, masked or not
    assert {*answered} == asked - refused and refused <= asked
    assert answered["POST /replay"] >= 3 and answered["GET /steps/{step}/operations/{operation}/profiles"] >= 2


def test_the_search_finds_what_is_not_masked(users: Users, world: World, secrets: Secrets) -> None:
    """Without masks, the same requests find values of every column: a search that finds nothing proves nothing."""
    api = users.client(UNMASKED, None, Policy())
    found = set()
    for area, every in (("rows", 5), ("steps", 1)):
        sweep = Sweep(UNMASKED, api, secrets, users.catalogue, every)
        sweep.run(area)
        found |= {leak.origin for _, leak in sweep.leaks}
    expected = {o for o in secrets.origins if not o.startswith((STATISTICS, "report."))}  # its files are deleted
    assert expected - found == set()
    for value in (*world.people[1].ssn.split('&"é/'), str(world.people[3].salary), MISSING):
        for body in (value, value.lower(), f'"{value}"', f"a%20{value}%2C", f"{value}.0" if value.isdigit() else value):
            assert secrets.find(body.encode()), body
    salary = world.people[3].salary
    for body in (f"{salary:,}", f"{salary:_}", f"{salary:.6e}", f"x={salary}", f"{salary / 10}"):
        assert secrets.find(body.encode()), body
    assert not secrets.find(b'{"rows": 12, "version": "9d460f1b2c3d4e5f60718293a4b5c6d7", "stored_bytes": 24123}')


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.parametrize("role", ROLES)
def test_no_answer_contains_a_masked_value(users: Users, role: str, area: str) -> None:
    sweep = users.swept(role, area)
    assert sum(sweep.asked.values()) > 0
    told = "\n".join(
        f"{where}\n    {leak.origin}: {leak.secret!r} in …{leak.excerpt}…" for where, leak in _sample(sweep)
    )
    count = len({where for where, _ in sweep.leaks})
    if sweep.leaks:
        message = f"{count} of {sum(sweep.asked.values())} answers contain masked values, such as:\n{told}"
        pytest.fail(message, pytrace=False)


def _sample(sweep: Sweep) -> list[tuple[str, Any]]:
    """A few leaks of each route and origin."""
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for where, leak in sweep.leaks:
        key = (where.split("?")[0][:60], leak.origin)
        seen[key] += 1
        if seen[key] == 1:
            found.append((where, leak))
    return found[:_SHOWN]


@pytest.fixture(scope="module")
def api(users: Users) -> TestClient:
    """A user who may read all DAGs."""
    return users.client("all DAGs", None, MASKED)


def _current(catalogue: Catalogue, world: World) -> dict[str, Found]:
    return {f.name.removeprefix(world.root.as_uri()).strip("/"): f for f in catalogue.versions if f.last}


def test_columns_are_masked_by_what_is_behind_them(api: TestClient, world: World, catalogue: Catalogue) -> None:
    """In every data set exactly the columns that depend on a masked one are marked, and have no values."""
    wrong = []
    for name, at in _current(catalogue, world).items():
        if name not in world.masked:
            continue  # a partition that was read by its own path
        expected = {**dict.fromkeys(world.masked[name], True), **dict.fromkeys(world.open[name], False)}
        detail = api.get(f"{BASE}/datasets/{at.id}").json()
        rows = api.get(f"{BASE}/datasets/{at.id}/rows", params={"limit": 1000}).json()
        for told in (detail["columns"], rows["columns"]):
            wrong += [
                f"{name}.{c['name']} is {'' if c['masked'] else 'not '}masked"
                for c in told
                if c["masked"] != expected[c["name"]]
            ]
        for number, column in enumerate(rows["columns"]):
            if column["masked"] and rows["values"] and any(row[number] is not None for row in rows["values"]):
                wrong.append(f"{name}.{column['name']} has values")
    if wrong:
        pytest.fail("\n".join(dict.fromkeys(wrong)), pytrace=False)


def test_values_of_other_columns_are_whole(api: TestClient, world: World, catalogue: Catalogue) -> None:
    """Rows and exports of all formats contain the values that plain Spark reads."""
    compared = 0
    for name, at in _current(catalogue, world).items():
        shown = world.open.get(name, [])
        if name not in world.last or not shown:
            continue
        expected = sorted(tuple(row[c] for c in shown) for row in world.last[name])
        told = api.get(f"{BASE}/datasets/{at.id}/rows", params={"limit": 1000, "columns": shown}).json()
        assert told["why"] == "" and [c["name"] for c in told["columns"]] == shown, name
        assert sorted(tuple(row) for row in told["values"]) == expected, name
        for form in ("csv", "json", "jsonl", "arrow"):
            answer = api.get(f"{BASE}/datasets/{at.id}/export", params={"format": form})
            assert answer.status_code == 200, answer.text
            rows = _exported(answer.content, form)
            assert sorted(tuple(str(row[c]) for c in shown) for row in rows) == sorted(
                tuple(str(v) for v in row) for row in expected
            ), (name, form)
        where = {"where": f"`{shown[0]}` is not null"}
        assert api.get(f"{BASE}/datasets/{at.id}/rows", params=where).json()["selected"] == len(expected)
        compared += len(expected)
    assert compared > 100


def _exported(body: bytes, form: str) -> list[dict[str, Any]]:
    if form == "arrow":
        found: list[dict[str, Any]] = pa.ipc.open_stream(BytesIO(body)).read_all().to_pylist()
        return found
    text = body.decode()
    if form == "csv":
        return list(csv.DictReader(StringIO(text)))
    if form == "json":
        return list(json.loads(text))
    return [json.loads(line) for line in text.splitlines()]


def test_texts_of_other_operations_are_there(api: TestClient, users: Users, catalogue: Catalogue) -> None:
    """Operations that touch no masked column keep their texts: those of a user without masks."""
    unmasked = users.client(UNMASKED, None, Policy())
    texts: dict[str, list[str | None]] = {}
    for step in catalogue.steps:
        path = f"{BASE}/steps/{step}/operations"
        told, whole = (one.get(path, params={"parts": True}).json() for one in (api, unmasked))
        assert [x["operations"] for x in told] == [x["operations"] for x in whole]
        shown = [re.sub(r"(?<=/ssn=)[^/]+", HIDDEN, x["text"]) for x in whole]
        assert all(x["text"] in (text, None) for x, text in zip(told, shown, strict=True))
        if step.startswith("town-"):
            assert [x["text"] for x in told] == [x["text"] for x in whole] and all(x["text"] for x in told)
        texts[step.rsplit("-", 1)[0]] = [x["text"] for x in told]

    def contains(step: str, word: str) -> bool:
        return any(word in text for text in texts[step] if text)

    assert contains("intake-clean", "upper") and not contains("intake-clean", "person.")
    assert contains("pay-append_0", "id < 4") and contains("pay-snapshot_1", "id >= 3")
    assert contains("town-zones", "zone > 5")


def test_conditions_on_masked_columns_are_refused(api: TestClient, world: World, catalogue: Catalogue) -> None:
    """Whatever the condition, and whatever it would select."""
    wrong = []
    for name, at in _current(catalogue, world).items():
        for column in world.masked.get(name, ()) if name in world.last else ():
            condition = f"`{column}` is not null"
            body: dict[str, Any] = {"dataset": at.id, "where": [condition]}
            beside = {**body, "to": at.id, "via": at.id}
            former = {**beside, "relation": "siblings"}
            source = {"source": at.id, "column": column}
            answers = {
                "rows": api.get(f"{BASE}/datasets/{at.id}/rows", params={"where": condition}),
                "export": api.get(f"{BASE}/datasets/{at.id}/export", params={"where": condition}),
                "trace": api.post(f"{BASE}/trace", json=body),
                "trace/rows": api.post(f"{BASE}/trace/rows", json={**body, "node": 0}),
                "trace/export": api.post(f"{BASE}/trace/export", json=body),
                "trace/graph": api.post(f"{BASE}/trace/graph", json=body),
                **{
                    f"{way}{end}": api.post(f"{BASE}/{way}{end}", params=params, json={**beside, **more})
                    for way in ("co_contributory", "co_dependency")
                    for end, params, more in (
                        ("", {}, {}),
                        ("/rows", {}, {"answer_version": at.version}),
                        ("/export", {"answer_version": at.version}, {}),
                    )
                },
                "sideways": api.post(f"{BASE}/sideways", json=former),
                "sideways/rows": api.post(f"{BASE}/sideways/rows", json={**former, "found": at.version}),
                "sideways/export": api.post(f"{BASE}/sideways/export", params={"found": at.version}, json=former),
                **{
                    f"questions/{name}": api.post(f"{BASE}/questions/{name}", json=body)
                    for name in (
                        "backward",
                        "cells",
                        "forward",
                        "how",
                        "locate",
                        "profile",
                        "select",
                        "trace",
                        "values",
                    )
                },
                "questions/why_not": api.post(f"{BASE}/questions/why_not", json=body),
                "how": api.post(f"{BASE}/how", json=body),
                "cells": api.post(f"{BASE}/cells", json=body),
                # Should it not be refused, it would select no row, and so run no replay.
                "replay": api.post(f"{BASE}/replay", json={**body, "where": [f"`{column}` is null"]}),
                "composition": api.post(f"{BASE}/composition", json={"dataset": at.id, "rows": [0], **source}),
            }
            wrong += [
                f"{name}.{column}: {route} → {a.status_code}" for route, a in answers.items() if a.status_code != 403
            ]
    if wrong:
        pytest.fail(f"{len(wrong)} answers, not 403:\n" + "\n".join(wrong[:60]), pytrace=False)


def test_the_search_for_names_does_not_find_values(api: TestClient, world: World) -> None:
    """A name with the value of a partition in it is not found by that value."""
    ssn = world.people[2].ssn
    for word in (ssn, ssn[:4], f"ssn={ssn}"):
        told = api.get(f"{BASE}/datasets", params={"search": word}).json()
        assert (told["items"], told["total"]) == ([], 0), word


def test_columns_that_the_administrator_opens(users: Users, world: World, catalogue: Catalogue) -> None:
    """Derived columns are opened by name, or by data set and name; a column that is masked by its own name is not."""
    opened = Policy.of(True, MASKS, "band, */derived:head, ssn, report:who, derived:*salary*")
    api = users.client("opened", None, opened)
    shown = {}
    for name, at in _current(catalogue, world).items():
        if name in world.masked:
            columns = api.get(f"{BASE}/datasets/{at.id}").json()["columns"]
            shown[name] = {c["name"] for c in columns if not c["masked"]} - {*world.open[name]}
    assert {name: columns for name, columns in shown.items() if columns} == {"derived": {"band", "head"}}
    at = _current(catalogue, world)["derived"]
    told = api.get(f"{BASE}/datasets/{at.id}/rows", params={"columns": ["band", "head"], "limit": 1000}).json()
    expected = sorted(tuple(row[c["name"]] for c in told["columns"]) for row in world.last["derived"])
    assert sorted(tuple(row) for row in told["values"]) == expected


def test_answers_do_not_depend_on_masked_values(
    spark: Any, users: Users, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Two stores that differ in masked values alone, which no filter, group or join reads, answer alike."""
    told = []
    for seed in (20, 21):
        world = build_quiet(spark, tmp_path_factory.mktemp("quiet"), seed)
        catalogue = Catalogue.of(world.store)
        api = users.client(f"quiet {seed}", None, MASKED, world.root)
        sweep = Sweep("all DAGs", api, Secrets(world), catalogue, every=2, kept=True)
        for area in ("lists", "rows", "operations", "steps", "traces", "beside", "questions"):
            sweep.run(area)
        step, (output, *_) = next((s, outputs) for s, (_, outputs, _) in catalogue.steps.items() if "derive" in s)
        sweep.ask("POST", "/replay", {"dataset": output, "rows": list(range(8)), "step": step}, always=True)
        assert sweep.answered["POST /replay"] == 1
        told.append([tuple(_neutral(part, world, catalogue) for part in answer) for answer in sweep.answers])
    first, second = told
    differing = [(a, b) for a, b in zip(first, second, strict=False) if a != b]
    if differing or len(first) != len(second):
        lines = [f"{a[0]}\n    {_apart(a[1], b[1])}" for a, b in differing[:_SHOWN]]
        message = f"{len(differing)} of {len(first)} answers differ ({len(second)} in the other store), such as:\n"
        pytest.fail(message + "\n".join(lines), pytrace=False)


def _neutral(part: str | bytes, world: World, catalogue: Catalogue) -> str:
    """A request or answer with ids, times, sizes and folders replaced by what is equal in both stores."""
    known = {f.id: f"<{f.name.removeprefix(world.root.as_uri())}>" for f in catalogue.versions}
    known |= {f.version: f"<version {number}>" for number, f in enumerate(catalogue.versions)}
    text = (part if isinstance(part, str) else readable(part)).replace(str(world.root), "<root>")
    text = re.sub("[0-9a-f]{32}|[0-9a-f]{16}", lambda m: known.get(m[0], m[0]), text)
    text = re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+", "<time>", text)
    text = re.sub("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<file>", text)
    text = re.sub(r'"stored_bytes":\d+', '"stored_bytes":0', text)
    text = re.sub(r'"capture":"[0-9.]+ s"', '"capture":"<time>"', text)
    # PROV's entities are in order of their ids.
    return (
        json.dumps(json.loads(text), ensure_ascii=False, sort_keys=True)
        if text.startswith(('{"prefix"', '{"prov"'))
        else text
    )


def _apart(one: str, other: str) -> str:
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return f"…{one[max(at - 90, 0) : at + 60]}…\n    …{other[max(at - 90, 0) : at + 60]}…"

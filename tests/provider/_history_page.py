"""Asks the page's API about the datasets of a history, and compares what it shows with the mirror."""

from __future__ import annotations

import json
from typing import Any

from _history_answers import Asking, path_of, same
from _history_mirror import Row, State, mark
from _http import BASE, client

from provspark.model.datasets import Dataset
from provspark.web.scope import dataset_id


def check_page(asking: Asking) -> None:
    """The page shows the same rows under the same numbers."""
    with client(asking.folder) as http:
        page = Page(asking, http)
        page.lists()
        for dataset in asking.known:
            page.of(dataset)


class Page:
    """Asks the page's API as `Asking` asks in Python.

    Parameters
    ----------
    asking : Asking
    http : TestClient
    """

    def __init__(self, asking: Asking, http: Any) -> None:
        self._asking, self._http, self._of = asking, http, asking.of

    def lists(self) -> None:
        """Each dataset is listed with its current version, each step with the rows that it wrote."""
        listed = {path_of(x["name"]): x for x in self._get("/datasets")["items"]}
        for dataset in self._asking.known:
            may_be = {s.id: len(s.rows) for s in self._asking.now.current(dataset)}
            assert listed[dataset]["rows"] == may_be[listed[dataset]["version"]], listed[dataset]
        step = self._of.choice(self._asking.mirror.steps)
        told = [(w["output"]["rows"], w["written"]) for w in self._get(f"/steps/{step.id}")["writes"]]
        assert told == [(len(w.out.rows), sum(len(f.rows) for f in w.made)) for w in step.writes], (step, told)

    def of(self, dataset: str) -> None:
        """Look at the rows of a dataset, trace some, find them in other versions, and download them."""
        asking, name = self._asking, dataset_id(Dataset.parse(dataset))
        current = self._current(dataset, name)
        versions = [v for d, v in asking.versions if d == dataset]
        version = self._of.choice(versions)
        for chosen, state in ((None, current), (version, asking.versions[dataset, version])):
            rows = sorted(self._of.sample(range(len(state.rows)), min(len(state.rows), 3)))
            query = {"dataset": name, "rows": rows} | ({"version": chosen} if chosen else {})
            for direction in ("forward", "backward"):
                self._traced(query | {"direction": direction}, {state.rows[i] for i in rows})
            self._exported(name, chosen, state, current)
        self._located(name, asking.versions[dataset, version], current, self._of.choice([None, current.id]))

    def _current(self, dataset: str, name: str) -> State:
        detail, shown = self._get(f"/datasets/{name}"), self._get(f"/datasets/{name}/rows?limit=1000")
        current = next(s for s in self._asking.now.current(dataset) if s.id == shown["version"])
        assert self._shown(shown) == self._listed(current, current)
        assert detail["version"] == detail["current"]["version"] == detail["versions"][0]["version"] == current.id
        known = {v for d, v in self._asking.versions if d == dataset}
        assert {v["version"] for v in detail["versions"]} == known, detail
        return current

    def _listed(self, state: State, current: State) -> list[Row]:
        """The rows that the page lists of a version: of the current one, those that are there, if any is."""
        there = [row for row in state.rows if self._asking.now.file_of[row] in self._asking.there]
        return there if state.id == current.id and there else list(state.rows)

    def _traced(self, query: dict[str, Any], rows: set[Row]) -> None:
        found, now = self._post("/trace", query), self._asking.now
        told: set[Row] = set()
        for node in found["nodes"]:
            if not node["dataset"]["name"].startswith("memory"):
                shown = self._post("/trace/rows", query | {"node": node["id"], "limit": 1000})
                met = self._shown(shown)
                assert (shown["version"], len(met)) == (node["version"], node["rows"])
                told |= set() if node["gone"] else set(met)
        asked = f"POST /trace {query}"
        same(asked, told | rows, self._asking.on_the_way(rows, query["direction"], now) | rows)
        if query["direction"] == "forward":
            gone = {r for row in rows for r in now.forward(row, None)[1]}
            assert sum(g["rows"] for g in found["gone"]) == len(gone), f"{asked}: {found['gone']}, expected {gone}"

    def _located(self, name: str, state: State, current: State, into: str | None) -> None:
        rows = list(range(len(state.rows)))
        query = {"dataset": name, "version": state.id, "rows": rows} | ({"into": into} if into else {})
        found = self._post("/locate", query)
        wanted = self._asking.stand(state, rows, current, by_disk=into is None)
        assert found["version"] == current.id
        assert found["rows"] == list(wanted.values()), (query, found, wanted)
        assert found["gone"] == sum(row is None for row in wanted.values())

    def _exported(self, name: str, version: str | None, state: State, current: State) -> None:
        rows = self._listed(state, current)
        if self._asking.all_there(rows):
            where = {"format": "jsonl"} | ({"version": version} if version else {})
            answer = self._http.get(f"{BASE}/datasets/{name}/export", params=where)
            assert answer.status_code == 200, (where, rows, answer.text)
            told = [json.loads(line) for line in answer.text.splitlines()]
            found = [(state.rows[x["provspark_row"]], x["provspark_version"], x["mark"]) for x in told]
            assert found == [(row, state.id, mark(row)) for row in rows], (where, told)

    def _shown(self, shown: dict[str, Any]) -> list[Row]:
        """The rows of an answer, whose values are theirs; it has none where a file has changed."""
        dataset, version = shown["dataset"]["name"], shown["version"]
        rows = list(self._asking.met(dataset, version, shown["rows"]))
        there = self._asking.all_there(rows)
        assert (shown["values"] is not None) == there, shown
        if there:
            number = [c["name"] for c in shown["columns"]].index("mark")
            assert [values[number] for values in shown["values"]] == list(map(mark, rows)), shown
        return rows

    def _get(self, path: str) -> Any:
        return _answered(self._http.get(BASE + path))

    def _post(self, path: str, query: dict[str, Any]) -> Any:
        return _answered(self._http.post(BASE + path, json=query))


def _answered(answer: Any) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()

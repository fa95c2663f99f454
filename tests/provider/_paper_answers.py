"""What the calls of docs/questions.md answer, worked out in plain Python from the calls themselves.

A call is evaluated twice: on an open store, and on a `Recording`, which notes what is asked of which data set, rows and
columns. So a call that changes is compared with what it asks then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import _plain_pipelines as plain
import pytest
from oracle import pipelines as oracle

Answered = Callable[..., None]
NAMED = {"label": "two_year_recid"}
"""Columns that a pipeline put in place of one of another name."""
STEPS = {
    "census": 1 + 2 * len(oracle.CENSUS_ENCODED) + 3,
    "credit": 5 + sum(1 + len(plain.BOOK["TERMS"][c]) for c in plain.CREDIT_ENCODED) + 4,
    "compas": 6,
}
"""Operations of the tasks that encode."""


class Recording:
    """Stands for an open store, and for its answers; notes what is asked."""

    def __init__(self) -> None:
        self.log: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Recording:
        self.log.append((name, (), {}))
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Recording:
        self.log[-1] = (self.log[-1][0], args, kwargs)
        return self


def recorded(call: str, places: dict[str, str]) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """What a call asks, in order; data sets are named as `_plain_pipelines` does, steps by what they write."""
    prov = Recording()

    def noted(name: str) -> Callable[..., None]:
        return lambda replayed, *args: prov.log.append((name, args, {}))

    helpers = {name: noted(name) for name in ("after", "before", "changes", "joined")}
    eval(call, {"prov": prov, **places, **{f"{n}_STEP": p for n, p in places.items()}, **helpers})
    return prov.log


class Check:
    """Compares the answer to a call with what plain Python makes of it."""

    def __init__(self, steps: dict[str, str]) -> None:
        self.steps = steps

    def __call__(self, call: str, places: dict[str, str], answer: Any) -> None:
        (name, args, kwargs), *rest = recorded(call, places)
        getattr(self, name)(answer, rest, *args, **kwargs)

    # -- rows and cells

    def forward(self, answer: Any, rest: Any, dataset: str, rows: list[int]) -> None:
        assert _rows(answer) == ahead(dataset, rows)

    def backward(self, answer: Any, rest: Any, dataset: str, rows: list[int]) -> None:
        assert _rows(answer) == back(dataset, rows)

    def cells(
        self,
        answer: Any,
        rest: Any,
        dataset: str,
        rows: list[int],
        column: str,
        direction: str = "backward",
        **more: Any,
    ) -> None:
        names = ("kind", "row", "column", "dataset", "related_row", "related_column")
        found = {tuple(_last(x[n]) if n == "dataset" else x[n] for n in names) for x in answer.table().to_pylist()}
        assert found == expected_cells(dataset, rows, column, direction, **more)

    def how(
        self,
        answer: Any,
        rest: Any,
        dataset: str,
        rows: list[int],
        column: str | None = None,
        direction: str = "backward",
        **more: Any,
    ) -> None:
        told: dict[int, set[tuple[str, str]]] = {}
        for path, line in answer.lines():
            told.setdefault(path, set()).add(self.act(line.step, line.site))
        if column is None:
            assert _rows(answer) == (back if direction == "backward" else ahead)(dataset, rows)
            for path, ((end, *_), _) in enumerate(answer.paths):
                way = plain.chain(dataset) if direction == "backward" else plain.chain(_last(end), dataset)
                assert told[path] == plain.every_act(way)
            return
        self.cells(answer, rest, dataset, rows, column, direction, **more)
        acts: dict[tuple[str, str | None], set[tuple[str, str]]] = {}
        for path, ((end, *_), _) in enumerate(answer.paths):
            assert answer.columns[path][0] == column
            acts.setdefault((_last(end), answer.columns[path][1]), set()).update(told[path])
        for (end, found), mine in acts.items():
            way = plain.chain(dataset) if direction == "backward" else plain.chain(end, dataset)
            assert mine == plain.behind(column if direction == "backward" else str(found), way)[1]
        for x in answer.values().table().to_pylist():
            _, there = plain.rows_of(_last(x["dataset"]))[x["related_row"]]
            assert _alike(x["value"], there[x["related_column"]])

    def act(self, step: str, site: str) -> tuple[str, str]:
        """What a step wrote, and the script's line."""
        path, _, number = site.rpartition(":")
        return self.steps[step], Path(path).read_text().splitlines()[int(number) - 1].strip()

    def operations(
        self, answer: Any, rest: Any, dataset: str, rows: list[int] | None = None, column: str | None = None
    ) -> None:
        told: dict[tuple[str, str], set[str]] = {}
        dropped: set[str] = set()
        for line in answer.lines:
            told.setdefault(self.act(line.step, line.site), set()).update(line.makes)
            dropped.update(line.drops)
        way = plain.chain(dataset)
        assert told.keys() == (plain.every_act(way) if column is None else plain.behind(column, way)[1])
        for act in (act for one in way for act in one.acts if (act.output, act.line) in told):
            columns = {c for one in way for c in one.columns} | {"status", "known"}
            made = {c for c in columns if act.makes(c) is not None}
            assert told[act.output, act.line] - {"_w0", "_we0", "_we1"} == made or act.source or not made
        if column is None:
            every = {c for one in way for c in [*plain.rows_of(one.reads)[0][1], *one.columns]}
            assert dropped - {"status", "known"} >= every - {*way[-1].columns}

    def co_contributory(self, answer: Any, rest: Any, dataset: str, rows: list[int], to: str, via: str) -> None:
        (row,) = rows
        country = plain.rows_of(dataset)[row][1]["native_country"]
        met = [i for i, region in plain.rows_of(to) if region["country"] == country]
        assert _rows(answer) == {(row, to, i) for i in met} and met

    def co_dependency(self, answer: Any, rest: Any, dataset: str, rows: list[int], to: str, via: str) -> None:
        (row,) = rows
        countries = [record["country"] for _, record in plain.rows_of(to)]
        others = {i for i, c in enumerate(countries) if c == countries[row] and i != row}
        assert _rows(answer) == {(row, to, i) for i in others} and others

    # -- where columns and records end, and what they were

    def dropped(self, answer: Any, rest: Any, dataset: str, column: str) -> None:
        assert [(*self.act(d.step, d.site), {*d.into}) for d in answer.lines] == deletions(dataset, column)

    def history(
        self, answer: Any, rest: Any, dataset: str, rows: list[int], column: str | None = None, direction: str = "both"
    ) -> None:
        (row,) = rows
        line = plain.lines_of(dataset)[row]
        last = rest[-1][0] if rest else ""
        if last == "endings":
            assert _ended(answer) == endings(dataset, line)
        elif last == "cells":
            self.values(answer.to_pylist(), dataset, line, column)
        elif column is not None:
            assert _ended(answer.endings) == endings(dataset, line)
            gone = deletions(dataset, column)
            reached = [d for d in gone if plain.record(d[0], line) is not None]
            assert [(*self.act(d.step, d.site), {*d.into}) for d in answer.drops] == reached
        else:
            way = plain.chain(dataset)
            assert [_last(p.dataset) for p in answer.passages] == [m.name for m in way]
            for one, passage in zip(way, answer.passages, strict=True):
                first, *_, end = passage.replayed.stages
                assert passage.replayed.verified is True
                assert _record(first) == _approximately(plain.record(one.reads, line))
                assert _record(end) == _approximately(plain.record(one.name, line))

    def values(self, lines: list[dict[str, Any]], dataset: str, line: int, column: str | None) -> None:
        """An item's values, task by task: what it was in the data set read, and in the one written."""
        columns, expected = {column}, []
        for one in reversed(plain.chain(dataset)):
            expected += [_number(plain.record(one.name, line)[c]) for c in sorted(columns)]  # type: ignore[index]
            columns = plain.behind(*columns, [one])[0]
            expected += [_number(plain.record(one.reads, line)[c]) for c in sorted(columns)]  # type: ignore[index]
        told = [_number(x["value"]) for x in lines if " OVER (" not in x["column"]]  # a window's own column has no name
        assert [v for v, _ in groupby(told)] == [v for v, _ in groupby(reversed(expected))]
        way = plain.chain(dataset)
        assert [name for name, _ in groupby(_last(x["dataset"]) for x in lines)] == [one.name for one in way]
        assert (lines[0]["column"], lines[-1]["column"]) == (*plain.behind(str(column), way)[0], column)

    # -- distributions

    def impact(self, answer: Any, rest: Any, dataset: str, column: str | None = None, *, source: str) -> None:
        before, after = ([row for _, row in plain.rows_of(name)] for name in (source, dataset))
        _compare(answer, before, after, [column] if column else None)

    def operation_profiles(
        self, answer: Any, rest: Any, dataset: str, operations: list[int], columns: list[str] | None = None
    ) -> None:
        one = plain.made()[dataset]
        before, after = ([row for _, row in plain.rows_of(name)] for name in (one.reads, dataset))
        if columns is None:
            came = {"census": "workclass_", "credit": "gender", "compas": "race"}[dataset]
            own = [{c: v for c, v in row.items() if c.startswith(came)} for row in after]
            after = [old | new for old, new in zip(before, own, strict=True)]
        _compare(answer, before, after, columns)

    # -- rows between operations

    def replay(
        self, answer: Any, rest: Any, dataset: str, rows: list[int], step: str | None = None, **more: Any
    ) -> None:
        ((helper, given, _),) = rest
        (row,) = rows
        line = plain.lines_of(dataset)[row]
        one = plain.made()[step or dataset]
        if helper == "after":
            row = plain.lines_of(one.name).index(line)
            ahead = STEPS[one.name] - 1 - given[0]
            assert answer == {"rows": 1, "later operations": ahead, "output rows": (row,)}
        elif helper == "before":
            row = plain.lines_of(one.reads).index(line)
            assert answer == {"earlier operations": 1 + given[0], "from": f"{one.reads} {row}"}
        elif helper == "changes":
            (text,) = answer
            value = plain.record(one.name, line)[given[0]]  # type: ignore[index]
            assert _alike(text.rpartition(" → ")[2].strip("'"), value)
        else:
            self.joined(answer, dataset, row)

    def joined(self, answer: Any, dataset: str, row: int) -> None:
        regions = {region["country"]: i for i, region in plain.rows_of("regions.csv")}
        met = [(line, regions[record["country"]]) for line, record in plain.rows_of("joined")]
        mine = [met[row]] if dataset == "joined" else [pair for pair in met if pair[1] == row]
        assert answer["rows after the join"] == len(mine)
        assert answer["the first"] in {f"regions.csv {region} with texts {person}" for person, region in mine}

    def counts(self, answer: Any, rest: Any, dataset: str) -> None:
        read, wrote = (len(plain.rows_of(name)) for name in (plain.made()[dataset].reads, dataset))
        operations = {
            "joined": [read, read, len(plain.rows_of("regions.csv")), wrote, wrote],
            "credit_imputed": [read] * 10,
            "compas_complete": [read, read, wrote],
        }
        assert answer.table()["rows_out"].to_pylist() == operations[dataset]


def ahead(dataset: str, rows: list[int]) -> set[tuple[int, str, int]]:
    """Rows of ends that came of some rows."""
    lines = {plain.lines_of(dataset)[row]: row for row in rows}
    return {
        (lines[line], end, i)
        for end in plain.ends(dataset)
        for i, line in enumerate(plain.lines_of(end))
        if line in lines
    }


def back(dataset: str, rows: list[int]) -> set[tuple[int, str, int]]:
    """Lines of the source file that some rows came from."""
    return {(row, plain.first_source(dataset), plain.lines_of(dataset)[row]) for row in rows}


def expected_cells(
    dataset: str, rows: list[int], column: str, direction: str, kinds: tuple[str, ...] = ("data",)
) -> set[tuple[Any, ...]]:
    """Kind, row and column asked about; data set, row and column found. An imputed value is one of all records."""
    if direction == "forward":
        return {
            ("data", row, column, end, i, new)
            for row, end, i in ahead(dataset, rows)
            for new in plain.made()[end].columns
            if column in plain.behind(new, plain.chain(end, dataset))[0]
        }
    columns = plain.behind(column, plain.chain(dataset))[0]
    found = {("data", row, column, source, i, c) for row, source, i in back(dataset, rows) for c in columns}
    if "context" in kinds:
        source = plain.first_source(dataset)
        every = range(len(plain.rows_of(source)))
        found |= {("context", row, column, source, i, c) for row in rows for i in every for c in columns}
    return found


def deletions(dataset: str, column: str) -> list[tuple[str, str, set[str]]]:
    """The task that deletes a column, the script's line, and the columns that the task made of it, by hand."""
    hot = 'people = people.select("*", *hot).drop(column)'
    line, new = {
        "fnlwgt": ('people = people.drop("fnlwgt")', ()),
        "native_country": (hot, ("native_country_",)),
        "personal_status": ("credit = credit.drop(column)", ("gender", "status_")),
        "housing": ("credit = credit.drop(column)", ("housing_",)),
        "two_year_recid": ('.drop("two_year_recid", "c_jail_in", "c_jail_out")', ("label",)),
    }[column]
    output = next(m.name for m in plain.made().values() if plain.chain(m.name, dataset) and column not in m.columns)
    into = {c for c in plain.made()[output].columns if c.startswith(new)} if new else set()
    return [(output, line, into)]


def endings(dataset: str, line: int) -> list[tuple[str, str]]:
    """The tasks that a record does not come through, and why."""
    causes = {"joined": "no partner", "compas_complete": "condition"}
    return [
        (one.name, causes[one.name])
        for one in plain.made().values()
        if plain.chain(one.name, dataset) and plain.record(one.name, line) is None and plain.record(one.reads, line)
    ]


def _compare(table: Any, before: list[Any], after: list[Any], columns: list[str] | None) -> None:
    """Measures before and after, each column with what it was."""
    new = {c: next((old for old in (c, NAMED.get(c)) if old in before[0]), None) for c in after[0]}
    gone = [c for c in before[0] if c not in new.values()]
    pairs = [(c, old, c) for c, old in new.items()] + [(c, c, None) for c in gone]
    told = {(x["column"], x["measure"]): (x["before"], x["after"]) for x in table.to_pylist()}
    assert told.pop((None, "rows")) == (len(before), len(after))
    expected: dict[tuple[str, str], tuple[float | None, float | None]] = {}
    for name, old, now in pairs:
        if columns is None or name in columns:
            sides = [
                {} if c is None else plain.measures([row[c] for row in rows])
                for c, rows in ((old, before), (now, after))
            ]
            for measure in sides[0] | sides[1]:
                expected[name, measure] = (sides[0].get(measure), sides[1].get(measure))
    found = {key: value for key, value in told.items() if not key[1].startswith("q")}
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert found[key] == tuple(None if v is None else pytest.approx(v, abs=1e-9) for v in value), key


def _rows(answer: Any) -> set[tuple[int, str, int]]:
    lines = answer.table().to_pylist()
    assert {x["kind"] for x in lines} <= {"data"}
    return {(x["row"], _last(x["dataset"]), x["related_row"]) for x in lines}


def _ended(found: Any) -> list[tuple[str, str]]:
    return [(_last(p.dataset), e.cause) for p, e in found]


def _record(stage: Any) -> dict[str, Any]:
    return dict(zip(stage.columns, stage.lines[0].values, strict=True))


def _approximately(row: Any) -> Any:
    return {k: pytest.approx(v) if isinstance(v, float) else v for k, v in row.items()}


def _number(value: Any) -> Any:
    """A number as one, however it is written."""
    try:
        return round(float(value), 6)
    except (TypeError, ValueError):
        return value


def _alike(text: str | None, value: Any) -> bool:
    one, other = _number(text), _number(value)
    return math.isclose(one, other, abs_tol=1e-5) if isinstance(other, float) else bool(one == other)


def _last(dataset: str) -> str:
    return dataset.rsplit("/", 1)[-1]

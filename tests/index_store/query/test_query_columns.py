"""Columns and cells against all paths of links, walked one by one in plain Python."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import _operation_worlds as worlds
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import provspark
from provspark.index_store.store.store import Store

seeds = st.integers(0, 2**32 - 1)
often = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
BOTH = ("data", "context")


def opened(made: worlds.World, folder: str) -> provspark.Provenance:
    store = Store.open(str(Path(folder) / "prov"), create=True)
    worlds.publish(made, store)
    return provspark.open(store.url)


def asked(made: worlds.World) -> list[str]:
    return [str(w.output.dataset) for w in made.writes]


def names(made: worlds.World, dataset: str) -> list[str]:
    made_by = made.maker(dataset)
    assert made_by is not None
    return [f.name for f in made_by.output.fields]


@often
@given(seeds)
def test_columns_cells_and_ways_are_all_paths_of_links(seed: int) -> None:
    made = worlds.world(seed)
    with TemporaryDirectory() as folder:
        prov = opened(made, folder)
        for dataset in asked(made):
            columns_are_all_paths(made, prov, dataset)
            cells_are_rows_cut_by_columns(made, prov, dataset)
            how_of_cells_tells_the_steps_of_each(made, prov, dataset)
        for source in {str(v.dataset) for w in made.writes for v in w.readings} - set(asked(made)):
            for end in asked(made):
                ways_forward_are_ways_backward(prov, source, end)
        how_finds_the_rows_of_why(made, prov)


def test_kinds_choose_the_lines(tmp_path: Path) -> None:
    """With context alone, no data lines are returned, as in `backward`."""
    seen = 0
    for seed in range(12):
        prov = opened(made := worlds.world(seed), str(tmp_path / str(seed)))
        for dataset in asked(made):
            for question in (prov.columns, prov.cells):
                both = question(dataset, kinds=BOTH).table().to_pylist()
                for kind in BOTH:
                    lines = question(dataset, kinds=kind).table().to_pylist()
                    assert {x["kind"] for x in lines} <= {kind}
                alone = [x for x in both if x["kind"] == "context"]
                assert len(lines) == len(alone)
                seen += bool(lines)
    assert seen


LINE = ("column", "dataset", "occurrence", "related_column", "kind", "dependence")
CELL = ("row", "column", "dataset", "occurrence", "related_row", "related_column", "kind", "dependence")


def told(table: Any, names: tuple[str, ...]) -> dict[tuple[Any, ...], Any]:
    """Lines by what they are about: whether exact, and the steps where these are told."""
    lines = table.to_pylist()
    found = {tuple(x[n] for n in names): (x["exact"], set(x.get("steps", ()))) for x in lines}
    assert len(found) == len(lines)
    return found


def by_pair(found: dict[tuple[Any, ...], tuple[bool, Any]], key: tuple[Any, ...], ends: int) -> set[str]:
    """The steps on all ways between two columns, whatever the dependence."""
    return set().union(*(steps for k, (_, steps) in found.items() if k[:ends] == key[:ends]))


def columns_are_all_paths(made: worlds.World, prov: provspark.Provenance, dataset: str) -> None:
    expected: dict[tuple[Any, ...], tuple[bool, set[str]]] = {}
    for column in (None, *names(made, dataset)):
        for end in made.behind(dataset, None, column):
            if column is None and end.column is None:
                continue
            key = (column, end.dataset, end.occurrence, end.column)
            key += ("context" if end.context else "data", worlds.dependence(end.hops))
            sure, steps = expected.get(key, (False, set()))
            expected[key] = sure or all(h.sure for h in end.hops), steps | end.steps
    expected = {k: (exact, by_pair(expected, k, 4)) for k, (exact, _) in expected.items()}
    assert told(prov.columns(dataset).table(), LINE) == expected
    data = {k for k in expected if k[4] == "data" and k[0] is not None}
    assert told(prov.columns(dataset, names(made, dataset), existence=False, kinds="data").table(), LINE).keys() == data


def cells_are_rows_cut_by_columns(made: worlds.World, prov: provspark.Provenance, dataset: str) -> None:
    made_by = made.maker(dataset)
    assert made_by is not None
    rows, first = range(made_by.output.files.total), names(made, dataset)[0]
    expected: dict[tuple[Any, ...], tuple[bool, set[str]]] = {}
    for row in rows:
        for column in (None, *names(made, dataset)):
            for end in made.behind(dataset, row, column):
                if column is None and end.column is None:
                    continue
                key = (row, column, end.dataset, end.occurrence, end.row, end.column)
                key += ("context" if end.context else "data", worlds.dependence(end.hops))
                expected[key] = expected.get(key, (False,))[0] or all(h.sure for h in end.hops), set()
    table = prov.cells(dataset, kinds=BOTH, existence=True).table()
    assert told(table, CELL) == expected
    assert all(x["exact"] == (not x["why"]) for x in table.to_pylist())
    part = {k: v for k, v in expected.items() if (k[0], k[1], k[6]) == (rows[-1], first, "data")}
    assert told(prov.cells(dataset, [rows[-1]], first).table(), CELL) == part


def ways_forward_are_ways_backward(prov: provspark.Provenance, source: str, end: str) -> None:
    def lines(table: Any, *ends: str) -> dict[tuple[Any, ...], tuple[bool, set[str]]]:
        found: dict[tuple[Any, ...], tuple[bool, set[str]]] = {}
        for x in table.to_pylist():
            key = tuple(x[n] for n in (*ends, "kind", "dependence"))
            exact, steps = found.get(key, (False, set()))
            found[key] = exact or x["exact"], steps | set(x.get("steps", ()))
        return {k: (exact, by_pair(found, k, 2)) for k, (exact, _) in found.items()}

    back, ahead = prov.columns(end, to=source).table(), prov.columns(source, direction="forward", to=end).table()
    assert lines(back, "column", "related_column") == lines(ahead, "related_column", "column")
    back, ahead = (
        prov.cells(end, to=source, kinds=BOTH).table(),
        prov.cells(source, direction="forward", to=end, kinds=BOTH).table(),
    )
    ends = ("row", "column", "related_row", "related_column")
    assert lines(back, *ends) == lines(ahead, *ends[2:], *ends[:2])


def how_finds_the_rows_of_why(made: worlds.World, prov: provspark.Provenance) -> None:
    for dataset in asked(made):
        how = prov.how(dataset, kinds=BOTH)
        assert how.table().drop_columns(["path"]).equals(prov.backward(dataset, kinds=BOTH).table())
        assert set(how.table()["path"].to_pylist()) >= set(how.operations()["path"].to_pylist())
    for source in {str(v.dataset) for w in made.writes for v in w.readings}:
        ahead = prov.how(source, direction="forward", kinds=BOTH)
        assert ahead.table().drop_columns(["path"]).equals(prov.forward(source, kinds=BOTH).table())


def how_of_cells_tells_the_steps_of_each(made: worlds.World, prov: provspark.Provenance, dataset: str) -> None:
    made_by = made.maker(dataset)
    assert made_by is not None
    for column in names(made, dataset):
        how = prov.how(dataset, range(made_by.output.files.total), column, kinds=BOTH, parts=True)
        steps: dict[int, set[str]] = {}
        for path, line in how.lines():
            steps.setdefault(path, set()).add(line.step)
        expected: dict[tuple[Any, ...], set[str]] = {}
        for row in range(made_by.output.files.total):
            for end in made.behind(dataset, row, column):
                key = (row, end.dataset, end.occurrence, end.row, end.column, "context" if end.context else "data")
                expected.setdefault(key, set()).update(end.steps)
        found: dict[tuple[Any, ...], set[str]] = {}
        lines: dict[tuple[Any, ...], bool] = {}
        for x in how.table().to_pylist():
            key = tuple(x[n] for n in ("row", "dataset", "occurrence", "related_row", "related_column", "kind"))
            found.setdefault(key, set()).update(steps[x["path"]])
            cell = tuple(x[n] for n in CELL)
            lines[cell] = lines.get(cell, False) or x["exact"]
            assert how.columns[x["path"]] == (x["column"], x["related_column"])
        assert found == expected
        cells = told(prov.cells(dataset, None, column, kinds=BOTH).table(), CELL)
        assert lines == {cell: exact for cell, (exact, _) in cells.items()}


@pytest.mark.parametrize("parts", [False, True])
def test_operations_come_each_once_in_order(parts: bool, tmp_path: Path) -> None:
    made = worlds.world(7)
    prov = opened(made, str(tmp_path))
    for dataset in asked(made):
        table = prov.operations(dataset, parts=parts).table().to_pylist()
        by_step: dict[str, list[int]] = {}
        for line in table:
            by_step.setdefault(line["step"], []).extend(line["operations"])
        for step, numbers in by_step.items():
            write = next(w for w in made.writes if w.step == step)
            assert sorted(numbers) == [op.index for op in write.operations]
            assert not parts or numbers == sorted(numbers)
        assert made.maker(dataset).step == table[-1]["step"]  # type: ignore[union-attr]

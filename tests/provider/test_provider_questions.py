"""Questions over files on disk, against answers worked out pair by pair."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _steps import read, write

import provspark
from provspark.api import gone_of
from provspark.errors import ConditionError, UnknownColumnError, UnknownDatasetError, UnknownRunError
from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset, Field, Files
from provspark.model.pending import PendingVersion, PendingWrite
from provspark.model.steps import StepKey

Pairs = set[tuple[int, int]]
PEOPLE = pa.table(
    {
        "consent": [True, False, None, True, True, False, True, True],
        "home": [{"town": t} if t else None for t in ["A", "B", "A", None, "C", "B", "A", "A"]],
    }
)
FIELDS = (Field("consent", "boolean"), Field("home", "struct<town:string>"))


def on_disk(folder: Path, table: pa.Table, fields: tuple[Field, ...] = (), written: bool = True) -> PendingVersion:
    folder.mkdir(exist_ok=True)
    name = f"{len(list(folder.iterdir()))}.parquet"
    pq.write_table(table, folder / name)
    stat = (folder / name).stat()
    files = Files.of([(name, stat.st_size, stat.st_mtime_ns // 10**6, len(table), written)])
    return PendingVersion(Dataset.parse(str(folder)), files, "parquet", (), fields)


def publish(store: Store, task: str, run: str, ended: str, *writes: PendingWrite, dag: str = "dag") -> None:
    writer = store.writer(StepKey(task, run, dag))
    for w in writes:
        writer.add(w)
    writer.publish(status="succeeded", started=ended, ended=ended)


def numbers(rows: int) -> pa.Table:
    return pa.table({"n": range(rows)})


def random_pairs(random: np.random.Generator, out: int, src: int, share: float) -> Pairs:
    return {(o, s) for o in range(out) for s in range(src) if random.random() < share}


def product(a: Pairs, b: Pairs) -> Pairs:
    return {(x, z) for x, y in a for w, z in b if y == w}


class Diamond:
    """People → left and right → report, which reads left twice."""

    def __init__(self, folder: Path, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.people = on_disk(folder / "people", PEOPLE, FIELDS, written=False)
        left, right, report = (on_disk(folder / n, numbers(k)) for n, k in (("left", 6), ("right", 5), ("report", 7)))
        shares = random.choice([0.1, 0.3], 5)
        self.left, self.right = (random_pairs(random, n, 8, s) for n, s in zip((6, 5), shares, strict=False))
        self.by = [random_pairs(random, 7, n, s) for n, s in zip((6, 6, 5), shares[2:], strict=True)]
        self.whole = set().union(
            *(product(b, x) for b, x in zip(self.by, (self.left, self.left, self.right), strict=True))
        )
        self.store = Store.open(str(folder / "prov"), create=True)
        publish(self.store, "left", "r1", "2024-01-01T00:00:00Z", write(left, [(self.people, self.left)]))
        publish(self.store, "right", "r1", "2024-01-01T00:00:01Z", write(right, [(self.people, self.right)]))
        readings = [(read(left), self.by[0]), (read(left), self.by[1]), (read(right), self.by[2])]
        publish(self.store, "report", "r1", "2024-01-01T00:00:02Z", write(report, readings))
        self.prov = provspark.open(str(folder / "prov"))


@pytest.fixture(params=range(6))
def diamond(request: pytest.FixtureRequest, tmp_path: Path) -> Diamond:
    return Diamond(tmp_path, request.param)


def test_a_correspondence_is_the_boolean_product(diamond: Diamond, tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    prov, report, people = diamond.prov, str(tmp_path / "report"), str(tmp_path / "people")
    whole = prov.correspondence(report, to=people)
    assert {(x["row"], x["related_row"]) for x in whole.table().to_pylist()} == diamond.whole
    assert whole.edges == whole.table().num_rows == len(diamond.whole)
    assert dict(zip(*whole.counts().to_pydict().values(), strict=True)) == Counter(o for o, _ in diamond.whole)
    assert set(whole.rows) == {o for o, _ in diamond.whole}
    refused = prov.select(people, where=[("consent", "=", False)])
    assert set(refused) == {1, 5}
    assert set(whole.using(refused)) == {o for o, s in diamond.whole if s in (1, 5)}
    matrix = whole.matrix()
    assert matrix.shape == (7, 8)
    assert set(zip(*(x.tolist() for x in matrix.nonzero()), strict=True)) == diamond.whole
    part = prov.correspondence(report, [0, 3], to=people, via=str(tmp_path / "left"))
    by_left = product(diamond.by[0] | diamond.by[1], diamond.left)
    assert {(x["row"], x["related_row"]) for x in part.table().to_pylist()} == {p for p in by_left if p[0] in (0, 3)}


@pytest.mark.parametrize("column", ["consent", "home.town"])
def test_compositions_count_distinct_witnesses_by_value(diamond: Diamond, tmp_path: Path, column: str) -> None:
    prov, report, people = diamond.prov, str(tmp_path / "report"), str(tmp_path / "people")
    values = PEOPLE["consent"].to_pylist()
    if column == "home.town":
        values = [h and h["town"] for h in PEOPLE["home"].to_pylist()]
    expected = Counter((o, values[s]) for o, s in diamond.whole)
    table = prov.composition(report, source=people, column=column).table()
    assert table.column_names == ["row", "value", "witnesses"]
    assert {(x["row"], x["value"]): x["witnesses"] for x in table.to_pylist()} == expected
    assert table.column("row").to_pylist() == sorted(table.column("row").to_pylist())
    some = prov.composition(report, [2, 5], source=people, column=column).table()
    assert {(x["row"], x["value"]): x["witnesses"] for x in some.to_pylist()} == {
        k: n for k, n in expected.items() if k[0] in (2, 5)
    }
    together = prov.composition(report, source=people, column=column, each=False).table()
    witnesses = {s for _, s in diamond.whole}
    assert {x["value"]: x["witnesses"] for x in together.to_pylist()} == Counter(values[s] for s in witnesses)
    with pytest.raises(UnknownColumnError, match="did you mean consent"):
        prov.composition(report, source=people, column="consnt").table()


def test_answers_unite_intersect_and_differ(diamond: Diamond, tmp_path: Path) -> None:
    ask, report = diamond.prov, str(tmp_path / "report")
    by_left = ask.backward(report, to=str(tmp_path / "people"), via=str(tmp_path / "left"))
    by_right = ask.backward(report, range(1, 7), to=str(tmp_path / "people"), via=str(tmp_path / "right"))

    def lines(answer: provspark.Answer) -> set[tuple[Any, ...]]:
        rows = [tuple(x.values()) for x in answer.table().to_pylist()]
        assert len(rows) == len(set(rows))
        return set(rows)

    a, b = lines(by_left), lines(by_right)
    assert {(x[0], x[4]) for x in a} == product(diamond.by[0] | diamond.by[1], diamond.left)
    assert lines(by_left | by_right) == a | b
    assert lines(by_left & by_right) == a & b
    assert lines(by_left - by_right) == a - b
    (found,) = (by_left | by_right).found() or (diamond.prov.select(str(tmp_path / "people"), []),)
    assert set(found) == {x[4] for x in a | b}
    if len(found):
        again = diamond.prov.forward(found, to=report).table()
        assert {x["row"] for x in again.to_pylist()} == set(found)
    with pytest.raises(ConditionError, match="about the same version"):
        by_left | ask.backward(str(tmp_path / "left"))


def test_sets_of_rows(diamond: Diamond, tmp_path: Path) -> None:
    prov, people = diamond.prov, str(tmp_path / "people")
    yes, towns = (
        prov.select(people, where=[("consent", "=", True)]),
        prov.select(people, where=[("home.town", "=", "A")]),
    )
    assert list(yes & towns) == [0, 6, 7]
    assert list(yes - towns) == [3, 4]
    assert list(yes | towns) == [0, 2, 3, 4, 6, 7]
    assert 3 in yes
    assert 1 not in yes
    assert len(yes) == 5
    assert prov.values(yes & towns).table().num_rows == 3
    with pytest.raises(ConditionError, match="can't be combined"):
        yes | prov.select(str(tmp_path / "left"))
    with pytest.raises(ConditionError, match="already has its rows and version"):
        prov.backward(yes, [1]).table()


def test_paths_through_places(diamond: Diamond, tmp_path: Path) -> None:
    prov, report, people = diamond.prov, str(tmp_path / "report"), str(tmp_path / "people")
    steps = {s["task_id"]: s["step"] for s in prov.steps().table().to_pylist()}

    def rows(**how: Any) -> Pairs:
        return {(x["row"], x["related_row"]) for x in prov.backward(report, to=people, **how).table().to_pylist()}

    assert rows(via=[str(tmp_path / "right")]) == product(diamond.by[2], diamond.right)
    assert rows(via=[steps["report"], steps["left"]]) == product(diamond.by[0] | diamond.by[1], diamond.left)
    assert rows(via=steps["report"]) == diamond.whole
    assert rows(via=[steps["left"], steps["right"]]) == set()
    ahead = prov.forward(people, to=report, via=[steps["right"]]).table()
    assert {(x["related_row"], x["row"]) for x in ahead.to_pylist()} == product(diamond.by[2], diamond.right)
    with pytest.raises(UnknownDatasetError, match="Did you mean"):
        rows(via="/rigt")


def test_co_questions_within_one_derivation(tmp_path: Path) -> None:
    """Orders and lines are joined, then grouped: an order's lines are those joined with it, not its group's."""
    store = Store.open(str(tmp_path / "prov"), create=True)
    orders, lines = (on_disk(tmp_path / n, numbers(k), written=False) for n, k in (("orders", 2), ("lines", 4)))
    joined, total = on_disk(tmp_path / "joined", numbers(4)), on_disk(tmp_path / "total", numbers(1))
    of = [(0, 0), (1, 0), (2, 1), (3, 1)]
    publish(
        store, "join", "r", "2024-01-01T00:00:00Z", write(joined, [(orders, of), (lines, [(i, i) for i in range(4)])])
    )
    publish(store, "sum", "r", "2024-01-01T00:00:01Z", write(total, [(read(joined), [(0, i) for i in range(4)])]))
    prov = provspark.open(str(tmp_path / "prov"))
    names = {n: str(tmp_path / n) for n in ("orders", "lines", "joined", "total")}
    with_order = prov.co_contributory(names["orders"], [1], to=names["lines"], via=names["total"]).table()
    assert with_order.column("related_row").to_pylist() == [2, 3]
    assert prov.co_contributory(names["orders"], [1], to=names["orders"], via=names["total"]).table().num_rows == 0
    assert prov.co_contributory(names["lines"], [0], to=names["joined"]).table()["related_row"].to_pylist() == [0]
    assert prov.co_contributory(names["lines"], [0], to=names["total"]).table()["related_row"].to_pylist() == [0]
    others = prov.co_dependency(names["joined"], [0], to=names["joined"], via=names["orders"]).table()
    assert others.column("related_row").to_pylist() == [1]
    assert prov.co_dependency(names["joined"], [0], to=names["joined"], via=names["lines"]).table().num_rows == 0
    pages = prov.derivations(names["joined"], [2]).table()
    assert [list(x.values()) for x in pages.to_pylist()] == [[2, 1, 2]]


def test_runs_and_times(tmp_path: Path) -> None:
    """A hundred runs of one DAG that read one source; a backfill of the first run ends last."""
    store = Store.open(str(tmp_path / "prov"), create=True)
    source = on_disk(tmp_path / "in", numbers(3), written=False)
    for i in [*range(1, 100), 0]:
        out = on_disk(tmp_path / "out", numbers(1))
        order = i or 100
        ended = f"2024-01-01T{order // 60:02d}:{order % 60:02d}:00.000000+00:00"
        publish(store, "t", f"run{i}", ended, write(out, [(source, [(0, i % 3)])]))
    prov = provspark.open(str(tmp_path / "prov"))
    name, where = str(tmp_path / "out"), str(tmp_path / "in")

    def behind(**which: Any) -> list[int]:
        return prov.backward(name, **which).table().column("related_row").to_pylist()

    assert behind() == behind(run="latest") == behind(run="run0") == [0]
    assert behind(run="dag/run7") == [1]
    assert behind(as_of="2024-01-01T00:05:30Z") == behind(run="latest", as_of="2024-01-01T01:05:30+01:00") == [2]
    assert behind(as_of="2024-01-01") == [0]
    assert (
        prov.forward(where, [1]).table().num_rows == 33
    )  # each version knows its own file only, and all files are there
    assert gone_of(prov.forward(where, [1]).table()) == ()
    assert prov.forward(where, [1], run="run7").table().num_rows == 1
    assert prov.forward(where, [1], run="run8").table().num_rows == 0
    assert (
        prov.forward(where, [1], as_of="2024-01-01T00:05:30Z", versions="all").table()["gone"].to_pylist() == [True] * 2
    )
    assert prov.forward(where, [2], as_of="2024-01-01T00:05:30Z").table().num_rows == 1
    with pytest.raises(UnknownRunError, match="Did you mean run7"):
        behind(run="run7x")
    with pytest.raises(UnknownDatasetError):
        behind(as_of="2023-12-31")
    with pytest.raises(ConditionError, match="is not a time"):
        behind(as_of="yesterday")
    publish(store, "t", "run7", "2024-01-02T00:00:00Z", write(out, [(source, [])]), dag="other")
    prov.refresh()
    with pytest.raises(ConditionError, match="2 DAGs: dag/run7, other/run7"):
        behind(run="run7")

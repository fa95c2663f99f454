"""Cells of captured writes, told by the values of the rows that they came from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import provspark
from provspark.tracker import attach

pytestmark = pytest.mark.spark

T = [("a", "x", 1), ("a", "y", 2), ("b", "x", 5), ("b", None, 7)]
U = [("a", 10), ("c", 30)]
QUERIES = {
    "windowed": "select *, sum(v) over (partition by k) s, lag(v) over (partition by k order by v) p from t",
    "twice": "select *, sum(v) over (partition by k) s, max(v) over (partition by n) m from t",
    "counted": "select k, count(*) c, sum(v) filter (where n = 'x') sx from t group by k",
    "joined": "select t.n, u.w from t full join u on t.k = u.k",
    "paired": "select a.n an, b.v bv from t a join t b on a.v < b.v",
    "appended": "select k, v from t union all select k, w from u",
    "scalar": "select k, v, (select max(w) from u where u.k = t.k) m from t where v > 1",
}


@pytest.fixture(scope="module")
def prov(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[provspark.Provenance, Path]]:
    folder = tmp_path_factory.mktemp("cells")
    for name, rows, schema in (("t", T, "k string, n string, v int"), ("u", U, "k string, w int")):
        spark.createDataFrame(rows, schema).coalesce(1).write.parquet(str(folder / name))
        spark.read.parquet(str(folder / name)).createOrReplaceTempView(name)
    with attach(store=(folder / "prov").as_uri(), step="all") as capture:
        for name, text in QUERIES.items():
            spark.sql(text).coalesce(1).write.parquet(str(folder / name))
    assert not capture.untracked and all(w.coverage == "exact" for w in capture.manifest.writes)
    yield provspark.open(str(folder / "prov")), folder
    for name in ("t", "u"):
        spark.catalog.dropTempView(name)


Told = set[tuple[Any, ...]]


@pytest.fixture
def cells(prov: tuple[provspark.Provenance, Path]) -> Any:
    """Ask for a column: the row by its values; source row (of t by v, of u by w), column, kind, dependence, exact."""
    opened, folder = prov

    def ask(name: str, column: str) -> Told:
        out = opened.values(str(folder / name)).columns_only().to_pylist()
        values = {"t": [r[2] for r in T], "u": [r[1] for r in U]}
        found = set()
        for x in opened.cells(str(folder / name), columns=column, kinds=("data", "context")):
            source = values[x["dataset"].rsplit("/", 1)[1]][x["related_row"]]
            key = tuple(out[x["row"]].values())
            found.add((key, source, x["related_column"], x["kind"], x["dependence"], x["exact"]))
        return found

    return ask


GROUPS = {"a": [1, 2], "b": [5, 7]}
SUMS, LAGS = {"a": 3, "b": 12}, {1: None, 2: 1, 5: None, 7: 5}
WINDOWED = {v: (k, n, v, SUMS[k], LAGS[v]) for k, n, v in T}


def test_the_name_beside_a_windowed_sum_owes_nothing_to_other_rows(cells: Any) -> None:
    assert cells("windowed", "n") == {(WINDOWED[v], v, "n", "data", "identity", True) for _, _, v in T}
    sums = cells("windowed", "s")
    assert {x for x in sums if x[4] == "aggregation"} == {
        *((WINDOWED[v], v, "v", "data", "aggregation", True) for _, _, v in T),
        *((WINDOWED[v], other, "v", "context", "aggregation", True) for k, _, v in T for other in GROUPS[k]),
    }
    assert {x[2] for x in sums if x[4] == "window"} == {"k"}
    lags = {x for x in cells("windowed", "p") if x[4] == "transformation"}
    assert lags == {(WINDOWED[v], o, "v", "context", "transformation", False) for k, _, v in T for o in GROUPS[k]}


def test_two_windows_over_one_reading_are_not_told_apart(cells: Any) -> None:
    sums = {x[1:] for x in cells("twice", "s") if x[4] == "aggregation" and x[0][2] == 1}
    assert sums >= {(1, "v", "data", "aggregation", True), (2, "v", "context", "aggregation", False)}
    assert {x[-1] for x in sums if x[2] == "context"} == {False}


def test_a_count_is_of_rows_and_a_filter_makes_a_superset(cells: Any) -> None:
    rows = {k: (k, 2, {"a": 1, "b": 5}[k]) for k in GROUPS}
    assert cells("counted", "c") == {(rows[k], v, None, "data", "aggregation", True) for k, _, v in T}
    assert cells("counted", "sx") == {
        *((rows[k], v, "v", "data", "aggregation", False) for k, _, v in T),
        *((rows[k], v, "n", "data", "conditional", True) for k, _, v in T),
    }


def test_sides_of_joins_and_inputs_of_appends_are_told_apart(cells: Any) -> None:
    joined = {("x", 10): 10, ("y", 10): 10, (None, 30): 30}
    assert cells("joined", "w") == {(row, w, "w", "data", "identity", True) for row, w in joined.items()}
    assert {x[:2] for x in cells("joined", "n")} == {
        *((("x", 10), 1), (("y", 10), 2), (("x", None), 5), ((None, None), 7))
    }
    pairs = [(a, b) for a in T for b in T if a[2] < b[2]]
    assert cells("paired", "an") == {((a[1], b[2]), a[2], "n", "data", "identity", True) for a, b in pairs}
    assert cells("paired", "bv") == {((a[1], b[2]), b[2], "v", "data", "identity", True) for a, b in pairs}
    assert cells("appended", "v") == {
        *(((k, v), v, "v", "data", "identity", True) for k, _, v in T),
        *(((k, w), w, "w", "data", "identity", True) for k, w in U),
    }


def test_a_scalar_is_context_and_what_it_correlates_by_decides(
    cells: Any, prov: tuple[provspark.Provenance, Path]
) -> None:
    assert cells("scalar", "m") >= {(("a", 2, 10), 10, "w", "context", "aggregation", True)}
    opened, folder = prov
    behind = {(x["related_column"], x["dependence"]) for x in opened.columns(str(folder / "scalar"), "m")}
    assert behind >= {("w", "aggregation"), ("v", "filter")}
    assert len(opened.dropped(str(folder / "t")))

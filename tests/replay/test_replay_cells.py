"""Cells that rows choose by their values, settled by replay: against plain Python that notes what it reads."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

import provspark
from provspark.cli.main import main
from provspark.tracker import attach

SEED = 20261121
COLUMNS = ("a", "b", "c", "d")
Row = dict[str, Any]
Uses = frozenset[tuple[str, str]]
"""Columns that were read, and how: as a condition or into the value."""


@dataclass(frozen=True)
class Chosen:
    """An expression: its SQL, its value, and what a row reads for it."""

    sql: str
    of: Callable[[Row], tuple[Any, Uses]]


def leaf(name: str) -> Chosen:
    return Chosen(name, lambda r: (r[name], frozenset({(name, "transformation")})))


def as_condition(uses: Uses) -> Uses:
    return frozenset((c, "conditional") for c, _ in uses)


def made(random_: random.Random, depth: int) -> Chosen:
    """An expression whose parts are chosen by the row."""
    if depth == 0 or random_.random() < 0.2:
        return leaf(random_.choice(COLUMNS))
    x, y, z, w = (made(random_, depth - 1) for _ in range(4))
    limit = random_.randrange(5)
    kind = random_.choice(["case", "case2", "if", "coalesce", "nvl", "nvl2", "plus", "nullif"])

    def case(r: Row) -> tuple[Any, Uses]:
        value, read = x.of(r)
        read = as_condition(read)
        if value is not None and value > limit:
            got, more = y.of(r)
            return got, read | more
        if kind == "case2":
            value, more = z.of(r)
            read |= as_condition(more)
            if value is None:
                got, more = w.of(r)
                return got, read | more
            return None, read
        got, more = z.of(r)
        return got, read | more

    def first(parts: list[Chosen]) -> Callable[[Row], tuple[Any, Uses]]:
        def of(r: Row) -> tuple[Any, Uses]:
            read: Uses = frozenset()
            for part in parts:
                value, more = part.of(r)
                read |= more
                if value is not None:
                    return value, read
            return None, read

        return of

    def nvl2(r: Row) -> tuple[Any, Uses]:
        value, read = x.of(r)
        got, more = (y if value is not None else z).of(r)
        return got, as_condition(read) | more

    def plus(r: Row) -> tuple[Any, Uses]:
        (one, read), (other, more) = x.of(r), y.of(r)
        return None if one is None or other is None else one + other, read | more

    def nullif(r: Row) -> tuple[Any, Uses]:
        name = COLUMNS[limit % 4]
        one = r[name]
        return None if one == limit else one, frozenset({(name, "transformation")})

    return {
        "case": Chosen(f"CASE WHEN {x.sql} > {limit} THEN {y.sql} ELSE {z.sql} END", case),
        "case2": Chosen(f"CASE WHEN {x.sql} > {limit} THEN {y.sql} WHEN {z.sql} IS NULL THEN {w.sql} END", case),
        "if": Chosen(f"IF({x.sql} > {limit}, {y.sql}, {z.sql})", case),
        "coalesce": Chosen(f"coalesce({x.sql}, {y.sql}, {z.sql})", first([x, y, z])),
        "nvl": Chosen(f"nvl({x.sql}, {y.sql})", first([x, y])),
        "nvl2": Chosen(f"nvl2({x.sql}, {y.sql}, {z.sql})", nvl2),
        "plus": Chosen(f"({x.sql} + {y.sql})", plus),
        "nullif": Chosen(f"nullif({COLUMNS[limit % 4]}, {limit})", nullif),
    }[kind]


MADE = [made(random.Random(SEED + i), 3) for i in range(25)]
ROWS: list[Row] = [
    {"id": i, **{c: None if (v := random.Random(f"{SEED} {i} {c}").randrange(7)) == 6 else v for c in COLUMNS}}
    for i in range(24)
]
WIDE = [(i, "xyz"[i % 3], i % 2, None if i == 4 else i * 10) for i in range(9)]


@pytest.fixture(scope="module")
def world(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, provspark.Provenance]]:
    root = tmp_path_factory.mktemp("chosen")
    schema = "id int, " + ", ".join(f"{c} int" for c in COLUMNS)
    spark.createDataFrame([tuple(r.values()) for r in ROWS], schema).coalesce(1).write.parquet(str(root / "rows"))
    spark.createDataFrame(WIDE, "id int, k string, q int, v int").coalesce(1).write.parquet(str(root / "wide"))
    spark.createDataFrame([("x", 1), ("y", None)], "k string, w int").write.parquet(str(root / "names"))
    store = str(root / "store")
    with attach(store=store, step="choose") as capture:
        rows = spark.read.parquet(str(root / "rows"))
        rows.selectExpr("id", *(f"{e.sql} AS e{i}" for i, e in enumerate(MADE))).write.parquet(str(root / "made"))
        wide = spark.read.parquet(str(root / "wide"))
        wide.groupBy("k").pivot("q", [0, 1]).agg(sf.sum("v").alias("s")).write.parquet(str(root / "pivot"))
        wide.unpivot(["id"], ["q", "v"], "name", "value").filter("id <> 5").write.parquet(str(root / "unpivot"))
        names = spark.read.parquet(str(root / "names"))
        met = wide.join(names, "k", "left").selectExpr("id", "k", "coalesce(w, v) AS u", "q")
        met.groupBy("k").agg(sf.expr("sum(u) FILTER (WHERE q = 1) AS f")).write.parquet(str(root / "filtered"))
    assert capture.untracked == ()
    with attach(store=store, step="again") as capture:
        first = spark.read.parquet(str(root / "made"))
        first.selectExpr("id", "CASE WHEN e0 > 2 THEN e1 ELSE e2 END AS t").write.parquet(str(root / "again"))
    assert capture.untracked == ()
    yield root, provspark.open(store)


def test_what_each_row_read(world: tuple[Path, provspark.Provenance]) -> None:
    """Of 25 expressions, nested three deep, over 24 rows: each cell is told with exactly what its row read."""
    root, prov = world
    ids = {n: r["id"] for n, r in enumerate(prov.values(str(root / "made")).table().to_pylist())}
    expected, values = set(), {}
    for n, row in enumerate(ROWS):
        for i, e in enumerate(MADE):
            value, uses = e.of(row)
            values[n, i] = value
            plain = e.sql in COLUMNS
            expected |= {(n, f"e{i}", n, c, "identity" if plain else how) for c, how in uses}
    table = prov.values(str(root / "made")).table().to_pylist()
    assert all(row[f"e{i}"] == values[row["id"], i] for row in table for i in range(len(MADE)))
    told = prov.cells(str(root / "made"), columns=[f"e{i}" for i in range(len(MADE))], replay=True).table().to_pylist()
    key = ("related_row", "related_column", "dependence")
    assert {(ids[x["row"]], x["column"], *(x[k] for k in key)) for x in told} == expected
    assert all(x["exact"] and x["why"] is None for x in told)
    flagged = prov.cells(str(root / "made"), columns=[f"e{i}" for i in range(len(MADE))]).table()
    assert flagged.num_rows > len(told) and not all(flagged["exact"].to_pylist())


@pytest.mark.long
def test_across_two_steps_and_forward(world: tuple[Path, provspark.Provenance]) -> None:
    root, prov = world
    ids = [r["id"] for r in prov.values(str(root / "again")).table().to_pylist()]
    expected = set()
    for n, row in enumerate(ROWS):
        (cond, read), (_, one), (_, other) = MADE[0].of(row), MADE[1].of(row), MADE[2].of(row)
        expected |= {(n, "t", c, "conditional") for c, _ in read}
        expected |= {(n, "t", c, how) for c, how in (one if cond is not None and cond > 2 else other)}
    backward = prov.cells(str(root / "again"), columns="t", replay=True).table().to_pylist()
    assert {(ids[x["row"]], x["column"], x["related_column"], x["dependence"]) for x in backward} == expected
    assert all(x["exact"] for x in backward)
    forward = (
        prov.cells(str(root / "rows"), direction="forward", to=str(root / "again"), replay=True).table().to_pylist()
    )
    ahead = {(ids[x["related_row"]], x["related_column"], x["column"], x["dependence"]) for x in forward}
    assert {x for x in ahead if x[1] == "t" and x[2] != "id"} == {x for x in expected if x[2] != "id"}
    assert all(x["exact"] for x in forward)


def test_pivot_unpivot_and_filter(world: tuple[Path, provspark.Provenance]) -> None:
    root, prov = world
    wide = {k: [r for r in WIDE if r[1] == k] for k in "xyz"}

    def told(name: str, columns: list[str]) -> set[tuple[Any, ...]]:
        out = prov.values(str(root / name)).columns_only().to_pylist()
        lines = prov.cells(str(root / name), columns=columns, replay=True).table().to_pylist()
        assert all(x["exact"] for x in lines), [x["why"] for x in lines if not x["exact"]][:3]
        keys = ("column", "dataset", "related_row", "related_column", "dependence")
        found = {(tuple(out[x["row"]].values()), *(x[k] for k in keys)) for x in lines}
        return {(row, column, name.rsplit("/")[-1], *rest) for row, column, name, *rest in found}

    def total(rows: list[Any]) -> Any:
        some = [r[3] for r in rows if r[3] is not None]
        return sum(some) if some else None

    expected = set()
    for k, rows in wide.items():
        out = (k, *(total([r for r in rows if r[2] == q]) for q in (0, 1)))
        for q in (0, 1):
            expected |= {(out, str(q), "wide", r[0], "q", "conditional") for r in rows}
            expected |= {(out, str(q), "wide", r[0], "v", "aggregation") for r in rows if r[2] == q}
    assert told("pivot", ["0", "1"]) == expected

    kept = [r for r in WIDE if r[0] != 5]
    copied = {((r[0], n, r[at]), "value", "wide", r[0], n, "identity") for r in kept for n, at in (("q", 2), ("v", 3))}
    assert told("unpivot", ["value"]) == copied

    expected = set()
    for k, rows in wide.items():
        weight = {"x": 1}.get(k)
        here = [r for r in rows if r[2] == 1]
        some = [weight if weight is not None else r[3] for r in here]
        out = (k, sum(v for v in some if v is not None) if any(v is not None for v in some) else None)
        expected |= {(out, "f", "wide", r[0], "q", "conditional") for r in rows}
        if k != "z" and here:
            expected.add((out, "f", "names", {"x": 0, "y": 1}[k], "w", "aggregation"))
        expected |= {(out, "f", "wide", r[0], "v", "aggregation") for r in here if weight is None}
    names = [r["k"] for r in prov.values(str(root / "names")).table().to_pylist()]
    place = {i: names.index(k) for i, k in enumerate("xy")}
    expected = {(*x[:3], place[x[3]], *x[4:]) if x[2] == "names" else x for x in expected}
    assert told("filtered", ["f"]) == expected


@pytest.mark.long
def test_what_replay_can_not_settle_stays_flagged(world: tuple[Path, provspark.Provenance]) -> None:
    root, prov = world
    prov.replayer.most = 5
    try:
        table = prov.cells(str(root / "made"), columns="e0", replay=True).table()
    finally:
        prov.replayer.most = 1000
    flagged = prov.cells(str(root / "made"), columns="e0").table()
    assert table.drop_columns(["why"]).to_pylist() == flagged.drop_columns(["why"]).to_pylist()
    assert any("more than 5 rows" in (w or "") for w in table["why"].to_pylist())


@pytest.mark.long
def test_command(world: tuple[Path, provspark.Provenance]) -> None:
    root, _ = world
    at = ["why", str(root / "unpivot"), "--row", "0", "--column", "value", "--store", str(root / "store")]
    said = CliRunner().invoke(main, ["cells", *at[1:], "--replay", "--json"])
    assert CliRunner().invoke(main, [*at, "--replay", "--json"]).stdout == said.stdout
    assert said.exit_code == 0 and '"lines": 1,' in said.stdout.replace("\n", " "), said.output
    assert '"lines": 2,' in CliRunner().invoke(main, [*at, "--json"]).stdout.replace("\n", " ")
    alone = CliRunner().invoke(main, [*at[:4], *at[6:], "--replay"])
    assert alone.exit_code == 2 and "--column" in alone.output

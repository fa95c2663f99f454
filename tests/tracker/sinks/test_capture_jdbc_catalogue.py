"""Tables of a JDBCTableCatalog on a real PostgreSQL: made, appended to, overwritten; a row is its key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from _databases import World, made_world  # noqa: F401
from _postgres import postgres  # noqa: F401
from oracle.cases import configured
from pyspark.sql import functions as sf

from provspark.errors import UnsupportedPlanError

pytestmark = [pytest.mark.spark, pytest.mark.postgres, pytest.mark.long]

SOURCE = [(i * 7 % 20, f"k{i % 3}") for i in range(20)]
"""Rows in the order of their ids; the number is unique, and in another order than the ids."""


@pytest.fixture
def shop(world: World) -> Iterator[World]:
    """A world whose session has the catalogue ``pg``, the source ``src`` and keys for ``pg.public.t``."""
    world.spark = world.spark.newSession()
    catalogue = {f"spark.sql.catalog.pg.{name}": value for name, value in world.options.items()}
    catalogue["spark.sql.catalog.pg"] = "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"
    world.spark.createDataFrame(SOURCE, "id INT, g STRING").coalesce(1).write.parquet(world.path("src"))
    with configured(world.spark, {**catalogue, "spark.provspark.keys.pg.public.t": "id"}):
        frame(world).createOrReplaceTempView("src")
        yield world


def frame(world: World, condition: str = "true") -> Any:
    return world.spark.read.schema("id INT, g STRING").parquet(world.path("src")).where(condition)


def owed(world: World, table: str = "t", column: str = "id") -> dict[Any, set[int]]:
    """By key, the ids of the source's rows that each row of the table is owed to."""
    keys = sorted(k for (k,) in world.execute(f"SELECT {column} FROM {table}"))
    found: dict[Any, set[int]] = {k: set() for k in keys}
    for row, dataset, source in world.edges(world.uri(table), len(keys), f"file://{world.path('src')}"):
        assert dataset == f"file://{world.path('src')}"
        found[keys[row]].add(source)
    return found


def itself(*ids: int) -> dict[int, set[int]]:
    return {i: {n for n, (k, _) in enumerate(SOURCE) if k == i} for i in ids}


def test_by_statements(shop: World) -> None:
    """CREATE TABLE AS, INSERT INTO, with columns in another order too, INSERT OVERWRITE."""
    statements = [
        ("CREATE TABLE pg.public.t AS SELECT id, g FROM src WHERE id < 3", itself(0, 1, 2)),
        ("INSERT INTO pg.public.t SELECT id, g FROM src WHERE id IN (9, 11)", itself(0, 1, 2, 9, 11)),
        ("INSERT INTO pg.public.t (g, id) SELECT g, id FROM src WHERE id = 5", itself(0, 1, 2, 5, 9, 11)),
        ("INSERT OVERWRITE pg.public.t SELECT id, g FROM src WHERE id > 17", itself(18, 19)),
    ]
    for n, (statement, expected) in enumerate(statements):
        capture = shop.run(f"s{n}", lambda statement=statement: shop.spark.sql(statement))
        assert capture.untracked == ()
        assert [w.output.dataset.uri for w in capture.manifest.writes] == [shop.uri("t")]
        assert owed(shop) == expected
    assert shop.execute("SELECT id, g FROM t ORDER BY id") == sorted(r for r in SOURCE if r[0] > 17)


def test_by_frames(shop: World) -> None:
    ends = [
        (lambda: frame(shop, "id < 3").writeTo("pg.public.t").create(), itself(0, 1, 2)),
        (lambda: frame(shop, "id > 17").writeTo("pg.public.t").append(), itself(0, 1, 2, 18, 19)),
        (lambda: frame(shop, "id = 7").writeTo("pg.public.t").overwrite(sf.lit(True)), itself(7)),
    ]
    for n, (end, expected) in enumerate(ends):
        capture = shop.run(f"s{n}", end)
        assert capture.untracked == ()
        assert owed(shop) == expected


def test_groups_with_keys_by_an_option(shop: World) -> None:
    groups = frame(shop).groupBy("g").agg(sf.count("*").alias("n"))
    capture = shop.run("groups", lambda: groups.writeTo("pg.public.groups").option("provsparkKeys", "g").create())
    assert capture.untracked == ()
    kinds = {g for _, g in SOURCE}
    assert owed(shop, "groups", "g") == {k: {n for n, (_, g) in enumerate(SOURCE) if g == k} for k in kinds}


def test_what_is_refused_or_spark_s_own_error(shop: World) -> None:
    """Without keys, and as a source, it is refused by name and line; ends that Spark lacks stay errors."""
    sql = shop.spark.sql
    text = "CREATE TABLE pg.public.bare AS SELECT id FROM src WHERE id < 3"
    bare = shop.run("bare", lambda: sql(text))
    assert [(u.node, "provsparkKeys" in u.why, __file__ in u.site) for u in bare.untracked] == [
        ("AppendData", True, True)  # which creates no table, but fills the new one
    ]
    assert shop.execute("SELECT count(*) FROM bare") == [(3,)]
    read = shop.run("read", lambda: shop.spark.table("pg.public.bare").write.parquet(shop.path("out")))
    assert [(u.node, __file__ in u.site) for u in read.untracked] == [("DataSourceV2Relation", True)]
    with pytest.raises(UnsupportedPlanError, match="DataSourceV2Relation"):
        shop.run("strict", lambda: shop.spark.table("pg.public.bare").write.parquet(shop.path("no")), "fail")
    sql("CREATE TABLE pg.public.t (id INT, g STRING)")
    lacking = [
        lambda: frame(shop).writeTo("pg.public.t").overwritePartitions(),
        lambda: frame(shop).writeTo("pg.public.t").overwrite(sf.col("id") > 3),
        lambda: sql("MERGE INTO pg.public.t USING src ON t.id = src.id WHEN MATCHED THEN DELETE"),
        lambda: sql("UPDATE pg.public.t SET g = 'x'"),
    ]
    for n, end in enumerate(lacking):
        with pytest.raises(Exception) as plain:
            end()
        found: list[type] = []

        def again(end: Any = end, found: list[type] = found) -> None:
            with pytest.raises(Exception) as tracked:
                end()
            found.append(type(tracked.value))

        capture = shop.run(f"lacking-{n}", again)
        assert found == [type(plain.value)] and capture.manifest.writes == ()
    assert shop.execute("SELECT count(*) FROM t") == [(0,)]

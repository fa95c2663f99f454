"""Tables of a real PostgreSQL, both ways: a row is its key, whatever order the database gives."""

from __future__ import annotations

from typing import Any

import pytest
from _databases import PEOPLE, World, made_world, written  # noqa: F401
from _postgres import postgres  # noqa: F401
from oracle.cases import configured
from pyspark.sql import functions as sf
from sqlalchemy import text

from provspark.errors import CaptureError, UnsupportedPlanError
from provspark.index_store.store.store import Store
from provspark.model.written_rows import written_rows
from provspark.tracker.sources.keyed import KeyedScan

pytestmark = [pytest.mark.spark, pytest.mark.postgres]


def test_a_table_read_in_pieces(world: World) -> None:
    """Row ids are places in the order of the keys as they are declared, in pieces and under a pushed filter too."""
    world.people()
    frame = world.read("people", partitionColumn="i", lowerBound=0, upperBound=50, numPartitions=3)
    assert (
        world.run("read", lambda: frame.where("t = 't1'").select("i", "t").write.parquet(world.path("out"))).untracked
        == ()
    )
    ids = {i: n for n, (i, _) in enumerate(v for _, v in sorted(PEOPLE.items()))}
    rows = written(world.path("out"))
    assert sorted(r["i"] for r in rows) == sorted(i for i, t in PEOPLE.values() if t == "t1")
    assert world.edges(world.path("out"), len(rows)) == {
        (n, world.uri("people"), ids[r["i"]]) for n, r in enumerate(rows)
    }
    plan = frame.where("t = 't1'")._jdf.queryExecution().executedPlan().toString()
    assert "PushedFilters: [*IsNotNull(t), *EqualTo(t,t1)]" in plan


def test_written_appended_to_and_read_again(world: World) -> None:
    """From files into a table, more rows later, and from the table into files: links hold row by row."""
    spark = world.spark
    spark.range(0, 30, 1, 3).selectExpr("id * 7 % 30 AS id", "concat('n', id) AS n").write.parquet(world.path("src"))
    source = [r["id"] for r in written(world.path("src"))]

    def first() -> None:
        frame = spark.read.parquet(world.path("src")).where("id % 3 = 0").repartition(4)
        world.writer(frame).option("dbtable", "t").mode("overwrite").save()

    def more() -> None:
        frame = spark.read.parquet(world.path("src")).where("id % 3 = 1")
        options = {k: v for k, v in world.options.items() if k != "url"}
        frame.write.option("provsparkKeys", "ID").jdbc(world.options["url"], "public.T", "append", options)

    def back() -> None:
        world.read('"public"."t"', "id").where("id < 20").write.parquet(world.path("out"))

    for name, call, rows in (("first", first, (10, 10)), ("more", more, (10, 20)), ("back", back, (14, 14))):
        capture = world.run(name, call)
        assert capture.untracked == ()
        assert made(world, capture) == [rows]
        assert [w.output.dataset.uri for w in capture.manifest.writes] == [
            world.uri("t") if name != "back" else f"file://{world.path('out')}"
        ]
    held = sorted(i for i in source if i % 3 < 2)
    assert [r[0] for r in world.execute("SELECT id FROM t ORDER BY id")] == held
    place = {i: n for n, i in enumerate(source)}
    origin = f"file://{world.path('src')}"
    assert world.edges(world.uri("t"), len(held)) == {(n, origin, place[i]) for n, i in enumerate(held)}
    rows = written(world.path("out"))
    assert sorted(r["id"] for r in rows) == [i for i in held if i < 20]
    assert world.edges(world.path("out"), len(rows)) == {(n, origin, place[r["id"]]) for n, r in enumerate(rows)}


def test_rows_of_a_write_and_of_the_table(world: World) -> None:
    """Rows from before are no rows of an append, and all rows of a table that is written over from a cache are."""
    spark, few = world.spark, world.spark.range(3).selectExpr("id AS id", "'a' AS n")
    by_group = spark.range(40).groupBy((sf.col("id") % 4 + 10).alias("id")).agg(sf.lit("b").alias("n"))

    def collected() -> None:
        ids = [row.id + 20 for row in few.collect()]
        append(spark.createDataFrame([(i, "c") for i in ids], "id bigint, n string"))

    def over() -> None:
        table = world.read("t", "id").cache()
        assert table.count() == 10
        world.writer(table.withColumn("n", sf.upper("n"))).option("dbtable", "t").mode("overwrite").save()
        table.unpersist()

    def append(frame: Any) -> None:
        world.writer(frame).option("dbtable", "t").mode("append").save()

    calls = (lambda: append(few), lambda: append(by_group), collected, lambda: append(few.limit(0)), over)
    found = []
    for n, call in enumerate(calls):
        capture = world.run(f"w{n}", call)
        assert capture.untracked == ()
        found += made(world, capture)
    assert found == [(3, 3), (4, 7), (3, 10), (0, 10), (10, 10)]


def made(world: World, capture: Any) -> list[tuple[int | None, int]]:
    """Rows that each write made, and those that its output then had."""
    store = Store.open((world.folder / "store").as_uri())
    return [(written_rows(store, capture.manifest.step, w), w.output.rows) for w in capture.manifest.writes]


def test_groups_into_a_table(world: World) -> None:
    world.people()
    frame = world.read("people").groupBy("t").count().where("t IS NOT NULL")
    assert world.run("group", lambda: world.writer(frame, "t").option("dbtable", "g").save()).untracked == ()
    rows = sorted({t for _, t in PEOPLE.values() if t})
    people = sorted(PEOPLE)
    expected = {(rows.index(t), world.uri("people"), people.index(k)) for k, (_, t) in PEOPLE.items() if t is not None}
    assert world.edges(world.uri("g"), len(rows)) == expected
    assert world.execute("SELECT t, count FROM g ORDER BY t") == [
        (t, sum(u == t for _, u in PEOPLE.values())) for t in rows
    ]


def test_columns_of_a_new_table_may_be_null_where_plain_sparks_may(world: World) -> None:
    world.people()
    frame = world.read("people").selectExpr("i AS id").intersect(world.spark.range(40).selectExpr("int(id) AS id"))
    world.writer(frame).option("dbtable", "plain").save()
    assert world.run("nulls", lambda: world.writer(frame).option("dbtable", "captured").save()).untracked == ()
    declared = world.execute(
        "SELECT table_name, is_nullable FROM information_schema.columns"
        " WHERE table_name IN ('plain', 'captured') ORDER BY table_name"
    )
    assert declared == [("captured", "NO"), ("plain", "NO")]


def test_keys_by_a_setting_and_what_is_there_already(world: World) -> None:
    world.people()
    frame = world.read("people", keys="")
    with configured(world.spark, {"spark.provspark.keys.people": "b,a"}):
        assert world.run("set", lambda: frame.write.parquet(world.path("out"))).untracked == ()
        capture = world.run("ignore", lambda: world.writer(frame, "").option("dbtable", "people").mode("ignore").save())
    assert (capture.untracked, capture.manifest.writes) == ((), ())
    order = [i for i, _ in (PEOPLE[k] for k in sorted(PEOPLE, key=lambda k: (k[1], k[0])))]
    rows = written(world.path("out"))
    assert {(n, order[s]) for n, _, s in world.edges(world.path("out"), len(rows))} == {
        (n, r["i"]) for n, r in enumerate(rows)
    }


def test_what_is_refused(world: World) -> None:
    world.people()
    world.execute(
        "CREATE TABLE twice AS SELECT b FROM people", "CREATE TABLE holes (k int)", "INSERT INTO holes VALUES (NULL)"
    )
    cases = [
        (lambda: world.read("people", keys=""), "name the columns that identify a row"),
        (lambda: world.read("people", keys="a, c"), "no key column c"),
        (lambda: world.read("(SELECT * FROM people) p"), "only for tables of PostgreSQL"),
        (lambda: world.read("twice", "b"), "two rows have the key 1"),
        (lambda: world.read("holes", "k"), "key column k is null"),
    ]
    for n, (read, why) in enumerate(cases):
        frame = read()
        capture = world.run(f"refused-{n}", lambda frame=frame, n=n: frame.write.parquet(world.path(f"r{n}")))
        assert len(capture.untracked) == 1 and why in capture.untracked[0].why
        assert len(written(world.path(f"r{n}"))) == frame.count()
    few = world.spark.range(4).selectExpr("id % 2 AS id")
    capture = world.run("dup", lambda: world.writer(few).option("dbtable", "dup").save())
    assert ["two rows" in u.why for u in capture.untracked] == [True]
    assert world.execute("SELECT count(*) FROM dup") == [(4,)]
    capture = world.run("keyless", lambda: world.writer(few, "").option("dbtable", "dup").mode("append").save())
    assert [(u.node, "name the columns" in u.why) for u in capture.untracked] == [("SaveIntoDataSourceCommand", True)]
    assert world.execute("SELECT count(*) FROM dup") == [(8,)]
    with pytest.raises(UnsupportedPlanError, match="name the columns"):
        world.run("strict", lambda: world.writer(few, "").option("dbtable", "dup").mode("append").save(), "fail")
    assert world.execute("SELECT count(*) FROM dup") == [(8,)]


def test_a_table_that_changes_meanwhile(world: World) -> None:
    """A change between the listing and the end is found, and a key that the database changes too."""
    world.people()
    engine = world.engine
    frame = world.read("people")

    finish = KeyedScan.finish

    def late(scan: Any) -> Any:
        with engine.begin() as connection:
            connection.execute(text("DELETE FROM people WHERE i = 3"))
        return finish(scan)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KeyedScan, "finish", late)
        capture = world.run("late", lambda: frame.write.parquet(world.path("out")))
    assert ["was changed while it was read" in u.why for u in capture.untracked] == [True]
    assert len(written(world.path("out"))) == 50
    world.execute(
        "CREATE TABLE upper (id text)",
        "CREATE FUNCTION up() RETURNS trigger AS $$BEGIN NEW.id := upper(NEW.id); RETURN NEW; END$$ LANGUAGE plpgsql",
        "CREATE TRIGGER up BEFORE INSERT ON upper FOR EACH ROW EXECUTE FUNCTION up()",
    )
    few = world.spark.range(3).selectExpr("concat('k', id) AS id")
    with pytest.raises(CaptureError, match="are missing there: the database or another writer"):
        world.run("up", lambda: world.writer(few).option("dbtable", "upper").mode("append").save(), "fail")
    assert world.execute("SELECT id FROM upper ORDER BY id") == [("K0",), ("K1",), ("K2",)]

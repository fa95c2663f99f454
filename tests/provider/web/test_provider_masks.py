"""Masked columns: where a write has no operations, by what its rows came from; where it has, by each way of a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from _http import BASE, client
from _steps import publish, read, version, write
from pyspark.sql import Window
from pyspark.sql import functions as sf

from provspark.api import Provenance
from provspark.errors import SettingsError
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset, Field
from provspark.model.pending import PendingVersion
from provspark.model.steps import StepKey
from provspark.tracker import attach
from provspark.web.policy import Policy
from provspark.web.visible import HIDDEN, Visible

MASKS = "ssn, *pay*"


def having(v: PendingVersion, *names: str) -> PendingVersion:
    return replace(v, fields=tuple(Field(name, "string") for name in names))


class World:
    """A store, and what may be seen of it."""

    def __init__(self, folder: Path) -> None:
        self.url = str(folder / "prov")
        self.store = Store.open(self.url, create=True)

    def visible(self, masks: str = MASKS, opened: str = "", *, values: bool = True) -> Visible:
        graph = Provenance(self.url).graph
        return Visible(Policy.of(values, masks, opened), Linker(graph))

    def hidden(self, name: str, masks: str = MASKS, opened: str = "") -> list[str]:
        visible = self.visible(masks, opened)
        at = find(visible, name)
        return [f.name for f, masked in zip(at.version.fields, visible.masked(at), strict=True) if masked]


def find(visible: Visible, name: str, version: PendingVersion | None = None) -> VersionReference:
    identity = version and version.files.identity(version.dataset)
    graph = visible.graph
    return graph.find(Dataset.parse(name), identity) if identity else graph.latest(Dataset.parse(name))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


PEOPLE = having(version("/people", {"p": 3}), "id", "ssn")
OTHER = having(version("/cities", {"c": 3}), "id", "city")
ALL = [(i, i) for i in range(3)]


def test_without_operations_all_columns_count_as_made_of_all(world: World) -> None:
    made = having(version("/made", {"a": 3}, {"a"}), "x", "y")
    clean = having(version("/clean", {"a": 3}, {"a"}), "x", "city")
    publish(world.store, "one", write(made, [(PEOPLE, ALL)]), write(clean, [(OTHER, ALL)]))
    assert world.hidden("/people") == ["ssn"]
    assert world.hidden("/made") == ["x", "y"]
    assert world.hidden("/clean") == []
    assert world.hidden("/made", masks="") == []


def test_an_untracked_write_may_hold_anything(world: World) -> None:
    made = having(version("/made", {"a": 3}, {"a"}), "x", "y")
    publish(world.store, "one", write(made, coverage="untracked"))
    after = having(version("/after", {"a": 3}, {"a"}), "z")
    publish(world.store, "two", write(after, [(read(made), ALL)]))
    assert world.hidden("/made") == ["x", "y"]
    assert world.hidden("/after") == ["z"]
    assert world.hidden("/after", opened="made:x, made:y") == []
    assert world.hidden("/after", opened="made:x") == ["z"]


def test_columns_that_are_opened(world: World) -> None:
    made = having(version("/lake/made", {"a": 3}, {"a"}), "x", "pay", "Y")
    publish(world.store, "one", write(made, [(PEOPLE, ALL)]))
    after = having(version("/lake/after", {"a": 3}, {"a"}), "z")
    publish(world.store, "two", write(after, [(read(made), ALL)]))
    name = "/lake/made"
    assert world.hidden(name) == ["x", "pay", "Y"]
    assert world.hidden(name, opened="x") == ["pay", "Y"]
    assert world.hidden(name, opened="made:x,lake/made:y") == ["pay"]
    assert world.hidden(name, opened="file:///lake/made:x /lake/*:y") == ["pay"]
    assert world.hidden(name, opened="ade:x other:y") == ["x", "pay", "Y"]
    assert world.hidden(name, opened="*") == ["pay"]  # a column is not opened that is masked by its own name
    assert world.hidden("/lake/after", opened="made:*") == ["z"]


def test_rows_of_several_writes(world: World) -> None:
    first = having(version("/made", {"a": 3}, {"a"}), "x", "y")
    publish(world.store, "one", write(first, [(OTHER, ALL)]))
    both = having(version("/made", {"a": 3, "b": 3}, {"b"}), "x", "y")
    publish(world.store, "two", write(both, [(PEOPLE, [(i + 3, i) for i in range(3)])]))
    visible = world.visible()
    old, new = (find(visible, "/made", v) for v in (first, both))
    assert visible.columns(old) == ["x", "y"] and visible.columns(new) == []


def test_rows_that_nobody_saw_written_are_as_those_of_other_versions(world: World) -> None:
    made = having(version("/made", {"a": 3}, {"a"}), "x", "id")
    publish(world.store, "one", write(made, [(PEOPLE, ALL)]))
    unknown = having(version("/made", {"b": 3}), "id", "x", "new")
    after = having(version("/after", {"a": 3}, {"a"}), "z")
    publish(world.store, "two", write(after, [(unknown, ALL)]))
    visible = world.visible()
    at = find(visible, "/made", unknown)
    assert visible.columns(at) == ["new"]
    assert world.hidden("/after") == ["z"]


def test_steps_in_a_circle(world: World) -> None:
    """Each reads rows of the other's data set that nobody saw written."""
    left, right = (having(version(f"/{n}", {"a": 3}, {"a"}), "x") for n in ("left", "right"))
    lost = [having(version(f"/{n}", {"lost": 3}), "x") for n in ("left", "right")]
    publish(world.store, "one", write(left, [(lost[1], ALL)]))
    publish(world.store, "two", write(right, [(lost[0], ALL)]))
    assert world.hidden("/left") == world.hidden("/right") == []
    source = having(version("/left", {"c": 3}, {"c"}), "x")
    publish(world.store, "three", write(source, [(PEOPLE, ALL)]))
    assert world.hidden("/left") == world.hidden("/right") == ["x"]


def test_a_reader_names_the_columns_of_a_csv_file(world: World) -> None:
    made = having(version("/made", {"a": 3}, {"a"}, format="csv"), "_c0", "_c1")
    publish(world.store, "one", write(made, [(OTHER, ALL)]))
    known = having(read(made), "id", "ssn")
    publish(world.store, "two", write(having(version("/after", {"a": 3}, {"a"}), "z"), [(known, ALL)]))
    assert world.hidden("/made") == ["_c1"]


def test_what_a_step_wrote_that_cannot_be_read(world: World) -> None:
    """Only it knew what the columns came from; what others wrote stays as it is."""
    made = having(version("/lake/made", {"d=1/a": 3}, {"d=1/a"}, mtime=7), "x", "y")
    publish(world.store, "one", write(made, [(PEOPLE, ALL)]))
    other = having(version("/other", {"d=1/a": 3}, {"d=1/a"}, mtime=8), "x")
    publish(world.store, "two", write(other, [(OTHER, ALL)]))
    after = having(version("/after", {"a": 3}, {"a"}), "z")
    publish(world.store, "three", write(after, [(having(read(made), "x", "y"), ALL)]))
    assert (world.hidden("/lake/made"), world.hidden("/after"), world.hidden("/other")) == (["x", "y"], ["z"], [])
    (manifest,) = (Path(world.url) / "steps").glob("dag-one-*/manifest.json")
    manifest.write_text("{")
    assert (world.hidden("/lake/made"), world.hidden("/after"), world.hidden("/other")) == (["x", "y"], ["z"], [])


def test_a_long_chain(world: World) -> None:
    before = PEOPLE
    for i in range(400):
        made = having(version(f"/made{i}", {"a": 3}, {"a"}), "x")
        publish(world.store, f"step{i}", write(made, [(before, ALL)]))
        before = having(read(made), "x")
    assert world.hidden("/made399") == ["x"]
    assert world.hidden("/made399", opened="made5:x") == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/d/ssn=1-2/part is gone", f"/d/ssn={HIDDEN}/part is gone"),
        ("/d/day=1/SSN=John Smith/part is gone", f"/d/day=1/SSN={HIDDEN}/part is gone"),
        ("file:///d/ssn=1%2F2", f"file:///d/ssn={HIDDEN}"),
        ("/d/pay day=Ann B/part is gone", f"/d/pay day={HIDDEN}/part is gone"),
        ("read file:///d/ssn=Ann B", f"read file:///d/ssn={HIDDEN}"),
        ("read memory://range/5184768,5184771,1", f"read memory://range/{HIDDEN}"),
        ("wrote '/d/ssn=12' and /e/%73sn=13, too", f"wrote '/d/ssn={HIDDEN}' and /e/%73sn={HIDDEN}, too"),
        ("a = b, where x=1/2", "a = b, where x=1/2"),
    ],
)
def test_paths(world: World, text: str, told: str) -> None:
    assert world.visible().path(text) == told
    assert world.visible("").path(text) == text
    assert "12" not in world.visible("", values=False).path(text)


def test_texts(world: World) -> None:
    visible = world.visible()
    assert visible.text("capture: KeyError: '599-13' in row") == (
        "capture: KeyError (message hidden: it may contain masked values; see the task's log)"
    )
    assert visible.quoted("the line 'Ann,599-13' has 'x' in column 'name'") == (
        f"the line {HIDDEN} has {HIDDEN} in column 'name'"
    )
    assert world.visible("").text("capture: KeyError: '599-13'") == "capture: KeyError: '599-13'"


def test_settings_of_values() -> None:
    def policy(**settings: str) -> Policy:
        return Policy.from_settings(settings.get)

    assert policy() == policy(show_values="True", mask_columns=" ") == Policy()
    assert policy(show_values="off") == Policy(False)
    assert policy(mask_columns="SSN, *pay*", open_columns="a:b") == Policy.of(True, "ssn *pay*", "a:b")
    with pytest.raises(SettingsError, match="show_values is 'maybe'"):
        policy(show_values="maybe")


@pytest.mark.spark
def test_names_that_are_masked_values(spark: Any, tmp_path: Path) -> None:
    """A pivot and a transposed frame name columns after values."""
    p, q, r, t = (str(tmp_path / name) for name in "pqrt")
    people = [(i, f"n{i % 2}", f"SSNX{i}") for i in range(4)]
    spark.createDataFrame(people, "id int, name string, ssn string").coalesce(1).write.parquet(p)
    with attach(store=str(tmp_path / "prov"), key=StepKey("all", "run", "dag")):
        read = spark.read.parquet(p)
        made = read.groupBy("name").pivot("ssn").agg(sf.count("id").alias("n"), sf.max("id").alias("m"))
        made.coalesce(1).write.parquet(q)
        spark.read.parquet(q).drop("SSNX1_n").coalesce(1).write.parquet(r)
        read.select("ssn", "id").transpose("ssn").coalesce(1).write.parquet(t)
    api = client(tmp_path, policy=Policy.of(True, "ssn"))
    gets = ("", "/operations", "/operations?direction=forward", "/operations?parts=true", "/columns", "/dropped")
    more = ("/columns?direction=forward", "/rows?columns=x", "/columns?column=x", "/export?format=jsonl", "/export")
    found = api.get(f"{BASE}/datasets").json()["items"]
    assert [d["label"] for d in found] == ["p", "q", "r", "t"]
    for d in found:
        for route in (*gets, *more):
            assert "SSNX" not in api.get(f"{BASE}/datasets/{d['id']}{route}").text, (d["label"], route)
        for direction in ("backward", "forward"):
            asked = {"dataset": d["id"], "direction": direction}
            for route in ("cells", "how", "trace"):
                assert "SSNX" not in api.post(f"{BASE}/{route}", json=asked).text, (d["label"], route)
        rows = api.get(f"{BASE}/datasets/{d['id']}/rows").json()
        told = [(c["name"], c["masked"]) for c in rows["columns"]]
        if d["label"] in "qr":
            assert told == [("name", False), *((f"{HIDDEN}{i}", True) for i in range(2, 1 + len(told)))]
            assert sorted(v[0] for v in rows["values"]) == ["n0", "n1"]


@pytest.mark.spark
def test_what_is_told_in_the_place_of_sparks_own_columns(spark: Any, tmp_path: Path) -> None:
    """A value over a window is told by its expression, which may quote masked values that other operations compare."""
    p, q = (str(tmp_path / name) for name in "pq")
    spark.createDataFrame([(i, f"SSNX{i}") for i in range(4)], "id int, ssn string").coalesce(1).write.parquet(p)
    with attach(store=str(tmp_path / "prov"), key=StepKey("all", "run", "dag")):
        read = spark.read.parquet(p)
        one = sf.sum(sf.when(sf.col("ssn") == "SSNX1", 1).otherwise(2)).over(Window.partitionBy())
        read.withColumn("share", sf.col("id") / one).drop("ssn").coalesce(1).write.parquet(q)
    for policy, shown in ((Policy.of(True, "ssn"), False), (Policy.of(True, ""), True), (Policy.of(False, ""), False)):
        api = client(tmp_path, policy=policy)
        ids = {d["label"]: d["id"] for d in api.get(f"{BASE}/datasets").json()["items"]}
        for parts in ("false", "true"):
            answer = api.get(f"{BASE}/datasets/{ids['q']}/operations?parts={parts}")
            assert ("SSNX" in answer.text) == shown
            assert "_we0" not in answer.text and "_w0" not in answer.text
        graph = api.post(f"{BASE}/trace/graph", json={"dataset": ids["q"], "rows": [0]})
        assert graph.status_code == 200 and ("SSNX" in graph.text) == shown
        assert any("operation/" in name for name in graph.json()["activity"])


def _read(spark: Any, at: str, name: str) -> Any:
    return spark.read.parquet(f"{at}/{name}")


def _mapped(spark: Any, at: str) -> Any:
    most = _read(spark, at, "p").agg(sf.max("ssn")).first()[0]

    def answer(parts: Iterator[Any]) -> Iterator[Any]:
        for part in parts:
            part["z"] = most
            yield part[["z"]]

    return _read(spark, at, "p").select("city").mapInPandas(answer, "z string")


def _exploded(spark: Any, at: str) -> Any:
    most = _read(spark, at, "p").agg(sf.max("salary")).first()[0]
    return _read(spark, at, "p").select(sf.explode(sf.sequence(sf.lit(most), sf.lit(most + 1))).alias("z"))


def _made(spark: Any, at: str) -> Any:
    rows = [(row.id, str(row.ssn)[:4]) for row in _read(spark, at, "p").select("id", "ssn").collect()]
    return spark.createDataFrame(rows, "id int, z string")


def _made_by_pandas(spark: Any, at: str) -> Any:
    return spark.createDataFrame(_read(spark, at, "p").select("id", sf.col("ssn").alias("z")).toPandas())


def _literal(spark: Any, at: str) -> Any:
    return _read(spark, at, "p").select("id", sf.lit(_read(spark, at, "p").select("ssn").first()[0]).alias("z"))


def _in_sql(spark: Any, at: str) -> Any:
    most = _read(spark, at, "p").agg(sf.max("salary")).collect()[0][0]
    return spark.sql(f"select id, {most} as z from p")


def _function(spark: Any, at: str) -> Any:
    ssn = {row.id: row.ssn for row in _read(spark, at, "p").toLocalIterator()}
    return _read(spark, at, "p").select("id", sf.udf(lambda i: ssn[i], "string")("id").alias("z"))


WAYS: dict[str, tuple[Any, list[str]]] = {
    "a lateral value": ("select p.id, l.g from p, lateral (select p.salary + 1 as g) l", ["g"]),
    "a lateral row": ("select p.id, l.k from p, lateral (select k from b where b.k = p.ssn) l", ["k"]),
    "a lateral row that is open": (
        "select p.id, l.grade from p, lateral (select grade from b where b.bid = p.id) l",
        [],
    ),
    "a lateral generator": ("select p.id, x.* from p, lateral explode(array(ssn, city)) as x(z)", ["z"]),
    "a lookup": ("select id, (select max(grade) from b where b.k = p.ssn) g from p", ["g"]),
    "a scalar over a filter": ("select id, (select max(bid) from b where k > 'S') g from p", []),
    "exists": ("select id, exists(select 1 from b where b.bid = p.id and p.salary > 100) g from p", ["g"]),
    "a join by a filter": ("select p.id, b.k, b.grade from p, b where p.ssn = b.k", ["k"]),
    "a join by expressions": ("select p.id, b.k, b.grade from p join b on lower(p.ssn) = lower(b.k)", ["k"]),
    "a join by a part": ("select p.id, b.bid from p join b on p.salary % 10 = b.bid", ["bid"]),
    "a filter": ("select id, city from p where salary > 100 and ssn like 'S%'", []),
    "constants of rows": ("select id, e from (select * from p) lateral view explode(sequence(1, 2)) as e", []),
    "a count by a group": ("select city, count(*) n, max(salary) m from p group by city", ["m"]),
    "an unpivoted pivot": (
        lambda spark, at: _read(spark, at, "wide").unpivot("id", _read(spark, at, "wide").columns[1:], "v", "w"),
        ["v", "w"],
    ),
    "another separator": (lambda spark, at: spark.read.csv(f"{at}/lines", sep="|").toDF("a"), ["a"]),
    "a corrupt record": (
        lambda spark, at: spark.read.schema("id string, city int, _corrupt_record string").json(f"{at}/json"),
        ["_corrupt_record"],
    ),
    "a schema of fewer columns": (lambda spark, at: spark.read.schema("id int, city string").json(f"{at}/json"), []),
    "names of files": (
        lambda spark, at: (
            spark.read.option("recursiveFileLookup", "true")
            .parquet(f"{at}/by")
            .select("id", sf.input_file_name().alias("f"), "_metadata.file_name")
        ),
        ["f", "file_name"],
    ),
    "a function in Python": (_mapped, ["z"]),
    "a generator of what was read": (_exploded, ["z"]),
    "rows made of what was read": (_made, ["id", "z"]),
    "rows made by pandas": (_made_by_pandas, ["id", "z"]),
    "a literal that was read": (_literal, ["z"]),
    "a number put into SQL": (_in_sql, ["z"]),
    "a function that holds what was read": (_function, ["z"]),
}


@pytest.mark.spark
def test_ways_of_masked_values(spark: Any, tmp_path: Path) -> None:
    at, store = str(tmp_path), str(tmp_path / "prov")
    people = [(i, f"n{i % 2}", f"SSNX{i}", i * 100) for i in range(4)]
    spark.createDataFrame(people, "id int, city string, ssn string, salary int").coalesce(1).write.parquet(f"{at}/p")
    looked = [(i, f"SSNX{i}", i) for i in range(4)]
    spark.createDataFrame(looked, "bid int, k string, grade int").coalesce(1).write.parquet(f"{at}/b")

    def step(name: str, write: Callable[[], Any]) -> None:
        with attach(store=store, key=StepKey(name, "run", "dag")):
            _read(spark, at, "p").createOrReplaceTempView("p")
            _read(spark, at, "b").createOrReplaceTempView("b")
            write()

    step("wide", lambda: spark.table("p").groupBy("id").pivot("ssn").count().coalesce(1).write.parquet(f"{at}/wide"))
    step("json", lambda: spark.table("p").coalesce(1).write.json(f"{at}/json"))
    step("lines", lambda: spark.table("p").coalesce(1).write.csv(f"{at}/lines"))
    step("by", lambda: spark.table("p").coalesce(1).write.partitionBy("ssn").parquet(f"{at}/by"))
    for i, (made, _) in enumerate(WAYS.values()):
        step(
            f"way{i}",
            lambda i=i, made=made: (
                (spark.sql(made) if isinstance(made, str) else made(spark, at))
                .coalesce(1)
                .write.parquet(f"{at}/out{i}")
            ),
        )
    spark.sql(f"create table swapped(a string, b string) using parquet location '{at}/swapped'")
    try:
        swap = sf.col("city").alias("b"), sf.col("ssn").alias("a")
        step("swap", lambda: spark.table("p").select(*swap).write.insertInto("swapped"))
    finally:
        spark.sql("drop table swapped")
    world = World.__new__(World)
    world.url = store
    found = {way: world.hidden(f"{at}/out{i}", "ssn salary") for i, way in enumerate(WAYS)}
    assert found == {way: masked for way, (_, masked) in WAYS.items()}
    assert world.hidden(f"{at}/swapped", "ssn") == ["b"]

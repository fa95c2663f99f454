"""Steps as a whole: several writes, several steps, modes onto what is there, scripts' errors, states of an input."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from oracle import lineage, outputs
from oracle.cases import Frames, configured
from oracle.tables import DEPT, EMP, SKEW
from oracle.values import canon
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import functions as sf

import provspark
from provspark.model.steps import Manifest
from provspark.tracker import attach

pytestmark = pytest.mark.spark

TABLES = [EMP, DEPT, SKEW]
Edges = dict[tuple[Any, ...], list[set[tuple[str, int]]]]


class World:
    """A folder with a store; steps are run in it and outputs asked about."""

    def __init__(self, spark: Any, sources: Path, folder: Path) -> None:
        self.t = Frames(spark, TABLES, sources)
        self.spark = spark
        self.folder = folder
        self.store = (folder / "store").as_uri()
        self.names = lineage.names(self.t.paths)

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def step(self, name: str) -> Any:
        return attach(store=self.store, step=name)

    def edges(self, name: str, to: str | None = None) -> Edges:
        """Sources of each row of an output, by its values: sets of (data set, row id), whatever the occurrence."""
        rows = outputs.read(self.folder / name).rows
        found: list[set[tuple[str, int]]] = [set() for _ in rows]
        answer = provspark.open(self.store).backward(self.path(name), rows=list(range(len(rows))), to=to).table()
        for line in lineage.lines(answer):
            source = self.names.get(line["dataset"], line["dataset"].rsplit("/", 1)[-1])
            found[line["row"]].add((source, line["related_row"]))
        by_value: Edges = {}
        for row, sources in zip(rows, found, strict=True):
            by_value.setdefault(row, []).append(sources)
        return {row: sorted(found, key=sorted) for row, found in by_value.items()}


@pytest.fixture
def world(spark: Any, sources: Path, tmp_path: Path) -> World:
    return World(spark, sources, tmp_path)


def rows_of(source: str, *ids: int) -> set[tuple[str, int]]:
    return {(source, i) for i in ids}


def manifest(capture: Any) -> Manifest:
    assert capture.untracked == ()
    found = capture.manifest
    assert isinstance(found, Manifest)
    return found


def test_second_write_reads_the_first(world: World) -> None:
    with world.step("s") as capture:
        world.t.dept.filter("w > 2").write.parquet(world.path("mid"))
        world.spark.read.parquet(world.path("mid")).groupBy("k").count().write.parquet(world.path("out"))
    assert [w.output.rows for w in manifest(capture).writes] == [6, 5]
    assert world.edges("out") == {
        (2, 1): [rows_of("dept", 2)],
        (1, 1): [rows_of("dept", 3)],
        (5, 1): [rows_of("dept", 4)],
        (7, 2): [rows_of("dept", 5, 6)],
        (None, 1): [rows_of("dept", 7)],
    }
    assert {len(s) for found in world.edges("out", to=world.path("mid")).values() for s in found} == {1, 2}


def test_chain_of_three_steps(world: World) -> None:
    t = world.t
    with world.step("clean") as one:
        t.emp.filter("k IS NOT NULL").select("k", "id").repartition(3).write.partitionBy("k").parquet(
            world.path("clean")
        )
    with world.step("join") as two:
        t.dept.join(world.spark.read.parquet(world.path("clean")), "k").select("id", "w").write.json(world.path("join"))
    with world.step("report") as three:
        joined = world.spark.read.schema("id INT, w LONG").json(world.path("join"))
        joined.groupBy("w").agg(sf.sum("id").alias("s")).write.parquet(world.path("report"))
    for capture in (one, two, three):
        manifest(capture)
    expected = {}
    for d, (k, _, _, w) in enumerate(DEPT.rows):
        ids = [r[0] for r in EMP.rows if k is not None and r[1] == k]
        if ids:
            row, sources = expected.setdefault(w, ([], set()))
            row += ids
            sources |= rows_of("emp", *ids) | rows_of("dept", d)
    assert world.edges("report") == {(w, sum(ids)): [sources] for w, (ids, sources) in expected.items()}
    forward = provspark.open(world.store).forward(str(t.paths["emp"]), rows=[6]).table()
    assert set(forward["dataset"].to_pylist()) == {f"file://{world.path('report')}"}
    values = provspark.open(world.store).values(world.path("report"), rows=forward["related_row"].to_pylist()).table()
    assert values["w"].to_pylist() == [6]


@pytest.mark.parametrize("same_step", [True, False], ids=["in one step", "in two steps"])
def test_append(world: World, same_step: bool) -> None:
    """What the first write made is what it was; the second's rows are its own."""

    def first() -> None:
        world.t.emp.select("id").filter("id < 3").write.mode("append").parquet(world.path("out"))

    def second() -> None:
        world.t.dept.selectExpr("CAST(100 + w AS INT) AS id").repartition(2).write.mode("append").parquet(
            world.path("out")
        )

    if same_step:
        with world.step("both") as capture:
            first()
            second()
        manifest(capture)
    else:
        with world.step("one") as one:
            first()
        with world.step("two") as two:
            second()
        manifest(one), manifest(two)
    assert world.edges("out") == {
        **{(i,): [rows_of("emp", i)] for i in range(3)},
        **{(100 + w,): [rows_of("dept", w - 1)] for w in range(1, 6)},
        (106,): [rows_of("dept", 5), rows_of("dept", 6)],
        (107,): [rows_of("dept", 7)],
    }


def test_append_to_files_of_others(world: World) -> None:
    """Rows that no step made are their own source."""
    world.t.emp.select("id").filter("id < 3").write.parquet(world.path("out"))
    before = {p.name for p in Path(world.path("out")).glob("part-*")}
    with world.step("s") as capture:
        world.t.dept.selectExpr("CAST(100 + w AS INT) AS id").write.mode("append").parquet(world.path("out"))
    manifest(capture)
    out = outputs.read(Path(world.path("out")))
    assert out.rows and before
    for i, (row, file) in enumerate(zip(out.rows, out.files, strict=True)):
        found = world.edges("out")[row]
        if file in before:
            assert found in ([set()], [{("out", i)}])
        elif row != (106,):
            assert found == [rows_of("dept", 7 if row == (107,) else row[0] - 101)]


def test_overwrite(world: World) -> None:
    with world.step("one"):
        world.t.emp.write.parquet(world.path("out"))
    with world.step("two") as two:
        world.t.dept.select("w").write.mode("overwrite").parquet(world.path("out"))
    manifest(two)
    assert world.edges("out")[(4,)] == [rows_of("dept", 3)]
    assert len(world.edges("out")) == 7


@pytest.mark.parametrize("how", ["ignore", "errorifexists", "default"])
def test_what_is_there_stays(world: World, how: str) -> None:
    with world.step("one"):
        world.t.emp.select("id").write.parquet(world.path("out"))
    files = sorted(p.name for p in Path(world.path("out")).iterdir())
    with world.step("two") as two:
        writer = world.t.dept.write if how == "default" else world.t.dept.write.mode(how)
        if how == "ignore":
            writer.parquet(world.path("out"))
        else:
            with pytest.raises(AnalysisException, match="PATH_ALREADY_EXISTS"):
                writer.parquet(world.path("out"))
    assert manifest(two).writes == ()
    assert sorted(p.name for p in Path(world.path("out")).iterdir()) == files
    assert world.edges("out") == {(i,): [rows_of("emp", i)] for i in range(12)}


def test_overwrite_of_what_is_read(world: World) -> None:
    """Spark deletes it and fails: what is read is gone by then."""

    def attempt(name: str) -> tuple[type[BaseException], bool, list[str]]:
        with pytest.raises(Exception) as raised:
            world.spark.read.parquet(world.path(name)).write.mode("overwrite").parquet(world.path(name))
        left = sorted(p.name for p in Path(world.path(name)).glob("[!.]*"))
        return raised.type, "FAILED_READ_FILE.FILE_NOT_EXIST" in str(raised.value), left

    for name in ("plain", "out"):
        world.t.emp.write.parquet(world.path(name))
    plain = attempt("plain")
    with world.step("s") as capture:
        tracked = attempt("out")
    assert tracked == plain and plain[1]
    assert capture.manifest is not None and capture.manifest.writes == ()


def test_dynamic_partition_overwrite(world: World) -> None:
    """Exact or refused; the partitions that stay are there either way."""
    with world.step("one"):
        world.t.emp.select("id", "k").write.partitionBy("k").parquet(world.path("out"))
    with configured(world.spark, {"spark.sql.sources.partitionOverwriteMode": "dynamic"}), world.step("two") as two:
        new = world.t.dept.selectExpr("CAST(w AS INT) AS id", "k").filter("k = 7")
        new.write.mode("overwrite").partitionBy("k").parquet(world.path("out"))
    out = outputs.read(Path(world.path("out")))
    expected = [(i, k) for i, k, *_ in EMP.rows if k != 7] + [(6, 7), (6, 7)]
    assert sorted(map(str, out.rows)) == sorted(str((i, None if k is None else str(k))) for i, k in expected)
    if not two.untracked:
        edges = world.edges("out")
        assert edges.pop((6, "7")) == [rows_of("dept", 5), rows_of("dept", 6)]
        assert edges == {(i, None if k is None else str(k)): [rows_of("emp", i)] for i, k, *_ in EMP.rows if k != 7}


def test_script_raises(world: World) -> None:
    """What was written before stands; the step is failed."""
    with pytest.raises(KeyError, match="of the script"), world.step("s") as capture:
        world.t.dept.select("w").write.parquet(world.path("out"))
        raise KeyError("of the script")
    found = manifest(capture)
    assert (found.status, len(found.writes)) == ("failed", 1)
    assert "of the script" in found.error


@pytest.mark.parametrize("text", ["four is too many", "not one of provspark.tracker"])
def test_write_fails_as_ever(world: World, text: str) -> None:
    """A user's function that raises runs as often as in plain Spark and raises the same."""

    def attempt(name: str) -> tuple[str, int, list[str]]:
        seen = world.spark.sparkContext.accumulator(0)

        def fail(w):  # type: ignore[no-untyped-def]
            seen.add(1)
            if w == 4:
                raise ValueError(text)
            return w

        with pytest.raises(PySparkException) as raised:
            world.t.dept.coalesce(1).select(sf.udf(fail, "long")("w")).write.parquet(world.path(name))
        last = [line for line in str(raised.value).splitlines() if line.startswith("ValueError")]
        return type(raised.value).__name__, seen.value, last[:1]

    plain = attempt("plain")
    with world.step("s") as capture:
        tracked = attempt("out")
    assert tracked == plain
    assert not list(Path(world.path("out")).glob("part-*"))
    assert capture.manifest is not None and capture.manifest.writes == ()


def test_accumulators_and_observations(world: World) -> None:
    """Side effects happen once."""
    from pyspark.sql import Observation

    seen = world.spark.sparkContext.accumulator(0)

    def count(w):  # type: ignore[no-untyped-def]
        seen.add(1)
        return w

    watched = Observation("watched")
    with world.step("s"):
        rows = world.t.dept.observe(watched, sf.count(sf.lit(1)).alias("n")).select(
            sf.udf(count, "long")("w").alias("w")
        )
        rows.write.parquet(world.path("out"))
    assert (seen.value, watched.get) == (8, {"n": 8})


def test_one_frame_written_twice(world: World) -> None:
    """A write leaves the DataFrame as it was."""
    frame = world.t.dept.join(world.t.emp.select("k", "id"), "k").select("id", "w")
    columns, plan = frame.columns, frame._jdf.queryExecution().analyzed().toString()
    with world.step("s") as capture:
        frame.write.parquet(world.path("a"))
        frame.orderBy("id", "w").coalesce(1).write.parquet(world.path("b"))
        assert frame.count() == 14
    assert (frame.columns, frame._jdf.queryExecution().analyzed().toString()) == (columns, plan)
    assert len(manifest(capture).writes) == 2
    assert world.edges("a") == world.edges("b")
    assert world.edges("a")[(11, 6)] in (
        [rows_of("emp", 11) | {("dept", d)} for d in pair] for pair in ((5, 6), (6, 5))
    )


def test_sessions(world: World) -> None:
    """Each session of the process is captured, one made within the block too."""
    with world.step("s") as capture:
        other = world.spark.newSession()
        other.conf.set("spark.sql.shuffle.partitions", 2)
        other.read.parquet(str(world.t.paths["emp"])).groupBy("g").count().write.parquet(world.path("a"))
        world.t.dept.select("w").write.parquet(world.path("b"))
    assert len(manifest(capture).writes) == 2
    assert world.edges("a")[("b", 2)] == [rows_of("emp", 8, 9)]
    assert world.edges("b")[(1,)] == [rows_of("dept", 0)]


def test_states_of_an_input(world: World) -> None:
    """An input that is overwritten has rows of its own each time."""
    world.t.emp.select("id").orderBy("id").coalesce(1).write.parquet(world.path("in"))
    with world.step("one") as one:
        world.spark.read.parquet(world.path("in")).filter("id > 8").write.parquet(world.path("a"))
    world.t.emp.select("id").filter("id > 4").orderBy("id").coalesce(1).write.parquet(world.path("in"), "overwrite")
    with world.step("two") as two:
        world.spark.read.parquet(world.path("in")).filter("id > 8").write.parquet(world.path("b"))
    before, after = manifest(one).writes[0].inputs[0], manifest(two).writes[0].inputs[0]
    assert (before.rows, after.rows) == (12, 7) and before.id != after.id
    assert world.edges("a") == {(i,): [rows_of("in", i)] for i in (9, 10, 11)}
    assert world.edges("b") == {(i,): [rows_of("in", i - 5)] for i in (9, 10, 11)}


def test_two_threads(world: World) -> None:
    """Writes at the same time are told apart."""
    with world.step("s") as capture:
        frames = {f"out{i}": world.t.skew.filter(f"n % 4 = {i}").groupBy("n").count() for i in range(4)}
        threads = [threading.Thread(target=lambda f=f, n=n: f.write.parquet(world.path(n))) for n, f in frames.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(manifest(capture).writes) == 4
    for i in range(4):
        assert world.edges(f"out{i}") == {(n, 1): [rows_of("skew", n)] for n in range(i, 150, 4)}


def test_values_of_witnesses(world: World) -> None:
    """Values of the witnesses are those of the source's rows."""
    with world.step("s") as capture:
        world.t.emp.filter("v >= 40").write.parquet(world.path("out"))
    manifest(capture)
    prov = provspark.open(world.store)
    for row, (_, sources) in zip(outputs.read(Path(world.path("out"))).rows, world.edges("out").items(), strict=True):
        ids = [i for found in sources for _, i in found]
        (value,) = prov.values(str(world.t.paths["emp"]), rows=ids).columns_only().to_pylist()
        assert canon(tuple(value.values())) == canon(row) == canon(EMP.rows[ids[0]])


def test_nothing_stays_behind(world: World) -> None:
    """After the block Spark is as before, and there is nothing in the store but what the manifest names."""
    from pyspark.sql import DataFrame, DataFrameWriter

    before = [dict(vars(c)) for c in (DataFrame, DataFrameWriter)]
    with world.step("s") as capture:
        world.t.emp.groupBy("k").count().write.parquet(world.path("out"))
    assert [dict(vars(c)) for c in (DataFrame, DataFrameWriter)] == before
    step = Path(world.folder / "store" / "steps" / manifest(capture).step)
    files = {str(p.relative_to(step)) for p in step.rglob("*") if p.is_file()}
    assert files - {f.path for f in manifest(capture).files} == {"manifest.json"}
    world.t.dept.write.parquet(world.path("later"))
    assert len(manifest(capture).writes) == 1


def test_frame_made_before(world: World) -> None:
    """A DataFrame or a view from before the block is captured as well."""
    frame = world.t.emp.filter("k = 7").select("id")
    world.t.dept.createOrReplaceTempView("dept_before")
    with world.step("s") as capture:
        frame.write.parquet(world.path("a"))
        world.spark.sql("SELECT w FROM dept_before WHERE w > 6").write.parquet(world.path("b"))
    manifest(capture)
    assert world.edges("a") == {(6,): [rows_of("emp", 6)], (11,): [rows_of("emp", 11)]}
    assert world.edges("b") == {(7,): [rows_of("dept", 7)]}


def test_file_added_after_the_listing(world: World) -> None:
    """Spark reads the files that it listed; the version is of those."""
    world.t.emp.select("id").write.parquet(world.path("in"))
    frame = world.spark.read.parquet(world.path("in"))
    (first,) = Path(world.path("in")).glob("part-*")
    (first.parent / "a-new.parquet").write_bytes(first.read_bytes())
    with world.step("s") as capture:
        frame.filter("id > 8").write.parquet(world.path("out"))
    assert manifest(capture).writes[0].inputs[0].rows == 12
    assert_values(world, "out", "id", 3)


READINGS = {
    "two folders": lambda s, p: s.read.csv([f"{p}/d=1", f"{p}/d=3"], schema="n INT"),
    "a pattern": lambda s, p: s.read.csv(f"{p}/d=[12]", schema="n INT"),
    "a pattern of files": lambda s, p: s.read.csv(f"{p}/*/b*", schema="n INT"),
    "one partition": lambda s, p: s.read.csv(f"{p}/d=2", schema="n INT"),
    "one partition of a base": lambda s, p: s.read.option("basePath", p).csv(f"{p}/d=2", schema="n INT").select("n"),
    "pathGlobFilter": lambda s, p: s.read.csv(p, pathGlobFilter="b*", schema="n INT").select("n"),
    "recursiveFileLookup": lambda s, p: s.read.csv(p, recursiveFileLookup=True, schema="n INT"),
    "one file": lambda s, p: s.read.csv(f"{p}/d=2/b.csv", schema="n INT"),
    "two files": lambda s, p: s.read.csv([f"{p}/d=2/b.csv", f"{p}/d=1/b.csv"], schema="n INT"),
    "one folder twice": lambda s, p: s.read.csv([f"{p}/d=2", f"{p}/d=2"], schema="n INT"),
}


@pytest.mark.parametrize("name", READINGS)
def test_ways_to_name_files(world: World, name: str) -> None:
    """Whatever the data set's name is: its rows have the values that were read; or the step is refused."""
    for d in (1, 2, 3):
        for file in "bac":
            path = Path(world.path(f"in/d={d}/{file}.csv"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{100 * d + ord(file) + i}\n" for i in range(0, 4, ord(file) % 3 + 1)))
    frame = READINGS[name](world.spark, world.path("in"))
    with world.step("s") as capture:
        frame.write.parquet(world.path("out"))
    rows = sorted(outputs.read(Path(world.path("out"))).rows)
    assert rows == sorted((r.n,) for r in frame.collect())
    if not capture.untracked:
        assert_values(world, "out", "n", len(rows))


def assert_values(world: World, name: str, column: str, rows: int) -> None:
    """Each row of an output that copies its input has one witness, whose value is its own."""
    prov = provspark.open(world.store)
    values = outputs.read(Path(world.path(name))).rows
    found = lineage.lines(prov.backward(world.path(name), rows=range(rows)).table())
    assert [line["row"] for line in found] == list(range(rows)) and len(values) == rows
    for line, row in zip(found, values, strict=True):
        values = prov.values(line["dataset"], rows=[line["related_row"]], version=line["version"], columns=[column])
        assert values.columns_only().to_pylist() == [{column: row[0]}]

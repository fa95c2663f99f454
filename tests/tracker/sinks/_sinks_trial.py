"""A stand-in for capture: writes a DataFrame through a `Sink` with a tap that only notes each row's ``id``."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from provspark.tracker.sinks import Sink, TapRuns, WriteMetrics, Written
from provspark.tracker.sinks.names import parse
from provspark.tracker.spark.jvm import Jvm, compiled

TAP = """
package provsparktest;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.functions$;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.CollectionAccumulator;

public class NotingTap implements UDF2, java.io.Serializable {
  private final CollectionAccumulator seen;

  public NotingTap(CollectionAccumulator seen) {
    this.seen = seen;
  }

  public Object call(Object value, Object id) {
    seen.add(TaskContext.get().partitionId() + "\\u0001" + id + "\\u0001" + value);
    return Boolean.TRUE;
  }

  public LogicalPlan under(SparkSession session, LogicalPlan user, LogicalPlan shaped, Expression value, String row) {
    List output = new ArrayList(scala.jdk.javaapi.CollectionConverters.asJava(user.output()));
    Attribute named = null;
    for (int i = 0; i < output.size(); i++) {
      if (((Attribute) output.get(i)).name().equals(row)) named = (Attribute) output.get(i);
    }
    List columns = new ArrayList();
    columns.add(ExpressionUtils.column(value == null ? Literal$.MODULE$.apply("") : value));
    columns.add(ExpressionUtils.column(new Cast(named, DataTypes.LongType, scala.Option.empty())));
    Column call = functions$.MODULE$.udf((UDF2) this, DataTypes.BooleanType).asNondeterministic().apply(seq(columns));
    return new Project(seq(output), new Filter(session.expression(call), shaped));
  }

  private static scala.collection.immutable.Seq seq(List items) {
    return scala.jdk.javaapi.CollectionConverters.asScala(items).toSeq();
  }

  public List values() {
    return seen.value();
  }
}
"""


@dataclass
class Result:
    sink: Sink
    written: Written
    tapped: list[TapRuns]
    ids: dict[int, list[int]]
    """Per task, in the order in which the tap saw them."""
    plan: str
    """The physical plan of the write."""


class Trial:
    def __init__(self, spark: Any, folder: Path) -> None:
        self.spark, self.jvm = spark, Jvm(spark)
        jar = folder / "noting-tap.jar"
        with zipfile.ZipFile(jar, "w") as z:
            for path, code in compiled(self.jvm, {"NotingTap.java": TAP}).items():
                z.writestr(path, code)
        self.jvm.session.sql(f"ADD JAR '{jar.as_uri()}'")
        loader = self.jvm.session.sharedState().jarClassLoader()
        self._tap = loader.loadClass("provsparktest.NotingTap").getConstructors()[0]

    def sink(self, frame: Any, end: str, *args: Any, setup: Callable[[Any], Any] = lambda w: w) -> Sink:
        writer = setup(frame.write)._jwrite
        return Sink.of(self.jvm, writer, end, args, frame._jdf.queryExecution().analyzed())

    def write(
        self,
        frame: Any,
        end: str,
        *args: Any,
        setup: Callable[[Any], Any] = lambda w: w,
        meanwhile: Callable[[], None] = lambda: None,
        metrics: WriteMetrics | None = None,
        row: str = "id",
    ) -> Result:
        """Write as the tracker does; the column `row` tells the frame's rows apart."""
        jvm = self.jvm
        writer = setup(frame.write)._jwrite
        plan = frame._jdf.queryExecution().analyzed()
        sink = Sink.of(jvm, writer, end, args, plan)
        shaped, value = sink.shape(plan)
        seen = jvm.jvm.org.apache.spark.util.CollectionAccumulator()
        jvm.spark._jsc.sc().register(seen)
        tap = self._tap.newInstance(jvm.array("java.lang.Object", [seen]))
        tapped = tap.under(jvm.session, plan, shaped, value, row)
        field = writer.getClass().getDeclaredField("df")
        field.setAccessible(True)
        field.set(writer, jvm.jvm.org.apache.spark.sql.classic.Dataset.ofRows(jvm.session, tapped))
        getattr(writer, end)(*args)
        meanwhile()
        runs, ids = _tapped(str(x) for x in seen.value())
        return Result(sink, sink.finish(runs, metrics), runs, ids, self._plan())

    def _plan(self) -> str:
        self.jvm.session.sparkContext().listenerBus().waitUntilEmpty()
        executions = self.jvm.session.sharedState().statusStore().executionsList()
        return str(executions.last().physicalPlanDescription())


def _tapped(lines: Iterator[str]) -> tuple[list[TapRuns], dict[int, list[int]]]:
    tasks: dict[int, list[tuple[str, int]]] = {}
    for line in lines:
        partition, row, value = line.split("\1")
        tasks.setdefault(int(partition), []).append((value, int(row)))
    runs = [
        TapRuns(p, tuple((value, sum(1 for _ in rows)) for value, rows in groupby(seen, key=lambda s: s[0])))
        for p, seen in tasks.items()
    ]
    return runs, {p: [row for _, row in seen] for p, seen in tasks.items()}


def lines(file: Path) -> list[int]:
    """The ``id`` of each row: what stands before the first comma, bare or as JSON's first key."""
    return [int(line.split(",")[0].removeprefix('{"id":').rstrip("}")) for line in file.read_text("utf-8").splitlines()]


def parquet(file: Path) -> list[int]:
    return list(pq.read_table(file, columns=["id"], partitioning=None)["id"].to_pylist())


def orc(file: Path) -> list[int]:
    from pyarrow import orc as pa_orc

    return list(pa_orc.read_table(file, columns=["id"])["id"].to_pylist())


READERS = {"parquet": parquet, "orc": orc, "csv": lines, "json": lines, "text": lines}


def ids_by_row(root: Path, written: Written, read: Callable[[Path], list[int]]) -> list[int]:
    """The ``id`` at each row id of a version: files in path order, rows in file order."""
    files = written.version.files
    out: list[int] = []
    for path, rows in zip(files.paths, files.rows.tolist(), strict=True):
        found = read(root / path)
        assert len(found) == rows, f"{path} has {len(found)} rows, the version says {rows}"
        out += found
    return out


def check(root: Path, result: Result, read: Callable[[Path], list[int]] = parquet) -> None:
    """Every piece says of its rows where they are, and all rows written are in a piece."""
    written = result.written
    at = ids_by_row(root, written, read)
    placed = {}
    for p, offset, count, row in zip(
        written.partitions.tolist(),
        written.offsets.tolist(),
        written.counts.tolist(),
        written.rows.tolist(),
        strict=True,
    ):
        assert at[row : row + count] == result.ids[p][offset : offset + count]
        placed.update({(p, offset + k): row + k for k in range(count)})
    assert placed.keys() == {(p, k) for p, ids in result.ids.items() for k in range(len(ids))}
    files = written.version.files
    assert len(set(placed.values())) == len(placed) == files.rows[files.written].sum()


def contents(root: Path, read: Callable[[Path], list[int]]) -> dict[tuple[str, int, int], list[int]]:
    """What a folder holds: by partition folder, task and file of the task."""
    out = {}
    for file in sorted(root.rglob("part-*")):
        name = parse(str(file.relative_to(root)))
        assert name is not None
        out[str(name.place), name.partition, name.counter] = read(file)
    return out

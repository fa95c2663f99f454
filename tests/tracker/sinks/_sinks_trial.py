"""A stand-in for capture: intercepts the command of a write, and taps its rows with one that only notes their ids."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from provspark.tracker.intercept.commands import Aim, Command
from provspark.tracker.intercept.interceptor import Interceptor
from provspark.tracker.sinks import Output, TapRuns, WriteMetrics, Written
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


STOP = "provspark.stop trial"
"""Answer that makes Spark fail instead of running a command."""


@dataclass
class Result:
    sink: Output
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

    def sink(self, frame: Any, end: str, *args: Any, setup: Callable[[Any], Any] = lambda w: w) -> Output:
        """Return the sink of a write, which is stopped before it runs."""
        handler = _Handler(self.jvm, lambda command, aim: STOP)
        handler.during(lambda: getattr(setup(frame.write), end)(*args))
        return handler.sink

    def write(
        self,
        frame: Any,
        end: str,
        *args: Any,
        setup: Callable[[Any], Any] = lambda w: w,
        meanwhile: Callable[[], None] = lambda: None,
        metrics: Callable[[WriteMetrics], WriteMetrics | None] = lambda own: own,
        row: str = "id",
    ) -> Result:
        """Write as the tracker does; the column `row` of the command's rows tells them apart."""
        return self.run(lambda: getattr(setup(frame.write), end)(*args), meanwhile, metrics, row)

    def run(
        self,
        call: Callable[[], Any],
        meanwhile: Callable[[], None] = lambda: None,
        metrics: Callable[[WriteMetrics], WriteMetrics | None] = lambda own: own,
        row: str = "id",
    ) -> Result:
        """Run a call that writes once."""
        jvm = self.jvm
        seen = jvm.jvm.org.apache.spark.util.CollectionAccumulator()
        jvm.spark._jsc.sc().register(seen)
        tap = self._tap.newInstance(jvm.array("java.lang.Object", [seen]))

        def tapped(command: Command, aim: Aim) -> Any:
            shaped, value = aim.sink.shape(aim.plan)
            return command.replaced(tap.under(jvm.session, aim.plan, shaped, value, row))

        handler = _Handler(jvm, tapped)
        handler.during(call)
        meanwhile()
        assert handler.metrics is not None
        runs, ids = _tapped(str(x) for x in seen.value())
        return Result(handler.sink, handler.sink.finish(runs, metrics(handler.metrics)), runs, ids, handler.plan)


class _Handler:
    """Handler of the events of one command; `instead` returns what Spark runs in its place."""

    def __init__(self, jvm: Jvm, instead: Callable[[Command, Aim], Any]) -> None:
        self._jvm, self._instead = jvm, instead
        self._aim: Aim | None = None
        self._error: Exception | None = None
        self.metrics: WriteMetrics | None = None
        self.plan = ""

    @property
    def sink(self) -> Output:
        assert self._aim is not None, "no command was intercepted"
        return self._aim.sink

    def during(self, call: Callable[[], Any]) -> None:
        """Handle the events of a call."""
        interceptor = Interceptor(self._handle, 600)
        interceptor.watch(self._jvm)
        try:
            call()
        except Exception as e:
            if self._error is None and STOP not in str(e):
                raise
        finally:
            interceptor.stop()
        if self._error is not None:
            raise self._error

    def _handle(self, event: str, node: Any) -> Any:
        try:
            command = Command(self._jvm, node)
            if event == "begin":
                assert self._aim is None, f"a second command was intercepted: {command.name}"
                self._aim = command.aim(lambda plan: plan)
                return self._instead(command, self._aim)
            if event == "done":
                self.metrics, self.plan = command.written(), str(node.children().head())
        except Exception as e:
            self._error = e
            return STOP
        return None


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

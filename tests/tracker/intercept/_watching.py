"""What others see of a script's commands: listeners in Java, compiled for the test, and Spark's store of executions."""

from __future__ import annotations

import re
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from provspark.tracker import attach
from provspark.tracker.spark.jvm import Jvm, compiled

WATCHER = """
package provsparktest;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.ui.SQLAppStatusStore;
import org.apache.spark.sql.execution.ui.SQLExecutionUIData;
import org.apache.spark.sql.execution.ui.SQLPlanMetric;
import org.apache.spark.sql.execution.ui.SparkPlanGraphNode;
import org.apache.spark.sql.util.QueryExecutionListener;
import org.apache.spark.util.AccumulatorV2;

public class Watcher extends SparkListener implements QueryExecutionListener {
  private final List executions = Collections.synchronizedList(new ArrayList());
  private final List jobs = Collections.synchronizedList(new ArrayList());

  public void onSuccess(String function, QueryExecution qe, long nanos) {
    List metrics = new ArrayList();
    visit(qe.executedPlan(), metrics);
    String[] parts = new String[] {
      function, name(qe.analyzed()), name(qe.optimizedPlan()), metrics.toString(), qe.observedMetrics().toString()
    };
    executions.add(String.join(" | ", parts));
  }

  public void onFailure(String function, QueryExecution qe, Exception error) {
    String analysed;
    try {
      analysed = name(qe.analyzed());
    } catch (Exception e) {
      analysed = "unresolved";
    }
    executions.add(String.join(" | ", new String[] {function, analysed, error.getClass().getName()}));
  }

  private static String name(Object plan) {
    return plan.getClass().getSimpleName();
  }

  /** Adds the metrics of the nodes that write. */
  private static void visit(SparkPlan plan, List found) {
    if (plan instanceof AdaptiveSparkPlanExec) visit(((AdaptiveSparkPlanExec) plan).executedPlan(), found);
    if (plan instanceof QueryStageExec) visit(((QueryStageExec) plan).plan(), found);
    if (plan.metrics().contains("numFiles")) {
      String all = name(plan);
      String[] names = {"numFiles", "numOutputRows", "numParts"};
      for (int i = 0; i < names.length; i++) {
        all += " " + names[i] + "=" + ((AccumulatorV2) plan.metrics().apply(names[i])).value();
      }
      found.add(all);
    }
    java.util.Iterator below = scala.jdk.javaapi.CollectionConverters.asJava(plan.children()).iterator();
    while (below.hasNext()) visit((SparkPlan) below.next(), found);
  }

  public void onJobStart(SparkListenerJobStart start) {
    Properties all = start.properties();
    TreeSet sorted = new TreeSet();
    java.util.Iterator it = all.stringPropertyNames().iterator();
    while (it.hasNext()) {
      String name = (String) it.next();
      sorted.add(name + "=" + all.getProperty(name));
    }
    java.util.Iterator stages = scala.jdk.javaapi.CollectionConverters.asJava(start.stageInfos()).iterator();
    for (int i = 0; stages.hasNext(); i++) sorted.add("stage " + i + "=" + ((StageInfo) stages.next()).name());
    jobs.add(String.join("\\1", sorted));
  }

  /** Returns what the SQL tab has of the executions after one, by its id. Spark drops the oldest ones. */
  public static List tab(SparkSession session, long last) {
    SQLAppStatusStore store = session.sharedState().statusStore();
    List out = new ArrayList();
    List all = scala.jdk.javaapi.CollectionConverters.asJava(store.executionsList());
    for (int i = 0; i < all.size(); i++) {
      SQLExecutionUIData one = (SQLExecutionUIData) all.get(i);
      if (one.executionId() <= last) continue;
      scala.collection.immutable.Map values = store.executionMetrics(one.executionId());
      List nodes = scala.jdk.javaapi.CollectionConverters.asJava(store.planGraph(one.executionId()).allNodes());
      List written = new ArrayList();
      for (int k = 0; k < nodes.size(); k++) {
        SparkPlanGraphNode node = (SparkPlanGraphNode) nodes.get(k);
        List metrics = scala.jdk.javaapi.CollectionConverters.asJava(node.metrics());
        for (int m = 0; m < metrics.size(); m++) {
          SQLPlanMetric metric = (SQLPlanMetric) metrics.get(m);
          scala.Option value = values.get(Long.valueOf(metric.accumulatorId()));
          boolean counts = !metric.name().endsWith("time") && !metric.name().endsWith("output"); // not times and sizes
          if (node.name().startsWith("Execute ") && counts && value.isDefined())
            written.add(node.name() + ": " + metric.name() + " = " + value.get());
        }
      }
      Collections.sort(written);
      String nested = one.rootExecutionId() == one.executionId() ? "root" : "nested";
      String end = one.completionTime().isDefined() ? "ended" : "running";
      String error = one.errorMessage().isDefined() && one.errorMessage().get().toString().length() > 0 ? "failed" : "";
      String jobs = one.jobs().size() + " jobs";
      out.add(String.join(" | ", new String[] {one.description(), nested, end, error, jobs, written.toString()}));
    }
    return out;
  }

  /** Returns the number of the last execution so far, or -1. */
  public static long lastExecution(SparkSession session) {
    List all = scala.jdk.javaapi.CollectionConverters.asJava(session.sharedState().statusStore().executionsList());
    long last = -1L;
    for (int i = 0; i < all.size(); i++) last = Math.max(last, ((SQLExecutionUIData) all.get(i)).executionId());
    return last;
  }

  public List executions() {
    return executions;
  }

  public List jobs() {
    return jobs;
  }
}
"""
"""Listener to queries and to jobs: what each looked like, as a line of text."""


def loaded(spark: Any, folder: Path, **sources: str) -> Callable[..., Any]:
    """Compile classes of the package `provsparktest`. Return a function that creates an object of one of them."""
    jvm = Jvm(spark)
    jar = folder / f"{'-'.join(sources)}.jar"
    with zipfile.ZipFile(jar, "w") as z:
        for path, code in compiled(jvm, {f"{name}.java": text for name, text in sources.items()}).items():
            z.writestr(path, code)
    jvm.session.sql(f"ADD JAR '{jar.as_uri()}'")
    loader = jvm.session.sharedState().jarClassLoader()

    def create(name: str, *args: Any) -> Any:
        constructor = loader.loadClass(f"provsparktest.{name}").getConstructors()[0]
        return constructor.newInstance(jvm.array("java.lang.Object", args))

    return create


def drained(spark: Any) -> None:
    """Wait until all listeners have seen what happened so far."""
    spark._jsc.sc().listenerBus().waitUntilEmpty()


def ended(tab: Callable[[], list[str]]) -> list[str]:
    """Wait until the SQL tab has the end of all executions. It computes their metrics in a thread of its own."""
    limit = time.monotonic() + 30
    while any(" | running | " in line for line in tab()) and time.monotonic() < limit:
        time.sleep(0.05)
    return tab()


@contextmanager
def listening(spark: Any, watcher: Any) -> Iterator[None]:
    """Let a `Watcher` listen to the block."""
    drained(spark)
    manager, context = spark._jsparkSession.listenerManager(), spark._jsc.sc()
    manager.register(watcher)
    context.addSparkListener(watcher)
    try:
        yield
        drained(spark)
    finally:
        manager.unregister(watcher)
        context.removeSparkListener(watcher)


def properties(spark: Any, job: str) -> dict[str, str]:
    """Return a job's local properties, of a `Watcher`, without those that all jobs share."""
    found = dict(line.split("=", 1) for line in job.split("\1"))
    shared = dict(spark.sparkContext.getConf().getAll())
    own = {name: value for name, value in found.items() if shared.get(name) != value}
    ids = [own.pop(f"spark.sql.execution.{name}", None) for name in ("id", "root.id")]
    return {**own, "execution": "none" if ids[0] is None else "root" if ids[0] == ids[1] else "nested"}


def both(script: Callable[[Path], Any], folder: Path) -> tuple[Any, Any, Any]:
    """Run a script without capture and with it, each with a folder of its own.

    Return what it returned, without what differs between any two runs, and the capture.
    """
    for name in ("plain", "taken"):
        (folder / name).mkdir()
    plain = script(folder / "plain")
    with attach(store=(folder / "store").as_uri(), step="s") as capture:
        taken = script(folder / "taken")
    return alike(plain, folder), alike(taken, folder), capture


_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NUMBER = re.compile(
    r"#\d+L?|(?<=plan_id=)\d+|(?<=expr_id=)\d+|(?<=[Ss]tage )\d+(\.\d+)?|(?<=TID )\d+|(?<=Job )\d+|(?<=root-id-)\d+"
    r'|(?<=@)[0-9a-f]+|(?<=^{"id":")\d+|(?<= at )NativeMethodAccessorImpl.java(?=:0)|(?<= at )<unknown>(?=:0)'
)
"""Numbers, and the place of a method called by reflection: Java compiles such calls after a while."""


def alike(value: Any, folder: Path) -> Any:
    """Return a value without what differs between two runs."""
    if isinstance(value, dict):
        return {alike(key, folder): alike(one, folder) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [alike(one, folder) for one in value]
    if not isinstance(value, str):
        return value
    text = re.sub(rf"{re.escape(str(folder))}/(plain|taken)", "WORK", value)
    return _NUMBER.sub("", _ID.sub("ID", text))

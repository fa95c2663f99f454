package provspark.intercept;

import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.sql.catalyst.plans.logical.CommandResult;
import org.apache.spark.sql.catalyst.plans.logical.CreateTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.command.CreateDataSourceTableAsSelectCommand;
import org.apache.spark.sql.execution.command.DataWritingCommand;
import org.apache.spark.sql.execution.command.DataWritingCommandExec;
import org.apache.spark.sql.execution.command.InsertIntoDataSourceDirCommand;
import org.apache.spark.sql.execution.datasources.DataSource$;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand;
import org.apache.spark.sql.execution.datasources.v2.FileDataSourceV2;
import org.apache.spark.sql.internal.SQLConf$;
import org.apache.spark.sql.util.QueryExecutionListener;
import org.apache.spark.util.AccumulatorV2;

/** Listener for all writes that Spark makes, whatever started them. `take` returns those since the last call. */
public class Audit extends SparkListener implements QueryExecutionListener {
  private static final String DELTA = "deltaTransactionalWrite";

  /** Whether a write of Delta was seen without a command after it. */
  private volatile boolean inner = false;
  private final List seen = new ArrayList();
  private final Map plans = Collections.synchronizedMap(new HashMap());
  private int number = 0;

  public void onSuccess(String name, QueryExecution execution, long nanoseconds) {
    try {
      if (execution.commandExecuted() instanceof CommandResult) return; // an action on the command's result
      LogicalPlan plan = execution.analyzed();
      if (plan instanceof Union) {
        several(execution.sparkSession(), list(plan.children()), execution.executedPlan());
        return;
      }
      if (name.equals(DELTA)) { // a write of Delta within a method, or within a command that the listener sees next
        inner = true;
        return;
      }
      if (!Commands.changes(plan) || sinksIntoNothing(plan) || tellsInside(plan)) return;
      List writes = new ArrayList();
      find(execution.executedPlan(), writes);
      note(execution.sparkSession(), plan, writes.isEmpty() ? null : (DataWritingCommandExec) writes.get(0));
    } catch (Exception e) {
      note("Audit", e.toString());
    }
  }

  /** Whether it already listens to a session. One that Spark copied, such as for a stream, has the listeners of the original. */
  public boolean listens(SparkSession session) {
    QueryExecutionListener[] all = session.listenerManager().listListeners();
    for (int i = 0; i < all.length; i++) if (all[i] == this) return true;
    return false;
  }

  public void onFailure(String name, QueryExecution execution, Exception error) {}

  /** Handles RDD.saveAsTextFile and the like, which run no query. Their job is named after the writer. */
  public void onJobStart(SparkListenerJobStart start) {
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(start.stageInfos()).iterator();
    while (it.hasNext()) {
      String name = ((StageInfo) it.next()).name();
      if (name.indexOf("SparkHadoopWriter") >= 0) note("RDD save", "");
    }
  }

  private static boolean sinksIntoNothing(LogicalPlan plan) {
    return plan.toString().indexOf("noop-table") >= 0 && plan.toString().indexOf("noop-table") < 200;
  }

  /** Handles one FROM with several INSERTs: each child of the union is a write. */
  private void several(SparkSession session, List plans, SparkPlan executed) {
    List told = new ArrayList();
    for (int i = 0; i < plans.size(); i++) {
      LogicalPlan plan = (LogicalPlan) plans.get(i);
      if (!Commands.changes(plan)) return;
      if (!tellsInside(plan)) told.add(plan);
    }
    List writes = new ArrayList();
    find(executed, writes);
    for (int i = 0; i < told.size(); i++) {
      DataWritingCommandExec write = writes.size() == told.size() ? (DataWritingCommandExec) writes.get(i) : null;
      note(session, (LogicalPlan) told.get(i), write);
    }
  }

  /** Whether a command runs its write as a separate query, which the listener also sees. */
  private static boolean tellsInside(LogicalPlan plan) {
    if (plan instanceof CreateTableAsSelect) return true;
    String provider = "";
    if (plan instanceof CreateDataSourceTableAsSelectCommand) {
      scala.Option named = ((CreateDataSourceTableAsSelectCommand) plan).table().provider();
      if (named.isDefined()) provider = (String) named.get();
    }
    if (plan instanceof InsertIntoDataSourceDirCommand) provider = ((InsertIntoDataSourceDirCommand) plan).provider();
    if (provider.length() == 0) return false;
    Class found = DataSource$.MODULE$.lookupDataSource(provider, SQLConf$.MODULE$.get());
    return FileFormat.class.isAssignableFrom(found) || FileDataSourceV2.class.isAssignableFrom(found);
  }

  private static void find(SparkPlan plan, List out) {
    if (plan instanceof DataWritingCommandExec) out.add(plan);
    if (plan instanceof AdaptiveSparkPlanExec) find(((AdaptiveSparkPlanExec) plan).executedPlan(), out);
    if (plan instanceof QueryStageExec) find(((QueryStageExec) plan).plan(), out);
    Iterator it = list(plan.children()).iterator();
    while (it.hasNext()) find((SparkPlan) it.next(), out);
  }

  private static List list(scala.collection.Seq items) {
    return new ArrayList(scala.jdk.javaapi.CollectionConverters.asJava(items));
  }

  private void note(SparkSession session, LogicalPlan plan, DataWritingCommandExec write) {
    String path = "";
    long[] counts = new long[] {-1L, -1L, -1L};
    if (plan instanceof InsertIntoHadoopFsRelationCommand) {
      path = ((InsertIntoHadoopFsRelationCommand) plan).outputPath().toString();
    }
    if (write != null) {
      counts[0] = metric(write, "numFiles");
      counts[1] = metric(write, "numOutputBytes");
      counts[2] = metric(write, "numOutputRows");
    }
    note(plan.getClass().getSimpleName(), path, counts, TableChanges.folder(session, plan), plan);
  }

  private static long metric(DataWritingCommandExec write, String name) {
    DataWritingCommand command = (DataWritingCommand) write.cmd();
    scala.collection.Map metrics = (scala.collection.Map) command.metrics();
    if (!metrics.contains(name)) return -1L;
    return ((Number) ((AccumulatorV2) metrics.apply(name)).value()).longValue();
  }

  private void note(String kind, String path) {
    note(kind, path, new long[] {-1L, -1L, -1L}, "", null);
  }

  private void note(String kind, String path, long[] counts, String folder, LogicalPlan plan) {
    synchronized (seen) {
      inner = false;
      if (plan != null) plans.put(Integer.valueOf(++number), new SoftReference(plan));
      String told = kind + "\u0001" + path + "\u0001" + counts[0] + "\u0001" + counts[1] + "\u0001" + counts[2];
      seen.add(told + "\u0001" + folder + "\u0001" + (plan == null ? 0 : number));
    }
  }

  /** Returns the plans of the rows that a command wrote, by its number. Null if its plan was garbage-collected. */
  public List rows(int number) {
    SoftReference plan = (SoftReference) plans.remove(Integer.valueOf(number));
    return plan == null || plan.get() == null ? null : TableChanges.rows((LogicalPlan) plan.get());
  }

  public String take() {
    StringBuilder out = new StringBuilder();
    if (inner) note("Delta's write", "");
    synchronized (seen) {
      for (int i = 0; i < seen.size(); i++) out.append((String) seen.get(i)).append('\u0002');
      seen.clear();
    }
    return out.toString();
  }
}

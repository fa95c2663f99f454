package provspark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.command.DataWritingCommand;
import org.apache.spark.sql.execution.command.DataWritingCommandExec;
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand;
import org.apache.spark.sql.util.QueryExecutionListener;
import org.apache.spark.util.AccumulatorV2;

/** Sees every write that Spark makes, however it was asked for; `take` hands over what it saw since the last time. */
public class Audit extends SparkListener implements QueryExecutionListener {
  private static final Set WRITES = new HashSet(Arrays.asList(new String[] {
    "InsertIntoHadoopFsRelationCommand", "CreateDataSourceTableAsSelectCommand", "InsertIntoHiveTable",
    "InsertIntoHiveDirCommand", "CreateHiveTableAsSelectCommand", "InsertIntoDataSourceCommand",
    "InsertIntoDataSourceDirCommand", "SaveIntoDataSourceCommand", "LoadDataCommand", "AppendData",
    "OverwriteByExpression", "OverwritePartitionsDynamic", "CreateTableAsSelect", "ReplaceTableAsSelect",
    "ReplaceData", "WriteDelta", "MergeIntoTable", "UpdateTable", "DeleteFromTable", "OptimizedCreateHiveTableAsSelectCommand"
  }));

  private final List seen = new ArrayList();

  public void onSuccess(String name, QueryExecution execution, long nanoseconds) {
    try {
      LogicalPlan plan = execution.analyzed();
      String kind = plan.getClass().getSimpleName();
      if (!WRITES.contains(kind)) return;
      if (sinksIntoNothing(plan)) return;
      String path = "";
      long[] counts = new long[] {-1L, -1L, -1L};
      if (plan instanceof InsertIntoHadoopFsRelationCommand) {
        path = ((InsertIntoHadoopFsRelationCommand) plan).outputPath().toString();
      }
      DataWritingCommandExec write = find(execution.executedPlan());
      if (write != null) {
        counts[0] = metric(write, "numFiles");
        counts[1] = metric(write, "numOutputBytes");
        counts[2] = metric(write, "numOutputRows");
      }
      note(kind, path, counts);
    } catch (Exception e) {
      note("Audit", e.toString(), new long[] {-1L, -1L, -1L});
    }
  }

  public void onFailure(String name, QueryExecution execution, Exception error) {}

  /** RDD.saveAsTextFile and its kin run no query, but their job is named after the writer. */
  public void onJobStart(SparkListenerJobStart start) {
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(start.stageInfos()).iterator();
    while (it.hasNext()) {
      String name = ((StageInfo) it.next()).name();
      if (name.indexOf("SparkHadoopWriter") >= 0) note("RDD save", "", new long[] {-1L, -1L, -1L});
    }
  }

  private static boolean sinksIntoNothing(LogicalPlan plan) {
    return plan.toString().indexOf("noop-table") >= 0 && plan.toString().indexOf("noop-table") < 200;
  }

  private static DataWritingCommandExec find(SparkPlan plan) {
    if (plan instanceof DataWritingCommandExec) return (DataWritingCommandExec) plan;
    if (plan instanceof AdaptiveSparkPlanExec) return find(((AdaptiveSparkPlanExec) plan).executedPlan());
    if (plan instanceof QueryStageExec) return find(((QueryStageExec) plan).plan());
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(plan.children()).iterator();
    while (it.hasNext()) {
      DataWritingCommandExec found = find((SparkPlan) it.next());
      if (found != null) return found;
    }
    return null;
  }

  private static long metric(DataWritingCommandExec write, String name) {
    DataWritingCommand command = (DataWritingCommand) write.cmd();
    scala.collection.Map metrics = (scala.collection.Map) command.metrics();
    if (!metrics.contains(name)) return -1L;
    return ((Number) ((AccumulatorV2) metrics.apply(name)).value()).longValue();
  }

  private void note(String kind, String path, long[] counts) {
    synchronized (seen) {
      seen.add(kind + "\u0001" + path + "\u0001" + counts[0] + "\u0001" + counts[1] + "\u0001" + counts[2]);
    }
  }

  public String take() {
    StringBuilder out = new StringBuilder();
    synchronized (seen) {
      for (int i = 0; i < seen.size(); i++) out.append((String) seen.get(i)).append('\u0002');
      seen.clear();
    }
    return out.toString();
  }
}

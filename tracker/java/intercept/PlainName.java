package provspark.intercept;

import java.util.Iterator;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.physical.UnspecifiedDistribution$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.execution.command.DataWritingCommandExec;
import org.apache.spark.sql.execution.command.ExecutedCommandExec;
import org.apache.spark.sql.execution.datasources.V1WriteCommand;
import org.apache.spark.sql.execution.datasources.v2.V2CommandExec;
import org.apache.spark.sql.execution.exchange.Exchange;
import org.apache.spark.sql.internal.SQLConf$;
import org.apache.spark.sql.internal.SQLConf;
import provspark.trees.Trees;

/**
 * Name of the node that Spark alone would plan for a command. OpenLineage's listener names a job after it. Uses raw types,
 * because Janino has no generics.
 */
class PlainName {
  private static final String ADAPTIVE = "AdaptiveSparkPlan";

  private PlainName() {}

  /** Returns the name of the root. The strategies of the session must leave the command to Spark. */
  static String of(SparkSession session, LogicalPlan command) {
    SparkPlan root = (SparkPlan) session.sessionState().planner().plan(command).next();
    return adaptive(root, SQLConf$.MODULE$.get()) ? ADAPTIVE : root.nodeName();
  }

  /** Whether AQE puts its node above the root, as InsertAdaptiveSparkPlan decides it, which is the first rule for the plan. */
  private static boolean adaptive(SparkPlan root, SQLConf conf) {
    if (!conf.adaptiveExecutionEnabled() || root instanceof ExecutedCommandExec || root instanceof V2CommandExec) return false;
    if (root instanceof DataWritingCommandExec) {
      boolean planned = ((DataWritingCommandExec) root).cmd() instanceof V1WriteCommand;
      if (!planned || !conf.plannedWriteEnabled()) return false; // AQE changes only the query below it
    }
    return Boolean.TRUE.equals(conf.getConf(SQLConf$.MODULE$.ADAPTIVE_EXECUTION_FORCE_APPLY())) || applies(root);
  }

  private static boolean applies(SparkPlan plan) {
    if (plan instanceof Exchange || Trees.hold(plan.expressions(), SubqueryExpression.class)) return true;
    Iterator wanted = Trees.list(plan.requiredChildDistribution()).iterator();
    while (wanted.hasNext()) if (wanted.next() != UnspecifiedDistribution$.MODULE$) return true;
    if (plan instanceof InMemoryTableScanExec
        && ((InMemoryTableScanExec) plan).relation().cachedPlan() instanceof AdaptiveSparkPlanExec) return true;
    Iterator children = Trees.list(plan.children()).iterator();
    while (children.hasNext()) if (applies((SparkPlan) children.next())) return true;
    return false;
  }
}

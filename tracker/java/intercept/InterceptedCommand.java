package org.apache.spark.sql.provspark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.CommandExecutionMode$;
import org.apache.spark.sql.execution.ExplainMode$;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkPlanInfo$;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.command.DataWritingCommand;
import org.apache.spark.sql.execution.command.DataWritingCommandExec;
import org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.util.AccumulatorV2;
import provspark.intercept.CaptureStop;
import provspark.intercept.CommandInterceptor;
import provspark.intercept.Commands;
import provspark.trees.Trees;

/**
 * Physical node of a command, or of a query of a SQL script. When it executes, it calls Python ("begin"), runs the command or the
 * one that Python returned, and reports the outcome ("done" or "failed"). After that it counts a plan that Python returns. What
 * ran is then its child, where listeners find Spark's own metrics. Uses raw types, because Janino has no generics.
 *
 * It is in a package of Spark SQL's: Spark names jobs and stages after the first method on the stack that calls into its own
 * packages, and that is the script's, not one of this class.
 */
public class InterceptedCommand extends SparkPlan {
  private static final long serialVersionUID = 1L;
  /** Answer of Python to "failed": run the command unchanged. */
  private static final String PLAIN = "plain";

  private final LogicalPlan command;
  private final CommandInterceptor interceptor;
  private final String nodeName;
  private volatile LogicalPlan analysed = null;
  private volatile SparkPlan inner = null;
  private volatile Throwable error = null;
  private volatile boolean abandoned = false;
  private String connection = "";
  private InternalRow[] rows = null;

  /** Spark copies a node with the values of `productElement`, in this order. */
  public InterceptedCommand(LogicalPlan command, CommandInterceptor interceptor, String nodeName) {
    this.command = command;
    this.interceptor = interceptor;
    this.nodeName = nodeName;
  }

  // -- what Python asks

  /** Returns the class of the analysed command. */
  public String name() {
    return Commands.name(analysed);
  }

  public LogicalPlan analysed() {
    return analysed;
  }

  /** Returns the ports of the connection on which Python waits for this thread (see ScriptThreads), or "". */
  public String connection() {
    return connection;
  }

  /** Returns why the command failed. */
  public Throwable error() {
    return error;
  }

  /** Whether the answer to "begin" came too late, so that the command runs unchanged. */
  public boolean abandoned() {
    return abandoned;
  }

  public void abandon() {
    abandoned = true;
  }

  /** Returns the number of files, bytes and rows that Spark wrote, separated by spaces, or "" if it did not count them. */
  public String written() {
    List writes = new ArrayList();
    if (inner != null) find(inner, writes);
    if (writes.isEmpty()) return "";
    DataWritingCommand write = (DataWritingCommand) ((DataWritingCommandExec) writes.get(0)).cmd();
    return metric(write, "numFiles") + " " + metric(write, "numOutputBytes") + " " + metric(write, "numOutputRows");
  }

  private static void find(SparkPlan plan, List out) {
    if (plan instanceof DataWritingCommandExec) out.add(plan);
    if (plan instanceof AdaptiveSparkPlanExec) find(((AdaptiveSparkPlanExec) plan).executedPlan(), out);
    if (plan instanceof QueryStageExec) find(((QueryStageExec) plan).plan(), out);
    Iterator it = Trees.list(plan.children()).iterator();
    while (it.hasNext()) find((SparkPlan) it.next(), out);
  }

  private static long metric(DataWritingCommand write, String name) {
    scala.collection.Map metrics = (scala.collection.Map) write.metrics();
    if (!metrics.contains(name)) return -1L;
    return ((Number) ((AccumulatorV2) metrics.apply(name)).value()).longValue();
  }

  // -- execution

  /** Runs the command once. Not private: Janino makes private methods static, so that all commands would share one lock. */
  synchronized InternalRow[] run() throws Throwable {
    if (rows != null) return rows;
    analysed = interceptor.analysed(sparkContext(), command);
    connection = interceptor.scripts.connection();
    interceptor.entered(sparkContext());
    try {
      Object instead = answer("begin");
      try {
        rows = execute(instead instanceof LogicalPlan ? (LogicalPlan) instead : analysed);
      } catch (Throwable e) {
        error = e;
        if (!PLAIN.equals(answer("failed"))) throw e;
        again();
      }
      Object last = answer("done");
      if (last instanceof LogicalPlan) Dataset.ofRows((SparkSession) session(), (LogicalPlan) last).count();
      return rows;
    } finally {
      interceptor.left(sparkContext());
    }
  }

  private void again() throws Throwable {
    try {
      rows = execute(analysed);
    } catch (Throwable e) {
      error = e;
      answer("failed");
      throw e;
    }
  }

  private Object answer(String event) {
    Object answer = interceptor.told(event, this);
    if (answer instanceof String && ((String) answer).startsWith(CaptureStop.MARK)) throw new CaptureStop((String) answer);
    return abandoned ? null : answer;
  }

  private InternalRow[] execute(LogicalPlan plan) {
    QueryExecution query = session().sessionState().executePlan(plan, CommandExecutionMode$.MODULE$.SKIP());
    inner = query.executedPlan();
    show(query);
    InternalRow[] collected = (InternalRow[]) inner.executeCollect();
    show(query); // AQE's own updates are for the outer execution's plan only
    return collected;
  }

  /** Shows the plan that runs in the SQL tab, as AQE does when it changes one. A statement with several INSERTs is one plan. */
  private void show(QueryExecution running) {
    QueryExecution whole = CommandInterceptor.execution(sparkContext());
    if (whole == null) return;
    String id = sparkContext().getLocalProperty("spark.sql.execution.id");
    QueryExecution shown = whole.executedPlan().children().size() > 1 ? whole : running;
    String text = shown.explainString(ExplainMode$.MODULE$.fromString(((SparkSession) session()).sessionState().conf().uiExplainMode()));
    sparkContext().listenerBus().post(
        new SparkListenerSQLAdaptiveExecutionUpdate(Long.parseLong(id), text, SparkPlanInfo$.MODULE$.fromSparkPlan(shown.executedPlan())));
  }

  private InternalRow[] result() {
    try {
      return run();
    } catch (Throwable e) {
      Platform.throwException(e); // as it is, checked or not
      return null;
    }
  }

  public InternalRow[] executeCollect() {
    return result();
  }

  public scala.collection.Iterator executeToIterator() {
    return Trees.seq(Arrays.asList(result())).iterator();
  }

  public InternalRow[] executeTake(int n) {
    InternalRow[] all = result();
    return n >= all.length ? all : (InternalRow[]) Arrays.copyOfRange(all, 0, n);
  }

  public InternalRow[] executeTail(int n) {
    InternalRow[] all = result();
    return n >= all.length ? all : (InternalRow[]) Arrays.copyOfRange(all, all.length - n, all.length);
  }

  public RDD doExecute() {
    scala.reflect.ClassTag rowsOf = scala.reflect.ClassTag$.MODULE$.apply(InternalRow.class);
    return sparkContext().parallelize(Trees.seq(Arrays.asList(result())), 1, rowsOf);
  }

  // -- a node of Spark's trees

  public scala.collection.immutable.Seq output() {
    return command.output();
  }

  public scala.collection.immutable.Seq children() {
    List out = new ArrayList();
    if (inner != null) out.add(inner);
    return Trees.seq(out);
  }

  public SparkPlan withNewChildrenInternal(scala.collection.immutable.IndexedSeq children) {
    return this;
  }

  public String nodeName() {
    return nodeName;
  }

  public int productArity() {
    return 3;
  }

  public Object productElement(int i) {
    return i == 0 ? command : i == 1 ? (Object) interceptor : nodeName;
  }

  public boolean canEqual(Object other) {
    return other instanceof InterceptedCommand;
  }

  public boolean equals(Object other) {
    return this == other;
  }

  public int hashCode() {
    return System.identityHashCode(this);
  }
}

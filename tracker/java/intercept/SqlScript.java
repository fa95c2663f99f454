package provspark.intercept;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Iterator;
import org.apache.spark.SparkThrowable;
import org.apache.spark.sql.catalyst.analysis.NameParameterizedQuery$;
import org.apache.spark.sql.catalyst.plans.logical.CommandResult;
import org.apache.spark.sql.catalyst.plans.logical.CompoundBody;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.types.DataTypeUtils$;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.CommandExecutionMode$;
import org.apache.spark.sql.scripting.SingleStatementExec;
import org.apache.spark.sql.scripting.SqlScriptingExecution;
import org.apache.spark.sql.types.StructType;
import provspark.spark.ScriptVariables;
import provspark.trees.Trees;

/**
 * A SQL script (BEGIN … END), run statement by statement like SqlScriptingExecution.executeSqlScript does. Spark's own
 * interpreter handles branches, loops, variables and error handlers. Uses raw types, because Janino has no generics.
 */
public class SqlScript {
  private final SparkSession session;
  private final SqlScriptingExecution execution;
  private scala.Option before;
  private SingleStatementExec statement;
  private boolean condition;
  private Dataset last;
  private LogicalPlan shown;
  private Object[] rows;
  private StructType schema;

  public SqlScript(SparkSession session, LogicalPlan body, scala.collection.immutable.Map arguments) {
    this.session = session;
    execution = new SqlScriptingExecution((CompoundBody) body, session, arguments);
  }

  /** Returns the class of the first statement that reads rows where capture can't see them, or "". */
  public static String unseen(LogicalPlan body) {
    String name = body.getClass().getSimpleName();
    if (name.equals("ForStatement") || name.equals("OpenCursor")) return name;
    Iterator it = Trees.list(body.children()).iterator();
    while (it.hasNext()) {
      String found = unseen((LogicalPlan) it.next());
      if (found.length() > 0) return found;
    }
    return "";
  }

  // -- the script's variables, which are thread-local

  /** Sets the script's variables for this thread, until `leave`. */
  public void enter() throws Exception {
    before = ScriptVariables.get();
    Method within = null;
    Method[] methods = execution.getClass().getMethods();
    for (int i = 0; i < methods.length; i++) {
      String name = methods[i].getName();
      if (name.equals("withContextManager") || name.equals("withLocalVariableManager")) within = methods[i];
    }
    ScriptVariables.set((scala.Option) within.invoke(execution, new Object[] {new Held()}));
  }

  public void leave() {
    ScriptVariables.set(before);
  }

  /** Function that Spark calls while the variables are set, and that returns them. */
  static class Held extends scala.runtime.AbstractFunction0 {
    public Object apply() {
      return ScriptVariables.get();
    }
  }

  // -- its statements

  /** Advances to the next statement. Returns false at the end. Errors of conditions go to the script's handlers. */
  public boolean next() throws Throwable {
    while (true) {
      try {
        scala.Option found = (scala.Option) hidden("getNextStatement", null);
        if (found.isEmpty()) return false;
        if (!(found.get() instanceof SingleStatementExec)) continue;
        statement = (SingleStatementExec) found.get();
        last = null;
        condition = statement.isExecuted();
        return true;
      } catch (Throwable e) {
        if (!handled(e)) throw e;
      }
    }
  }

  /** Whether Spark has already run the statement, because it is a condition. */
  public boolean ran() {
    return condition;
  }

  /** Returns the parsed statement with the script's arguments. */
  public LogicalPlan parsed() {
    LogicalPlan plan = (LogicalPlan) statement.parsedPlan();
    return statement.args().isEmpty() ? plan : (LogicalPlan) NameParameterizedQuery$.MODULE$.apply(plan, statement.args());
  }

  /** Marks the statement as executed. */
  public void done() {
    statement.isExecuted_$eq(true);
  }

  /** Runs the statement unchanged. */
  public Dataset run() {
    last = statement.buildDataFrame(session);
    if (last.logicalPlan() instanceof CommandResult) return last;
    rows = (Object[]) last.collect();
    schema = last.schema();
    shown = last.queryExecution().analyzed();
    return last;
  }

  /** Returns the statement's plan if it assigned to variables or decided the control flow, else null. */
  public LogicalPlan read() {
    if (condition) return session.sessionState().executePlan(parsed(), CommandExecutionMode$.MODULE$.SKIP()).analyzed();
    if (last == null) return null;
    String name = ((LogicalPlan) statement.parsedPlan()).getClass().getSimpleName();
    boolean keeps = name.equals("SetVariable") || name.equals("CreateVariable") || name.contains("ExecuteImmediate");
    return keeps ? (LogicalPlan) last.queryExecution().analyzed() : null;
  }

  /** Returns the plan of the query whose rows are the script's result, or null. */
  public LogicalPlan shown() {
    return shown;
  }

  /** Whether a handler of the script catches an error of a statement. */
  public boolean handled(Throwable e) throws Throwable {
    if (!(e instanceof SparkThrowable)) return false;
    try {
      hidden("handleException", e);
      return true;
    } catch (Throwable again) {
      return false;
    }
  }

  private Object hidden(String name, Throwable argument) throws Throwable {
    Class[] types = argument == null ? new Class[0] : new Class[] {SparkThrowable.class};
    Method method = SqlScriptingExecution.class.getDeclaredMethod(name, types);
    method.setAccessible(true);
    try {
      return method.invoke(execution, argument == null ? new Object[0] : new Object[] {argument});
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  /** Returns the rows of the last query, as Spark does for a script. */
  public Dataset result() {
    scala.collection.immutable.Seq attributes = Trees.seq(new ArrayList());
    scala.collection.immutable.Seq values = Trees.seq(new ArrayList());
    if (rows != null) {
      attributes = DataTypeUtils$.MODULE$.toAttributes(schema);
      values = Trees.seq(java.util.Arrays.asList(rows));
    }
    return Dataset.ofRows(session, (LogicalPlan) LocalRelation$.MODULE$.fromExternalRows(attributes, values));
  }
}

package provspark.intercept;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import org.apache.spark.SparkContext$;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.ExperimentalMethods;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ReturnAnswer;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution$;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.provspark.InterceptedCommand;
import provspark.trees.Trees;

/**
 * Planner strategy that plans each command of a session as an InterceptedCommand, which calls Python when it executes. What a
 * command runs in turn is planned by Spark alone. Uses raw types, because Janino has no generics.
 */
public class CommandInterceptor extends SparkStrategy {
  private static final String EXECUTION = "spark.sql.execution.id";
  private static final String ROOT = "spark.sql.execution.root.id";
  /** The interceptor of the running step, for sessions that Java code makes. */
  private static volatile CommandInterceptor active = null;
  private static final Set extended = Collections.newSetFromMap(new WeakHashMap());

  public final ScriptThreads scripts;
  private final BiFunction callback;
  private volatile boolean stopped = false;
  private final Set sessions = Collections.newSetFromMap(new WeakHashMap());
  private final long limit;
  private final ExecutorService threads;
  /** Whether this thread runs an intercepted command, or a callback, whose commands are those of capture itself. */
  private final ThreadLocal inside = new ThreadLocal();
  /** Root executions that are intercepted commands: threads that a command starts inherit their id. */
  private final Set running = ConcurrentHashMap.newKeySet();
  /** Number of commands begun so far, by execution: one FROM with several INSERTs is an execution with several commands. */
  private final Map begun = new ConcurrentHashMap();

  /**
   * `callback` is called with an event ("begin", "done" or "failed") and the command; see InterceptedCommand. `client` is py4j's
   * client for callbacks, and `limit` the time that "begin" may take, in milliseconds.
   */
  public CommandInterceptor(BiFunction callback, Object client, long limit) {
    this.callback = callback;
    scripts = new ScriptThreads(client);
    this.limit = limit;
    threads = Executors.newCachedThreadPool(
        new ThreadFactory() {
          public Thread newThread(Runnable work) {
            Thread made = new Thread(work, "provspark-callback");
            made.setDaemon(true);
            return made;
          }
        });
  }

  // -- sessions

  /** Intercepts the commands of a session, and of those that are made from it. */
  public void watch(SparkSession session) {
    active = this;
    add(session);
    SparkSessionExtensions extensions = session.extensions();
    synchronized (extended) {
      if (!extended.add(extensions)) return;
    }
    // Spark asks for the strategies of extensions each time that it plans, so this also reaches sessions made before.
    extensions.injectPlannerStrategy(
        new scala.runtime.AbstractFunction1() {
          public Object apply(Object session) {
            CommandInterceptor now = active;
            if (now == null) return new None();
            now.add((SparkSession) session);
            return now;
          }
        });
  }

  /** Strategy that plans nothing. */
  static class None extends SparkStrategy {
    public scala.collection.immutable.Seq apply(LogicalPlan plan) {
      return Trees.seq(new ArrayList());
    }
  }

  /** Puts the strategy before those of extensions, which may plan their own commands. Not private, as InterceptedCommand.run. */
  synchronized void add(SparkSession session) {
    sessions.add(session); // also a clone, which has the strategies of the original
    ExperimentalMethods methods = session.experimental();
    List all = Trees.list(methods.extraStrategies());
    if (all.contains(this)) return;
    for (int i = all.size() - 1; i >= 0; i--) if (all.get(i) instanceof CommandInterceptor) all.remove(i);
    all.add(0, this);
    methods.extraStrategies_$eq(Trees.seq(all));
  }

  /** Plans nothing from now on. */
  public synchronized void stop() {
    if (active == this) active = null;
    stopped = true;
    threads.shutdown();
    Iterator it = sessions.iterator();
    while (it.hasNext()) {
      ExperimentalMethods methods = ((SparkSession) it.next()).experimental();
      List all = Trees.list(methods.extraStrategies());
      if (all.remove(this)) methods.extraStrategies_$eq(Trees.seq(all));
    }
  }

  // -- planning

  public scala.collection.immutable.Seq apply(LogicalPlan plan) {
    List out = new ArrayList();
    boolean whole = plan instanceof ReturnAnswer;
    LogicalPlan p = whole ? ((ReturnAnswer) plan).child() : plan;
    if (!stopped && (p instanceof Command || whole) && intercepts(p)) out.add(new InterceptedCommand(p, this, name(p)));
    return Trees.seq(out);
  }

  private boolean intercepts(LogicalPlan plan) {
    boolean command = plan instanceof Command;
    if (command ? !Commands.intercepted(plan) : !ScriptThreads.inScript()) return false;
    if (inside.get() != null) return false;
    scala.Option found = SparkContext$.MODULE$.getActive();
    if (found.isEmpty()) return false;
    SparkContext context = (SparkContext) found.get();
    String root = context.getLocalProperty(ROOT);
    if (root != null && running.contains(root)) return false;
    QueryExecution execution = execution(context);
    if (execution == null) return false;
    LogicalPlan analysed = execution.analyzed();
    // EXPLAIN plans a command without running it, and CACHE plans a query that it keeps.
    return command ? !analysed.getClass().getSimpleName().endsWith("ExplainCommand") : !(analysed instanceof Command);
  }

  /** Returns the name of a command's node. Listeners of the application may name jobs after it, as they do without capture. */
  private String name(LogicalPlan plan) {
    String own = "Execute " + plan.nodeName();
    SparkContext context = (SparkContext) SparkContext$.MODULE$.getActive().get();
    if (!(plan instanceof Command) || !context.conf().contains("spark.extraListeners")) return own;
    inside.set(Boolean.TRUE);
    try {
      return PlainName.of(execution(context).sparkSession(), plan);
    } catch (Exception e) {
      return own; // Spark reports the error when the command runs
    } finally {
      inside.remove();
    }
  }

  /** Returns the query that this thread executes, or null. */
  public static QueryExecution execution(SparkContext context) {
    String id = context.getLocalProperty(EXECUTION);
    return id == null ? null : SQLExecution$.MODULE$.getQueryExecution(Long.parseLong(id));
  }

  // -- execution

  /** Returns the analysed form of a command that is about to run. Call it once. */
  public LogicalPlan analysed(SparkContext context, LogicalPlan optimised) {
    QueryExecution execution = execution(context);
    if (execution == null) return optimised;
    LogicalPlan whole = execution.analyzed();
    if (!(whole instanceof Union)) return whole instanceof Command || !(optimised instanceof Command) ? whole : optimised;
    List parts = new ArrayList();
    List children = Trees.list(whole.children());
    for (int i = 0; i < children.size(); i++) if (Commands.intercepted((LogicalPlan) children.get(i))) parts.add(children.get(i));
    if (!(optimised instanceof Command)) return whole;
    Long id = Long.valueOf(execution.id());
    Integer turn = (Integer) begun.get(id);
    int at = turn == null ? 0 : turn.intValue();
    if (at + 1 < parts.size()) begun.put(id, Integer.valueOf(at + 1));
    else begun.remove(id);
    LogicalPlan found = at < parts.size() ? (LogicalPlan) parts.get(at) : optimised;
    return found.getClass() == optimised.getClass() ? found : optimised;
  }

  /** Marks this thread, and those that it starts, as running a command until `left`. */
  public void entered(SparkContext context) {
    inside.set(Boolean.TRUE);
    String own = context.getLocalProperty(EXECUTION);
    if (own != null && own.equals(context.getLocalProperty(ROOT))) running.add(own);
  }

  public void left(SparkContext context) {
    inside.remove();
    String own = context.getLocalProperty(EXECUTION);
    if (own != null) running.remove(own);
  }

  /**
   * Calls Python on a thread of its own, set up like this one, so that signals reach the script as without capture. Returns null
   * if the call fails, or if it takes longer than the limit before the command runs.
   */
  public Object told(final String event, final InterceptedCommand command) {
    final SparkContext context = command.session().sparkContext();
    final SparkSession session = command.session();
    final java.util.Properties properties = context.getLocalProperties();
    final java.util.Properties copy = new java.util.Properties();
    Iterator names = properties.stringPropertyNames().iterator();
    while (names.hasNext()) {
      String name = (String) names.next();
      if (!name.equals(EXECUTION) && !name.equals(ROOT)) copy.setProperty(name, properties.getProperty(name));
    }
    Future answer;
    try {
      answer = threads.submit(
          new Callable() {
            public Object call() {
              SparkSession.setActiveSession(session);
              context.setLocalProperties(copy);
              inside.set(Boolean.TRUE);
              try {
                return callback.apply(event, command);
              } finally {
                inside.remove();
              }
            }
          });
    } catch (java.util.concurrent.RejectedExecutionException e) {
      return null; // the step has ended
    }
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return event.equals("begin") ? answer.get(limit, TimeUnit.MILLISECONDS) : answer.get();
        } catch (InterruptedException e) {
          interrupted = true;
          if (event.equals("begin")) {
            command.abandon();
            return null; // Spark's own command stops at its next wait
          }
        } catch (TimeoutException e) {
          command.abandon();
          return null;
        } catch (java.util.concurrent.ExecutionException e) {
          return null; // Python has gone, or the callback raised
        }
      }
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
  }
}

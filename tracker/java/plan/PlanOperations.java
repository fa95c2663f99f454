package provspark.plan;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.CurrentOrigin;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.sql.classic.SparkSession;
import provspark.trees.Json;
import provspark.trees.Marks;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/**
 * Reads the operations of users' plans, as they wrote them, in one round trip for each plan. Returns JSON, from which
 * Python derives links, categories and texts. Raw types, for Janino.
 */
public class PlanOperations {
  private final IdentityHashMap cached = new IdentityHashMap();
  private final Map checkpoints = new HashMap();
  private final Operators operators;

  public PlanOperations(Operators operators) {
    this.operators = operators;
  }

  // -- before capture rewrites the plan

  /**
   * Returns the plan with CTEs inlined and its leaves numbered: a leaf keeps its number wherever Spark's rules move it.
   */
  public LogicalPlan numbered(LogicalPlan plan) throws Exception {
    sites(plan);
    return new Numbering().numbered(withoutCtes(plan));
  }

  /** Keeps the line of a query whose CTEs are inlined. */
  private void sites(LogicalPlan plan) {
    LogicalPlan heir = operators.of(plan).heir(plan);
    if (heir != null) Marks.copy(plan, heir);
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) sites((LogicalPlan) inside.get(i));
  }

  /** Remembers the numbered plan of a cache entry, by a relation that reads it. */
  public void cached(LogicalPlan relation, LogicalPlan plan) {
    cached.put(operators.of(relation).holder(relation), plan);
  }

  /** Remembers the numbered plan of a checkpoint, by the id of its RDD. */
  public void checkpoint(int rdd, LogicalPlan plan) {
    checkpoints.put(Integer.valueOf(rdd), plan);
  }

  private LogicalPlan behind(LogicalPlan leaf) {
    Object holder = operators.of(leaf).holder(leaf);
    if (holder == null) return null;
    return (LogicalPlan) (holder instanceof Integer ? checkpoints.get(holder) : cached.get(holder));
  }

  /** Copies a plan. Spark's own methods return the original if the copy would equal it. */
  static class Numbering {
    private int next = 0;

    /** The first node that has each scalar subquery, by the subquery's id. */
    private final Map first = new HashMap();

    LogicalPlan numbered(LogicalPlan plan) {
      Origin before = CurrentOrigin.get();
      CurrentOrigin.set(plan.origin());
      try {
        return copied(plan);
      } finally {
        CurrentOrigin.set(before);
      }
    }

    private LogicalPlan copied(LogicalPlan plan) {
      List children = list(plan.children());
      LogicalPlan made;
      if (children.isEmpty()) {
        made = (LogicalPlan) plan.clone();
        Marks.leaf(made, next++);
      } else {
        for (int i = 0; i < children.size(); i++) children.set(i, numbered((LogicalPlan) children.get(i)));
        made = (LogicalPlan) plan.withNewChildrenInternal(seq(children).toIndexedSeq());
      }
      if (plan.subqueries().nonEmpty()) {
        List values = values((scala.Product) made);
        for (int i = 0; i < values.size(); i++) values.set(i, value(values.get(i), plan));
        made = (LogicalPlan) made.makeCopy(values.toArray());
      }
      Marks.copy(plan, made);
      return made;
    }

    private Object value(Object o, LogicalPlan node) {
      if (o instanceof Expression) return expression((Expression) o, node);
      if (o instanceof scala.Some) return new scala.Some(value(((scala.Some) o).value(), node));
      if (!(o instanceof scala.collection.immutable.Seq)) return o;
      List items = list((scala.collection.Seq) o);
      for (int i = 0; i < items.size(); i++) items.set(i, value(items.get(i), node));
      return seq(items);
    }

    /**
     * Returns the subquery, with a new id if an earlier node has it: a frame that is read twice has its subqueries
     * twice.
     */
    private Expression own(SubqueryExpression e, LogicalPlan node) {
      if (first.putIfAbsent(e.exprId(), node) == null || first.get(e.exprId()) == node) return e;
      List values = values((scala.Product) e);
      values.set(values.indexOf(e.exprId()), NamedExpression$.MODULE$.newExprId());
      return (Expression) e.makeCopy(values.toArray());
    }

    private Expression expression(Expression e, LogicalPlan node) {
      if (e instanceof SubqueryExpression) {
        SubqueryExpression s = (SubqueryExpression) e;
        SubqueryExpression made = (SubqueryExpression) s.withNewPlan(numbered((LogicalPlan) s.plan()));
        return s instanceof ScalarSubquery ? own(made, node) : made;
      }
      List children = list(e.children());
      boolean changed = false;
      for (int i = 0; i < children.size(); i++) {
        Object made = expression((Expression) children.get(i), node);
        changed = changed || made != children.get(i);
        children.set(i, made);
      }
      if (!changed) return e;
      Origin before = CurrentOrigin.get();
      CurrentOrigin.set(e.origin());
      try {
        return (Expression) e.withNewChildrenInternal(seq(children).toIndexedSeq());
      } finally {
        CurrentOrigin.set(before);
      }
    }
  }

  // -- reading

  /** Reads the operations of a numbered plan; a thread then checks their SQL while the write runs. */
  public PlanReading read(SparkSession session, LogicalPlan plan) {
    PlanReading reading = new PlanReading(this, session);
    reading.visit(plan, new HashMap(), "[", plan);
    reading.start();
    return reading;
  }

  /** An operation that was read. */
  static class OperationNode {
    /** Label of each column that it passes on, by ExprId. */
    final Map labels = new HashMap();
    final StringBuilder json = new StringBuilder();
    int index;
  }

  public static class PlanReading implements Runnable {
    private final PlanOperations owner;
    private final SparkSession session;
    private final SqlCheck check;
    private final String settings;
    private final List reads = new ArrayList();
    private final Thread thread = new Thread(this, "provspark-operations");
    private boolean[] right;
    private int columns = 0;

    PlanReading(PlanOperations owner, SparkSession session) {
      this.owner = owner;
      this.session = session;
      check = new SqlCheck(session, owner.operators);
      settings = settings();
    }

    void start() {
      thread.setDaemon(true);
      thread.start();
    }

    public void run() {
      right = check.run();
    }

    /** Returns the settings that decide what expressions mean, as JSON. */
    private String settings() {
      String[] always = {"spark.sql.ansi.enabled", "spark.sql.session.timeZone"};
      Map found = new TreeMap();
      for (int i = 0; i < always.length; i++) found.put(always[i], session.conf().get(always[i]));
      scala.collection.Iterator it = session.sessionState().conf().getAllConfs().iterator();
      while (it.hasNext()) {
        scala.Tuple2 pair = (scala.Tuple2) it.next();
        for (int i = 0; i < MEANING.length; i++) if (((String) pair._1()).startsWith(MEANING[i])) found.put(pair._1(), pair._2());
      }
      StringBuilder out = new StringBuilder();
      Iterator entries = found.entrySet().iterator();
      while (entries.hasNext()) {
        Map.Entry entry = (Map.Entry) entries.next();
        out.append(out.length() == 0 ? "[[" : ",[").append(Json.quoted((String) entry.getKey())).append(",");
        out.append(Json.quoted((String) entry.getValue())).append("]");
      }
      return out.append("]").toString();
    }

    private static final String[] MEANING = {
        "spark.sql.ansi.", "spark.sql.legacy.", "spark.sql.caseSensitive", "spark.sql.mapKeyDedupPolicy", "spark.sql.timestampType",
        "spark.sql.decimalOperations.", "spark.sql.session.collation"};

    /**
     * Returns the operations as JSON, then a line that tells which of their texts Spark reads back, then one of
     * settings.
     */
    public String json() {
      try {
        thread.join();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }

      StringBuilder out = new StringBuilder("[");
      for (int i = 0; i < reads.size(); i++) {
        out.append(i == 0 ? "" : ",\n").append(((OperationNode) reads.get(i)).json);
      }
      out.append("]\n[");
      for (int i = 0; i < right.length; i++) out.append(i == 0 ? "" : ",").append(right[i]);
      return out.append("]\n").append(settings).toString();
    }

    /**
     * outer: labels of the columns of the query around a subquery; path: JSON of the numbers of the leaves above it;
     * above: the node whose marks count.
     */
    OperationNode visit(LogicalPlan plan, Map outer, String path, LogicalPlan above) {
      LogicalPlan marked = Marks.marked(plan) ? plan : above;
      Operator operator = owner.operators.of(plan);
      if (operator.names(plan)) return visit((LogicalPlan) plan.children().head(), outer, path, marked);
      Map in = new HashMap();
      StringBuilder children = new StringBuilder();
      List below = operator.below(plan);
      String leafPath = path;
      LogicalPlan behind = below.isEmpty() ? owner.behind(plan) : null;
      if (below.isEmpty()) leafPath = path + (path.length() > 1 ? "," : "") + Marks.leaf(plan);
      if (behind != null) below.add(behind);
      List sides = new ArrayList();
      for (int i = 0; i < below.size(); i++) {
        OperationNode side = visit((LogicalPlan) below.get(i), behind == null ? outer : new HashMap(), leafPath, behind == null ? marked : behind);
        sides.add(side.labels);
        children.append(i == 0 ? "" : ",").append(side.index);
        Map more = new HashMap(side.labels);
        more.putAll(in);
        in = more;
      }
      Map reach = new HashMap(outer);
      reach.putAll(in);
      Map queries = new HashMap();
      StringBuilder subqueries = new StringBuilder();
      List all = list(plan.expressions());
      for (int i = 0; i < all.size(); i++) queries((Expression) all.get(i), reach, path, marked, queries, subqueries);
      OperationNode read = new OperationNode();
      read.index = reads.size();
      reads.add(read);
      read.json.append("{\"node\":").append(Json.quoted(plan.getClass().getSimpleName()));
      read.json.append(",\"children\":[").append(children).append("],\"subqueries\":[").append(subqueries).append("]");
      if (below.isEmpty()) read.json.append(",\"path\":").append(leafPath).append("]");
      read.json.append(",\"site\":").append(Json.quoted(Marks.site(marked)));
      read.json.append(",\"name\":").append(Json.quoted(Marks.name(marked)));
      read.json.append(",\"transformer\":").append(Json.quoted(Marks.transformer(marked))).append(",\"sql_line\":");
      read.json.append(plan.origin().line().isEmpty() ? "0" : plan.origin().line().get().toString());
      if (behind == null) output(operator, plan, read, in);
      else handedOn(plan, read, behind, in);
      new Expressions(check, read.json, reach, read.labels, queries).of(operator, plan, sides);
      read.json.append("}");
      return read;
    }

    private void queries(Expression e, Map reach, String path, LogicalPlan marked, Map found, StringBuilder out) {
      List children = list(e.children());
      for (int i = 0; i < children.size(); i++) queries((Expression) children.get(i), reach, path, marked, found, out);
      if (!(e instanceof SubqueryExpression) || found.containsKey(((SubqueryExpression) e).exprId())) return;
      OperationNode last = visit((LogicalPlan) ((SubqueryExpression) e).plan(), reach, path, marked);
      found.put(((SubqueryExpression) e).exprId(), Integer.valueOf(last.index));
      out.append(out.length() == 0 ? "" : ",").append(last.index);
    }

    /** Numbers the columns: those that a child passes on keep their numbers. */
    private void output(Operator operator, LogicalPlan plan, OperationNode read, Map in) {
      Set made = new HashSet();
      boolean anew = operator.renews(plan);
      List all = list(plan.expressions());
      for (int i = 0; i < all.size(); i++) if (all.get(i) instanceof Alias) made.add(((Alias) all.get(i)).exprId());
      operator.changed(plan, made);
      List output = list(plan.output());
      read.json.append(",\"columns\":[");
      for (int i = 0; i < output.size(); i++) {
        Attribute a = (Attribute) output.get(i);
        String before = anew || made.contains(a.exprId()) ? null : (String) in.get(a.exprId());
        if (read.labels.containsKey(a.exprId())) before = (String) read.labels.get(a.exprId());
        column(read, a, before == null ? Integer.toString(columns++) : before.substring(before.lastIndexOf('#') + 1), i);
      }
      read.json.append("]");
    }

    /**
     * Gives the columns of a cache or checkpoint the numbers that they had when it was made; provenance columns get
     * none.
     */
    private void handedOn(LogicalPlan plan, OperationNode read, LogicalPlan behind, Map in) {
      List output = list(plan.output());
      List before = list(behind.output());
      read.json.append(",\"columns\":[");
      for (int i = 0; i < before.size(); i++) {
        Attribute a = (Attribute) output.get(i);
        String label = (String) in.get(((Attribute) before.get(i)).exprId());
        column(read, a, label.substring(label.lastIndexOf('#') + 1), i);
      }
      read.json.append("]");
    }

    private static void column(OperationNode read, Attribute a, String id, int at) {
      read.labels.put(a.exprId(), a.name() + "#" + id);
      read.json.append(at == 0 ? "[" : ",[").append(id).append(",").append(Json.quoted(a.name())).append(",");
      read.json.append(Json.quoted(a.dataType().catalogString())).append("]");
    }
  }
}

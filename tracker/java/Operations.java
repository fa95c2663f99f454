package provspark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.*;
import org.apache.spark.sql.catalyst.trees.CurrentOrigin;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import static provspark.Trees.*;

/**
 * Reads the operations of users' plans, as they wrote them, in one round trip a plan. Its answer is JSON; what is worked out
 * from it (links, categories, texts) is for Python. Raw types, for Janino.
 */
public class Operations {
  private final IdentityHashMap cached = new IdentityHashMap();
  private final Map checkpoints = new HashMap();

  // -- before capture rewrites the plan

  /** The plan with its leaves numbered, CTEs in their places: a leaf keeps its number wherever Spark's rules move it. */
  public LogicalPlan numbered(LogicalPlan plan) throws Exception {
    sites(plan);
    return new Numbering().numbered(withoutCtes(plan));
  }

  /** A query keeps its line when its CTEs are put in their places. */
  private static void sites(LogicalPlan plan) {
    if (plan instanceof WithCTE) Marks.site((LogicalPlan) ((WithCTE) plan).plan(), Marks.site(plan));
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) sites((LogicalPlan) inside.get(i));
  }

  /** Remembers the numbered plan of what is cached, by a relation that reads it. */
  public void cached(InMemoryRelation relation, LogicalPlan plan) {
    cached.put(relation.cacheBuilder(), plan);
  }

  /** Remembers the numbered plan of a checkpoint, by its RDD. */
  public void checkpoint(int rdd, LogicalPlan plan) {
    checkpoints.put(Integer.valueOf(rdd), plan);
  }

  private LogicalPlan behind(LogicalPlan leaf) {
    if (leaf instanceof InMemoryRelation) return (LogicalPlan) cached.get(((InMemoryRelation) leaf).cacheBuilder());
    if (leaf instanceof LogicalRDD) return (LogicalPlan) checkpoints.get(Integer.valueOf(((LogicalRDD) leaf).rdd().id()));
    return null;
  }

  /** Copies a plan: Spark's own ways to do that take a copy that is equal for no change. */
  static class Numbering {
    private int next = 0;

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
        List values = list(made.productIterator().toSeq());
        for (int i = 0; i < values.size(); i++) values.set(i, value(values.get(i)));
        made = (LogicalPlan) made.makeCopy(values.toArray());
      }
      Marks.site(made, Marks.site(plan));
      return made;
    }

    private Object value(Object o) {
      if (o instanceof Expression) return expression((Expression) o);
      if (o instanceof scala.Some) return new scala.Some(value(((scala.Some) o).value()));
      if (!(o instanceof scala.collection.immutable.Seq)) return o;
      List items = list((scala.collection.Seq) o);
      for (int i = 0; i < items.size(); i++) items.set(i, value(items.get(i)));
      return seq(items);
    }

    private Expression expression(Expression e) {
      if (e instanceof SubqueryExpression) {
        SubqueryExpression s = (SubqueryExpression) e;
        return s.withNewPlan(numbered((LogicalPlan) s.plan()));
      }
      List children = list(e.children());
      boolean changed = false;
      for (int i = 0; i < children.size(); i++) {
        Object made = expression((Expression) children.get(i));
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

  /** The operations of a numbered plan, as JSON. */
  public String read(SparkSession session, LogicalPlan plan) {
    Reading reading = new Reading(this, new SqlCheck(session));
    reading.visit(plan, new HashMap(), "[", "");
    return reading.json();
  }

  /** What is known of an operation that was read. */
  static class Read {
    /** By ExprId the label of each column that it hands on. */
    final Map labels = new HashMap();
    final StringBuilder json = new StringBuilder();
    int index;
  }

  static class Reading {
    private final Operations owner;
    private final SqlCheck check;
    private final List reads = new ArrayList();
    private int columns = 0;

    Reading(Operations owner, SqlCheck check) {
      this.owner = owner;
      this.check = check;
    }

    String json() {
      boolean[] right = check.run();
      StringBuilder out = new StringBuilder("[");
      for (int i = 0; i < reads.size(); i++) {
        out.append(i == 0 ? "" : ",\n").append(((Read) reads.get(i)).json);
      }
      out.append("]\n[");
      for (int i = 0; i < right.length; i++) out.append(i == 0 ? "" : ",").append(right[i]);
      return out.append("]").toString();
    }

    /** outer: labels of the columns of the query around a subquery; path: JSON of the numbers of the leaves above it. */
    Read visit(LogicalPlan plan, Map outer, String path, String site) {
      String mine = Marks.site(plan);
      String line = mine.length() == 0 ? site : mine;
      if (plan instanceof SubqueryAlias || plan instanceof View) {
        return visit((LogicalPlan) plan.children().head(), outer, path, line);
      }
      Map in = new HashMap();
      StringBuilder children = new StringBuilder();
      List below = list(plan.children());
      if (plan instanceof GlobalLimit && below.get(0) instanceof LocalLimit) below = list(((LogicalPlan) below.get(0)).children());
      String leafPath = path;
      LogicalPlan behind = below.isEmpty() ? owner.behind(plan) : null;
      if (below.isEmpty()) leafPath = path + (path.length() > 1 ? "," : "") + Marks.leaf(plan);
      if (behind != null) below.add(behind);
      List sides = new ArrayList();
      for (int i = 0; i < below.size(); i++) {
        Read side = visit((LogicalPlan) below.get(i), behind == null ? outer : new HashMap(), leafPath, behind == null ? line : "");
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
      for (int i = 0; i < all.size(); i++) queries((Expression) all.get(i), reach, path, line, queries, subqueries);
      Read read = new Read();
      read.index = reads.size();
      reads.add(read);
      read.json.append("{\"node\":").append(Json.quoted(plan.getClass().getSimpleName()));
      read.json.append(",\"children\":[").append(children).append("],\"subqueries\":[").append(subqueries).append("]");
      if (below.isEmpty()) read.json.append(",\"path\":").append(leafPath).append("]");
      read.json.append(",\"site\":").append(Json.quoted(line)).append(",\"sql_line\":");
      read.json.append(plan.origin().line().isEmpty() ? "0" : plan.origin().line().get().toString());
      output(plan, read, in);
      new Expressions(check, read.json, reach, read.labels, queries).of(plan, sides);
      read.json.append("}");
      return read;
    }

    private void queries(Expression e, Map reach, String path, String line, Map found, StringBuilder out) {
      List children = list(e.children());
      for (int i = 0; i < children.size(); i++) queries((Expression) children.get(i), reach, path, line, found, out);
      if (!(e instanceof SubqueryExpression) || found.containsKey(((SubqueryExpression) e).exprId())) return;
      Read last = visit((LogicalPlan) ((SubqueryExpression) e).plan(), reach, path, line);
      found.put(((SubqueryExpression) e).exprId(), Integer.valueOf(last.index));
      out.append(out.length() == 0 ? "" : ",").append(last.index);
    }

    /** Gives the columns their numbers: those of a child that are handed on keep theirs. */
    private void output(LogicalPlan plan, Read read, Map in) {
      Set made = new HashSet();
      boolean anew = plan.children().isEmpty() || plan instanceof Union;
      List all = list(plan.expressions());
      for (int i = 0; i < all.size(); i++) if (all.get(i) instanceof Alias) made.add(((Alias) all.get(i)).exprId());
      if (plan instanceof Expand) changed((Expand) plan, made);
      List output = list(plan.output());
      read.json.append(",\"columns\":[");
      for (int i = 0; i < output.size(); i++) {
        Attribute a = (Attribute) output.get(i);
        String before = anew || made.contains(a.exprId()) ? null : (String) in.get(a.exprId());
        if (read.labels.containsKey(a.exprId())) before = (String) read.labels.get(a.exprId());
        String id = before == null ? Integer.toString(columns++) : before.substring(before.lastIndexOf('#') + 1);
        read.labels.put(a.exprId(), a.name() + "#" + id);
        read.json.append(i == 0 ? "[" : ",[").append(id).append(",").append(Json.quoted(a.name())).append(",");
        read.json.append(Json.quoted(a.dataType().catalogString())).append("]");
      }
      read.json.append("]");
    }

    /** The columns of which not every copy of a row hands on the same. */
    private static void changed(Expand plan, Set made) {
      List output = list(plan.output());
      List copies = list(plan.projections());
      for (int i = 0; i < copies.size(); i++) {
        for (int j = 0; j < output.size(); j++) {
          ExprId id = ((Attribute) output.get(j)).exprId();
          Object e = ((scala.collection.Seq) copies.get(i)).apply(j);
          if (!(e instanceof Attribute) || !((Attribute) e).exprId().equals(id)) made.add(id);
        }
      }
    }
  }
}

package provspark.plan;

import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/**
 * Removes window functions and subqueries whose values nothing above uses: Spark would not compute them, so they leave
 * no edges. Spark's own column pruning finds them, on a copy of the plan. Raw types, for Janino.
 */
public class Unused {
  /** Rules that must come before pruning; the nodes that they create keep the columns' ids. */
  private static final String[] FIRST = {
    "ReplaceIntersectWithSemiJoin", "ReplaceExceptWithFilter", "ReplaceExceptWithAntiJoin", "RewriteExceptAll",
    "RewriteIntersectAll", "ReplaceDistinctWithAggregate", "ReplaceDeduplicateWithAggregate"
  };
  private static final String AFTER = " Distinct Deduplicate Intersect Except AsOfJoin NearestByJoin UnionLoop ";

  private Unused() {}

  public static LogicalPlan away(LogicalPlan plan) throws Exception {
    if (!holdsAny(plan)) return plan;
    LogicalPlan replaced = plan;
    for (int i = 0; i < FIRST.length; i++) replaced = byRule(OPTIMIZER + FIRST[i], replaced);
    if (unsafe(replaced)) return plan;
    Set unused = new HashSet();
    collect(replaced, unused);
    Set used = new HashSet();
    collect(byRuleToTheEnd(OPTIMIZER + "ColumnPruning", replaced), used);
    unused.removeAll(used);
    return without(plan, unused);
  }

  private static boolean holdsAny(LogicalPlan plan) {
    if (plan instanceof Window || hold(plan.expressions(), SubqueryExpression.class)) return true;
    Iterator it = list(plan.children()).iterator();
    while (it.hasNext()) if (holdsAny((LogicalPlan) it.next())) return true;
    return false;
  }

  private static boolean unsafe(LogicalPlan plan) {
    if (AFTER.indexOf(" " + plan.getClass().getSimpleName() + " ") >= 0) return true;
    Iterator it = list(plan.children()).iterator();
    while (it.hasNext()) if (unsafe((LogicalPlan) it.next())) return true;
    return false;
  }

  /** Ids of all columns that a plan's nodes make. */
  private static void collect(LogicalPlan plan, Set ids) {
    Iterator it = list(plan.expressions()).iterator();
    while (it.hasNext()) {
      Object e = it.next();
      if (e instanceof Alias) ids.add(((Alias) e).exprId());
    }
    it = list(plan.children()).iterator();
    while (it.hasNext()) collect((LogicalPlan) it.next(), ids);
  }

  /**
   * Replaces unused values. A side that a replacement leaves out, as for EXCEPT by a filter, keeps its columns: they
   * define the filter.
   */
  private static LogicalPlan without(LogicalPlan plan, Set unused) {
    List children = list(plan.children());
    for (int i = 0; i < children.size(); i++) children.set(i, without((LogicalPlan) children.get(i), unused));
    LogicalPlan p = withChildren(plan, children);
    if (p instanceof Window) {
      List made = list(((Window) p).windowExpressions());
      List all = list(((LogicalPlan) children.get(0)).output());
      return empty(made, unused, false) == made.size() ? projection(joined(all, made), (LogicalPlan) children.get(0)) : p;
    }
    if (!(p instanceof Project)) return p;
    List columns = list(((Project) p).projectList());
    return empty(columns, unused, true) > 0 ? projection(columns, (LogicalPlan) children.get(0)) : p;
  }

  private static List joined(List some, List more) {
    some.addAll(more);
    return some;
  }

  /** Replaces unused columns by nulls, or only those with subqueries; returns how many. */
  private static int empty(List columns, Set unused, boolean subqueries) {
    int n = 0;
    for (int i = 0; i < columns.size(); i++) {
      if (!(columns.get(i) instanceof Alias)) continue;
      Alias a = (Alias) columns.get(i);
      if (!unused.contains(a.exprId()) || (subqueries && !hold(seq(one(a.child())), SubqueryExpression.class))) continue;
      columns.set(i, named(new Literal(null, a.dataType()), a.name(), a.exprId()));
      n++;
    }
    return n;
  }
}

package provspark.families.nearest_by;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.plan.Rewrite;
import provspark.taps.Keys;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/** Rewrites joins with the nearest rows. Raw types, for Janino. */
public class NearestByCapture {
  private final Rewrite rewrite;

  public NearestByCapture(Rewrite rewrite) {
    this.rewrite = rewrite;
  }

  /**
   * Adds the join, rewritten by Spark's own rule: an aggregate for each left row, which chooses whole right rows, and a
   * generator that returns them one by one. Provenance columns are chosen with the row that they belong to, so of tied
   * rows they name those in the output.
   */
  public int join(int node, int left, int right, int above) throws Exception {
    LogicalPlan side = rewrite.plan(left);
    List conditions = above < 0 ? new ArrayList() : conditions((Filter) rewrite.node(above), rewrite.node(node));
    for (int i = 0; i < conditions.size(); i++) side = filtered((Expression) conditions.get(i), side);
    List sides = one(side);
    sides.add(rewrite.plan(right));
    LogicalPlan join = withChildren(rewrite.node(node), sides);
    LogicalPlan chosen = byRule(OPTIMIZER + "RewriteNearestByJoin", join);
    List provenance = rewrite.provenance(left);
    provenance.addAll(rewrite.provenance(right));
    return rewrite.put(distinct(chosen, list(join.output()), described(rewrite.node(node))), provenance);
  }

  /** Whether files keep the metadata of left columns: Spark loses it if the plan outputs exactly the join's columns. */
  private boolean described(LogicalPlan join) {
    return !ids(rewrite.node(0).output()).equals(ids(join.output()));
  }

  /**
   * Returns the conditions of the filter directly above that use the left side only. In the user's plan Spark moves
   * them below the join, whose aggregate passes the left columns on under their own ids. In ours the ids differ, so it
   * can't. The rows that they drop must not be ranked, because the ranking expression may fail for them.
   */
  private static List conditions(Filter above, LogicalPlan join) {
    LogicalPlan left = (LogicalPlan) join.children().head();
    List all = new ArrayList();
    Keys.split(above.condition(), all);
    List out = new ArrayList();
    for (int i = 0; i < all.size(); i++) {
      Expression e = (Expression) all.get(i);
      boolean decided = e.references().nonEmpty() && e.references().subsetOf(left.outputSet());
      if (decided && e.deterministic() && !hold(seq(one(e)), SubqueryExpression.class)) out.add(e);
    }
    return out;
  }

  /** Gives the columns that the aggregate makes ids of their own; Spark's rule gives them those of the left columns. */
  private static LogicalPlan distinct(LogicalPlan chosen, List columns, boolean described) {
    Generate lines = (Generate) chosen.children().head();
    Aggregate groups = (Aggregate) lines.child();
    List made = list(groups.aggregateExpressions());
    List shown = new ArrayList(columns);
    scala.collection.immutable.Seq nil = seq(new ArrayList());
    // The last one is the array of the chosen right rows, which the generator reads.
    for (int i = 0; i < made.size() - 1; i++) {
      Attribute column = (Attribute) columns.get(i);
      Alias first = alias(((Alias) made.get(i)).child(), column.name());
      made.set(i, first);
      scala.Option metadata = described ? scala.Option.apply(column.metadata()) : scala.Option.empty();
      shown.set(i, new Alias(first.toAttribute(), column.name(), column.exprId(), nil, metadata, nil));
    }
    LogicalPlan renamed = new Aggregate(groups.groupingExpressions(), seq(made), groups.child(), scala.Option.empty());
    return projection(shown, withChildren(lines, one(renamed)));
  }
}

package provspark.spark;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationDef;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Repartition;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.Transpose;
import org.apache.spark.sql.catalyst.rules.Rule;
import static provspark.trees.Trees.*;

/** Factory of the plan nodes that capture adds for all operators. Uses raw types, because Janino has no generics. */
public class LogicalPlans {
  private LogicalPlans() {}

  /** Returns an empty relation with these columns. */
  public static LogicalPlan rows(List columns) {
    return LocalRelation$.MODULE$.apply(seq(columns));
  }

  public static LogicalPlan projection(List columns, LogicalPlan plan) {
    return new Project(seq(columns), plan);
  }

  public static LogicalPlan filtered(Expression condition, LogicalPlan plan) {
    return new Filter(condition, plan);
  }

  /** Sorts a plan: as a whole if `global`, else each partition. */
  public static LogicalPlan ordered(List order, boolean global, LogicalPlan plan) {
    return new Sort(seq(order), global, plan, scala.Option.empty());
  }

  /**
   * Keeps Spark from computing rows while it plans: its optimizer evaluates projections and filters over local rows, and would
   * evaluate our taps and row numbers. A coalesce that merges no partitions prevents that. It goes directly under those, so that
   * Spark computes the user's nodes below at the usual time, which seeded functions such as rand depend on.
   */
  public static LogicalPlan apart(LogicalPlan plan) {
    return local(plan) ? new Repartition(Integer.MAX_VALUE, false, plan) : plan;
  }

  private static boolean local(LogicalPlan plan) {
    if (plan instanceof LocalRelation || plan instanceof Transpose) return true;
    if (plan instanceof Repartition && ((Repartition) plan).numPartitions() == Integer.MAX_VALUE) return false;
    Iterator it = list(plan.children()).iterator();
    while (it.hasNext()) if (local((LogicalPlan) it.next())) return true;
    return false;
  }

  /** Inlines common table expressions. Returns the plan unchanged if Spark computes one of them once for several readers. */
  public static LogicalPlan withoutCtes(LogicalPlan plan) throws Exception {
    return shared(inlined(plan, Boolean.FALSE)) ? plan : inlined(plan, Boolean.TRUE);
  }

  /** Whether a common table expression is left that Spark does not inline because it is not deterministic. */
  private static boolean shared(LogicalPlan plan) {
    if (plan instanceof CTERelationDef && !plan.deterministic()) return true;
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) if (shared((LogicalPlan) inside.get(i))) return true;
    return false;
  }

  /** Applies InlineCTE, whose constructor has one to three flags, depending on the version. All but the first default to false. */
  private static LogicalPlan inlined(LogicalPlan plan, Boolean always) throws Exception {
    java.lang.reflect.Constructor c =
        Class.forName(OPTIMIZER + "InlineCTE").getConstructors()[0];
    Object[] flags = new Object[c.getParameterTypes().length];
    java.util.Arrays.fill(flags, Boolean.FALSE);
    flags[0] = always;
    Object rule = c.newInstance(flags);
    return (LogicalPlan) ((Rule) rule).apply(plan);
  }
}

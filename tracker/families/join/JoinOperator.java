package provspark.families.join;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.FullOuter$;
import org.apache.spark.sql.catalyst.plans.JoinType;
import org.apache.spark.sql.catalyst.plans.LeftOuter$;
import org.apache.spark.sql.catalyst.plans.RightOuter$;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LateralJoin;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.plan.Expressions;
import provspark.plan.Nodes;
import provspark.plan.Operator;

/** The `Operator` of joins. Raw types, for Janino. */
public class JoinOperator extends Operator {
  private static final List OUTER = java.util.Arrays.asList(new Object[] {LeftOuter$.MODULE$, RightOuter$.MODULE$, FullOuter$.MODULE$});

  /** Returns the type of a join. */
  public String detail(LogicalPlan plan, Nodes nodes) {
    return plan instanceof Join ? ((Join) plan).joinType().getClass().getSimpleName().replace("$", "") : "";
  }

  /** A filter above can turn an outer join into an inner one, but Spark can't push it past our taps. */
  public boolean forgets(LogicalPlan plan) {
    return plan instanceof Join && OUTER.contains(((Join) plan).joinType());
  }

  public void tell(LogicalPlan plan, Expressions to, List sides) {
    if (plan instanceof Join) joined(((Join) plan).joinType(), ((Join) plan).condition(), to);
    else if (plan instanceof LateralJoin) joined(((LateralJoin) plan).joinType(), ((LateralJoin) plan).condition(), to);
    else super.tell(plan, to, sides);
  }

  private static void joined(JoinType type, scala.Option condition, Expressions to) {
    to.detail("type", type.sql());
    if (!condition.isEmpty()) to.one("condition", (Expression) condition.get());
  }
}

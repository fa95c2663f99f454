package provspark.families.join;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.JoinType;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LateralJoin;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.plan.Expressions;
import provspark.plan.Nodes;
import provspark.plan.Operator;

/** What is asked of joins. Raw types, for Janino. */
public class JoinOperator extends Operator {
  public String detail(LogicalPlan plan, Nodes nodes) {
    return plan instanceof Join ? ((Join) plan).joinType().getClass().getSimpleName().replace("$", "") : "";
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

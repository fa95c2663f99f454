package provspark.families.limit;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Offset;
import org.apache.spark.sql.catalyst.plans.logical.Tail;
import provspark.plan.Expressions;
import provspark.plan.Nodes;
import provspark.plan.Operator;
import static provspark.trees.Trees.*;

/** The `Operator` of limits. Raw types, for Janino. */
public class LimitOperator extends Operator {
  public boolean picks(LogicalPlan plan, Nodes nodes) {
    return number(plan) != null;
  }

  /** Skips the LocalLimit below: Spark makes two nodes of one LIMIT. */
  public List below(LogicalPlan plan) {
    boolean one = plan instanceof GlobalLimit && ((GlobalLimit) plan).child() instanceof LocalLimit;
    return list((one ? (LogicalPlan) ((GlobalLimit) plan).child() : plan).children());
  }

  public void tell(LogicalPlan plan, Expressions to, List sides) {
    if (number(plan) != null) to.detail("n", number(plan));
    else super.tell(plan, to, sides);
  }

  private static Expression number(LogicalPlan plan) {
    if (plan instanceof GlobalLimit) return ((GlobalLimit) plan).limitExpr();
    if (plan instanceof LocalLimit) return ((LocalLimit) plan).limitExpr();
    if (plan instanceof Offset) return ((Offset) plan).offsetExpr();
    return plan instanceof Tail ? ((Tail) plan).limitExpr() : null;
  }
}

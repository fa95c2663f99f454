package provspark.families.asof_join;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.AsOfJoin;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.plan.Expressions;
import provspark.plan.Operator;

/** The `Operator` of as-of joins. Raw types, for Janino. */
public class AsOfJoinOperator extends Operator {
  public void tell(LogicalPlan plan, Expressions to, List sides) {
    to.detail("type", ((AsOfJoin) plan).joinType().sql());
    to.others(plan, "condition");
  }
}

package provspark.families.distribution;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.RepartitionByExpression;
import provspark.plan.Expressions;
import provspark.plan.Operator;
import static provspark.trees.Trees.*;

/** The `Operator` of operators that only move rows. Raw types, for Janino. */
public class DistributionOperator extends Operator {
  public void tell(LogicalPlan plan, Expressions to, List sides) {
    if (plan instanceof RepartitionByExpression) to.all("partition", list(((RepartitionByExpression) plan).partitionExpressions()));
    else super.tell(plan, to, sides);
  }
}

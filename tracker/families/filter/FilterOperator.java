package provspark.families.filter;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.plan.Expressions;
import provspark.plan.Operator;

/** The `Operator` of filters. Raw types, for Janino. */
public class FilterOperator extends Operator {
  public void tell(LogicalPlan plan, Expressions to, List sides) {
    if (plan instanceof Filter) to.one("condition", ((Filter) plan).condition());
    else super.tell(plan, to, sides);
  }
}

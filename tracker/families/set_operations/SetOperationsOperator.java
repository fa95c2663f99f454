package provspark.families.set_operations;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.plan.Expressions;
import provspark.plan.Operator;

/** The `Operator` of INTERSECT and EXCEPT. Raw types, for Janino. */
public class SetOperationsOperator extends Operator {
  /**
   * Spark simplifies expressions by what it knows of columns, and loses this when it rewrites the node; capture
   * rewrites first.
   */
  public boolean forgets(LogicalPlan plan) {
    return true;
  }

  public void tell(LogicalPlan plan, Expressions to, List sides) {
    to.detail("all", plan.productElement(2).toString());
  }
}

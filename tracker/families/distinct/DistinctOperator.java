package provspark.families.distinct;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.Deduplicate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.plan.Expressions;
import provspark.plan.Operator;
import static provspark.trees.Trees.*;

/** The `Operator` of dropDuplicates. Raw types, for Janino. */
public class DistinctOperator extends Operator {
  public void tell(LogicalPlan plan, Expressions to, List sides) {
    if (plan instanceof Deduplicate) to.all("group", list(((Deduplicate) plan).keys()));
    else super.tell(plan, to, sides);
  }
}

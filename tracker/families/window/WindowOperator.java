package provspark.families.window;

import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import provspark.plan.Expressions;
import provspark.plan.Integrity;
import provspark.plan.Operator;
import static provspark.trees.Trees.*;

/** The `Operator` of windows. Raw types, for Janino. */
public class WindowOperator extends Operator {
  /** Spark lists columns that a window passes on among those that it makes. */
  public String broken(LogicalPlan plan, Set below) {
    return plan instanceof Window ? Integrity.aliased(plan, below) : super.broken(plan, below);
  }

  public List called(LogicalPlan plan) {
    return plan instanceof Window ? list(((Window) plan).windowExpressions()) : super.called(plan);
  }

  public void tell(LogicalPlan plan, Expressions to, List sides) {
    if (plan instanceof Window) {
      Window window = (Window) plan;
      to.all("partition", list(window.partitionSpec()));
      to.all("order", list(window.orderSpec()));
      to.named(list(window.windowExpressions()));
    } else {
      super.tell(plan, to, sides);
    }
  }
}

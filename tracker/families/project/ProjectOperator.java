package provspark.families.project;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import provspark.plan.Expressions;
import provspark.plan.Operator;
import static provspark.trees.Trees.*;

/** The `Operator` of projections. Raw types, for Janino. */
public class ProjectOperator extends Operator {
  public void tell(LogicalPlan plan, Expressions to, List sides) {
    if (plan instanceof Project) to.named(list(((Project) plan).projectList()));
    else super.tell(plan, to, sides);
  }
}

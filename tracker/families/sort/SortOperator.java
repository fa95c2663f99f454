package provspark.families.sort;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import provspark.plan.Expressions;
import provspark.plan.Operator;
import static provspark.trees.Trees.*;

/** The `Operator` of sorts. Raw types, for Janino. */
public class SortOperator extends Operator {
  public void tell(LogicalPlan plan, Expressions to, List sides) {
    Sort sort = (Sort) plan;
    to.detail("global", String.valueOf(sort.global()));
    to.all("order", list(sort.order()));
  }
}

package provspark.families.nearest_by;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.JoinType;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.plan.Expressions;
import provspark.plan.Nodes;
import provspark.plan.Operator;
import static provspark.trees.Trees.*;

/** The `Operator` of joins with the nearest rows, a class that Spark has from 4.2 on. Raw types, for Janino. */
public class NearestByOperator extends Operator {
  /** Any of several equally near rows may come out. */
  public boolean picks(LogicalPlan plan, Nodes nodes) {
    return true;
  }

  public void tell(LogicalPlan plan, Expressions to, List sides) {
    // left, right, type, approximate, number of rows, ranking, direction
    List values = values((scala.Product) plan);
    to.detail("type", ((JoinType) values.get(2)).sql());
    to.detail("mode", ((Boolean) values.get(3)).booleanValue() ? "APPROX" : "EXACT");
    to.detail("rows", values.get(4));
    to.detail("by", values.get(6).toString().equals("NearestByDistance") ? "DISTANCE" : "SIMILARITY");
    to.one("order", (Expression) values.get(5));
  }
}

package provspark.families.union;

import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.plan.Expressions;
import provspark.plan.Operator;
import static provspark.trees.Trees.*;

/** The `Operator` of unions. Raw types, for Janino. */
public class UnionOperator extends Operator {
  public boolean repeats() {
    return true;
  }

  public boolean renews(LogicalPlan plan) {
    return true;
  }

  public void tell(LogicalPlan plan, Expressions to, List sides) {
    List output = list(plan.output());
    List children = list(plan.children());
    for (int i = 0; i < children.size(); i++) {
      List columns = list(((LogicalPlan) children.get(i)).output());
      for (int j = 0; j < columns.size(); j++) {
        to.branch("child", i, (Expression) columns.get(j), (Map) sides.get(i), (Attribute) output.get(j));
      }
    }
  }
}

package provspark.families.union;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.LongType$;
import provspark.plan.Rewrite;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/** Rewrites unions. Raw types, for Janino. */
public class UnionCapture {
  private final Rewrite rewrite;

  public UnionCapture(Rewrite rewrite) {
    this.rewrite = rewrite;
  }

  /**
   * Unites branches (their numbers, separated by spaces); the provenance columns of each are null in the rows of
   * others.
   */
  public int union(int node, String branches) {
    String[] numbers = branches.split(" ");
    LogicalPlan union = rewrite.node(node);
    List outputs = list(union.children());
    List children = new ArrayList();
    int width = 0;
    for (int i = 0; i < numbers.length; i++) {
      List columns = list(((LogicalPlan) outputs.get(i)).output());
      width = 0;
      for (int j = 0; j < numbers.length; j++) {
        List side = rewrite.provenance(Integer.parseInt(numbers[j]));
        width += side.size();
        for (int k = 0; k < side.size(); k++) {
          columns.add(alias(i == j ? (Expression) side.get(k) : new Literal(null, LongType$.MODULE$), "__leg"));
        }
      }
      children.add(projection(columns, rewrite.plan(Integer.parseInt(numbers[i]))));
    }
    LogicalPlan made = withChildren(union, children);
    List all = list(made.output());
    return rewrite.traced(made, new ArrayList(all.subList(all.size() - width, all.size())));
  }
}

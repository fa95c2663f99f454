package provspark.families.generate;

import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ReplicateRows;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.plan.Expressions;
import provspark.plan.Integrity;
import provspark.plan.Nodes;
import provspark.plan.Operator;
import static provspark.trees.Trees.*;

/** The `Operator` of generators such as explode. Raw types, for Janino. */
public class GenerateOperator extends Operator {
  /** Returns the class of the generator. */
  public String detail(LogicalPlan plan, Nodes nodes) {
    return ((Generate) plan).generator().getClass().getSimpleName();
  }

  /**
   * A column that the generator reads may be missing unnoticed, because an output column has its id; so this checks the
   * input alone. ReplicateRows passes its input's columns on under their ids.
   */
  public String broken(LogicalPlan plan, Set below) {
    Expression generator = (Expression) ((Generate) plan).generator();
    AttributeSet missing = generator.references().$minus$minus((scala.collection.Iterable) plan.inputSet());
    if (missing.nonEmpty()) return Integrity.lacks(missing);
    return generator instanceof ReplicateRows ? "" : super.broken(plan, below);
  }

  public List called(LogicalPlan plan) {
    return one(((Generate) plan).generator());
  }

  public void tell(LogicalPlan plan, Expressions to, List sides) {
    Generate g = (Generate) plan;
    StringBuilder made = new StringBuilder();
    List columns = list(g.generatorOutput());
    for (int i = 0; i < columns.size(); i++) made.append(i == 0 ? "" : " ").append(to.id((Attribute) columns.get(i)));
    to.detail("outer", String.valueOf(g.outer()));
    to.detail("columns", made.toString());
    to.one("generator", (Expression) g.generator());
  }
}

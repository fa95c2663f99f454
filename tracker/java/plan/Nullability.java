package provspark.plan;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.KnownNotNull;
import org.apache.spark.sql.catalyst.expressions.KnownNullable;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/**
 * Keeps columns nullable where the user's are, because files store it in their schema. For some operators Spark's
 * optimizer infers something else from a rewritten plan than from the user's (`Operator.forgets`). Raw types, for
 * Janino.
 */
public class Nullability {
  private final Operators operators;

  public Nullability(Operators operators) {
    this.operators = operators;
  }

  /** Whether the user's plan has such an operator, or a scalar subquery, which Spark may know to return a row. */
  public boolean open(LogicalPlan plan) {
    if (operators.of(plan).forgets(plan)) return true;
    if (hold(plan.expressions(), ScalarSubquery.class)) return true;
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) if (open((LogicalPlan) inside.get(i))) return true;
    return false;
  }

  /**
   * Returns the plan with columns that may be null where the user's may; ours: the same plan, in the same phase as the
   * user's.
   */
  public LogicalPlan alike(LogicalPlan plan, LogicalPlan ours, LogicalPlan users) {
    List columns = list(plan.output());
    List made = list(ours.output());
    List wanted = list(users.output());
    boolean differ = false;
    for (int i = 0; i < wanted.size(); i++) {
      boolean nullable = ((Expression) wanted.get(i)).nullable();
      if (nullable == ((Expression) made.get(i)).nullable()) continue;
      differ = true;
      Attribute a = (Attribute) columns.get(i);
      Expression known = nullable ? (Expression) new KnownNullable(a) : (Expression) new KnownNotNull(a);
      scala.collection.immutable.Seq nil = seq(new ArrayList());
      columns.set(i, new Alias(known, a.name(), NamedExpression.newExprId(), nil, scala.Option.apply(a.metadata()), nil));
    }
    return differ ? projection(columns, plan) : plan;
  }
}

package provspark.families.join;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.InSubquery;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.BooleanType$;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/**
 * Finds uses of IN with a subquery that depend on nulls. A null can make the result of IN null. Spark's optimizer turns
 * IN into a join that returns false instead, but NOT IN into one that respects nulls, and simplifies expressions
 * before: NOT (a IN (...) OR b) becomes a NOT IN (...) AND NOT b. Our plans make the join first, so what is above IN
 * must not distinguish false from null. Raw types, for Janino.
 */
public class Unknowns {
  /** Whether some IN is a value instead of a condition. */
  private boolean value = false;

  public Unknowns() {}

  /**
   * Returns the SQL of an expression of an analysed plan whose result depends on when Spark turns its IN into a join;
   * or "".
   */
  public String dependent(LogicalPlan plan) throws Exception {
    LogicalPlan p = withoutCtes(plan);
    value = false;
    String found = found(p, false);
    return found.length() > 0 || !value ? found : found(p, true);
  }

  /** columns: whether boolean columns count as IN, because a projection below may have made them from one. */
  private String found(LogicalPlan plan, boolean columns) {
    boolean condition = plan instanceof Filter || plan instanceof Join;
    Iterator expressions = list(plan.expressions()).iterator();
    while (expressions.hasNext()) {
      Expression e = (Expression) expressions.next();
      if (!condition && holds(e, false)) value = true;
      Expression wrong = negated(e, columns);
      if (wrong != null) return wrong.sql();
    }
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) {
      String more = found((LogicalPlan) inside.get(i), columns);
      if (more.length() > 0) return more;
    }
    return "";
  }

  private static Expression negated(Expression e, boolean columns) {
    boolean tells = e instanceof BinaryComparison || e instanceof Not && !(((Not) e).child() instanceof InSubquery);
    Iterator children = list(e.children()).iterator();
    while (children.hasNext()) {
      Expression child = (Expression) children.next();
      if (tells && holds(child, columns)) return e;
      Expression wrong = negated(child, columns);
      if (wrong != null) return wrong;
    }
    return null;
  }

  private static boolean holds(Expression e, boolean columns) {
    if (e instanceof InSubquery) return e.nullable();
    if (columns && e instanceof AttributeReference && e.dataType() == BooleanType$.MODULE$) return true;
    Iterator children = list(e.children()).iterator();
    while (children.hasNext()) if (holds((Expression) children.next(), columns)) return true;
    return false;
  }
}

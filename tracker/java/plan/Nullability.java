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
import org.apache.spark.sql.catalyst.plans.FullOuter$;
import org.apache.spark.sql.catalyst.plans.LeftOuter$;
import org.apache.spark.sql.catalyst.plans.RightOuter$;
import org.apache.spark.sql.catalyst.plans.logical.Except;
import org.apache.spark.sql.catalyst.plans.logical.Intersect;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/**
 * Whether columns may be null, as the file's schema tells. Spark's optimizer simplifies expressions by what it knows of an
 * INTERSECT's or EXCEPT's columns and forgets it when it rewrites those nodes; in our plans they are rewritten before. And it
 * makes an outer join an inner one for a filter above, which it can't push past our taps. Raw types, for Janino.
 */
public class Nullability {
  private static final List OUTER = java.util.Arrays.asList(new Object[] {LeftOuter$.MODULE$, RightOuter$.MODULE$, FullOuter$.MODULE$});

  public Nullability() {}

  /** Whether the user's plan has a node of these kinds, or a scalar subquery, of which Spark may know that it has a row. */
  public boolean open(LogicalPlan users) {
    return has(users, Intersect.class) || has(users, Except.class) || outer(users);
  }

  private static boolean outer(LogicalPlan plan) {
    if (plan instanceof Join && OUTER.contains(((Join) plan).joinType())) return true;
    if (hold(plan.expressions(), ScalarSubquery.class)) return true;
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) if (outer((LogicalPlan) inside.get(i))) return true;
    return false;
  }

  /** The plan with columns that may be null where the user's may; ours: the same plan, as far on its way as the user's. */
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

package provspark.plan;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.UserDefinedExpression;
import org.apache.spark.sql.catalyst.plans.ExistenceJoin;
import org.apache.spark.sql.catalyst.plans.LeftSemi$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import provspark.taps.Keys;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/**
 * Keeps the user's functions in keys from being called more often than in plain Spark. Spark assumes that a function is
 * deterministic unless it is declared otherwise, and would call it again wherever a tap, or a filter that Spark infers,
 * reads the key. If it is not deterministic, each call returns another value; and a script may count calls. So
 * functions in keys are declared nondeterministic here, and Spark calls them once. Raw types, for Janino.
 */
public class Calls {
  private static final String DECLARED = "udfDeterministic";

  private Calls() {}

  /** Returns the plan, in which functions that compute these keys, in projections directly below, are called once. */
  public static LogicalPlan once(LogicalPlan plan, List keys) {
    if (!(plan instanceof Filter) && !(plan instanceof Project)) return plan;
    LogicalPlan child = (LogicalPlan) plan.children().head();
    if (plan instanceof Filter) return over(plan, child, once(child, keys));
    List references = new ArrayList();
    for (int i = 0; i < keys.size(); i++) references.add(((Expression) keys.get(i)).references());
    AttributeSet read = AttributeSet.fromAttributeSets(seq(references));
    List columns = list(((Project) plan).projectList());
    List below = new ArrayList();
    boolean same = true;
    for (int i = 0; i < columns.size(); i++) {
      NamedExpression column = (NamedExpression) columns.get(i);
      if (!read.contains(column.toAttribute())) continue;
      below.add(column);
      columns.set(i, declared((Expression) column));
      same &= columns.get(i) == column;
    }
    LogicalPlan made = once(child, below);
    return same ? over(plan, child, made) : projection(columns, made);
  }

  private static LogicalPlan over(LogicalPlan plan, LogicalPlan before, LogicalPlan child) {
    return child == before ? plan : withChildren(plan, one(child));
  }

  private static Expression declared(Expression e) {
    if (!hold(seq(one(e)), UserDefinedExpression.class)) return e;
    List children = list(e.children());
    for (int i = 0; i < children.size(); i++) children.set(i, declared((Expression) children.get(i)));
    Expression made = (Expression) e.withNewChildren(seq(children));
    if (!(made instanceof UserDefinedExpression)) return made;
    List values = values((scala.Product) made);
    for (int i = 0; i < values.size(); i++) if (made.productElementName(i).equals(DECLARED)) values.set(i, Boolean.FALSE);
    return (Expression) made.makeCopy(values.toArray());
  }

  /**
   * Does the same for the keys of all joins that a tap reads: keys of semi-joins and existence joins become columns.
   */
  public static LogicalPlan once(LogicalPlan plan) {
    List children = list(plan.children());
    boolean same = true;
    for (int i = 0; i < children.size(); i++) {
      LogicalPlan child = (LogicalPlan) children.get(i);
      children.set(i, once(child));
      same &= children.get(i) == child;
    }
    LogicalPlan p = same ? plan : withChildren(plan, children);
    return p instanceof Join ? joined((Join) p) : p;
  }

  private static LogicalPlan joined(Join join) {
    boolean tapped = join.joinType() instanceof ExistenceJoin || join.joinType() == LeftSemi$.MODULE$;
    if (!tapped || !join.condition().isDefined()) return join;
    LogicalPlan[] sides = {(LogicalPlan) join.left(), (LogicalPlan) join.right()};
    List[] columns = {list(sides[0].output()), list(sides[1].output())};
    List all = new ArrayList();
    Keys.split((Expression) join.condition().get(), all);
    Expression condition = null;
    List read = new ArrayList();
    for (int i = 0; i < all.size(); i++) {
      Expression e = (Expression) all.get(i);
      if (e instanceof EqualTo || e instanceof EqualNullSafe) {
        List keys = list(e.children());
        for (int j = 0; j < 2; j++) keys.set(j, column((Expression) keys.get(j), sides, columns));
        e = (Expression) e.withNewChildren(seq(keys));
        read.addAll(keys);
      }
      condition = condition == null ? e : new And(condition, e);
    }
    boolean same = true;
    for (int i = 0; i < 2; i++) {
      LogicalPlan before = sides[i];
      if (columns[i].size() > list(before.output()).size()) sides[i] = projection(columns[i], before);
      sides[i] = once(sides[i], read);
      same &= sides[i] == before;
    }
    if (same) return join;
    List values = values((scala.Product) join);
    values.set(0, sides[0]);
    values.set(1, sides[1]);
    values.set(3, new scala.Some(condition));
    return projection(list(join.output()), (LogicalPlan) join.makeCopy(values.toArray()));
  }

  /** Turns a key that calls such a function into a column of its side. */
  private static Expression column(Expression key, LogicalPlan[] sides, List[] columns) {
    if (!hold(seq(one(key)), UserDefinedExpression.class)) return key;
    for (int i = 0; i < 2; i++) {
      if (!key.references().subsetOf(sides[i].outputSet())) continue;
      Alias made = alias(key, "__called");
      columns[i].add(made);
      return made.toAttribute();
    }
    return key;
  }
}

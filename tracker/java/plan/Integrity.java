package provspark.plan;

import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlanIntegrity$;
import org.apache.spark.sql.types.DataType;
import static provspark.trees.Trees.*;

/**
 * Checks that a rewritten plan is well formed before it replaces the user's. Spark's optimizer moves predicates by the
 * ids of columns, so a node that gives one id two meanings would make the plan return other rows. Raw types, for
 * Janino.
 */
public class Integrity {
  private final Operators operators;

  public Integrity(Operators operators) {
    this.operators = operators;
  }

  /** Returns what is wrong with a plan that replaces the user's, whose columns must be its first; "" if nothing is. */
  public String broken(LogicalPlan plan, LogicalPlan users) {
    List wanted = list(users.output());
    List made = list(plan.output());
    if (made.size() < wanted.size()) return "it has " + made.size() + " columns instead of " + wanted.size();
    for (int i = 0; i < wanted.size(); i++) {
      Attribute a = (Attribute) wanted.get(i);
      Attribute b = (Attribute) made.get(i);
      boolean same = a.name().equals(b.name()) && DataType.equalsIgnoreNullability(a.dataType(), b.dataType());
      if (!same) return "column " + i + " is " + b.sql() + " " + b.dataType().sql() + " instead of " + a.sql() + " " + a.dataType().sql();
    }
    scala.Option found = LogicalPlanIntegrity$.MODULE$.validateExprIdUniqueness(plan);
    return found.isEmpty() ? nodes(plan) : ((String) found.get()).split("\n")[0];
  }

  private String nodes(LogicalPlan plan) {
    String wrong = node(plan);
    if (wrong.length() > 0) return plan.nodeName() + " " + wrong;
    Iterator it = list(plan.children()).iterator();
    while (it.hasNext()) {
      wrong = nodes((LogicalPlan) it.next());
      if (wrong.length() > 0) return wrong;
    }
    it = list(plan.subqueries()).iterator();
    while (it.hasNext()) {
      wrong = nodes((LogicalPlan) it.next());
      if (wrong.length() > 0) return wrong;
    }
    return "";
  }

  public static String lacks(AttributeSet missing) {
    return "reads columns that its input lacks: " + missing.toSeq().mkString(", ");
  }

  private String node(LogicalPlan plan) {
    Operator operator = operators.of(plan);
    if (!plan.resolved()) return "is not resolved";
    if (plan.children().nonEmpty() && plan.missingInput().nonEmpty()) return lacks(plan.missingInput());
    Set below = new HashSet();
    Iterator children = list(plan.children()).iterator();
    while (children.hasNext()) {
      Set side = new HashSet();
      Iterator it = list(((LogicalPlan) children.next()).output()).iterator();
      while (it.hasNext()) side.add(((Attribute) it.next()).exprId());
      if (!operator.repeats() && !java.util.Collections.disjoint(below, side)) return "has two sides that share a column id";
      below.addAll(side);
    }
    return operator.broken(plan, below);
  }

  /** Returns an error if a node gives the id of a column below it to another one that it makes; "" otherwise. */
  public static String produced(LogicalPlan plan, Set below) {
    Iterator it = list(plan.producedAttributes().toSeq()).iterator();
    while (it.hasNext()) {
      Attribute a = (Attribute) it.next();
      if (below.contains(a.exprId())) return "gives the id of its input's column " + a + " to another value";
    }
    return "";
  }

  /** Does the same for the columns that the node's expressions make. */
  public static String aliased(LogicalPlan plan, Set below) {
    Iterator it = list(plan.expressions()).iterator();
    while (it.hasNext()) {
      Object e = it.next();
      if (e instanceof Alias && below.contains(((Alias) e).exprId()) && !passes(((Alias) e).child(), ((Alias) e).exprId())) {
        return "gives the id of its input's column to " + e;
      }
    }
    return "";
  }

  /** Whether an expression is just the column with an id. */
  public static boolean passes(Expression e, Object id) {
    return e instanceof Attribute && ((Attribute) e).exprId().equals(id);
  }
}

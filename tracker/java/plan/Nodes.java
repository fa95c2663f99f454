package provspark.plan;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.trees.Marks;
import static provspark.trees.Trees.*;

/** Nodes of the plans of one write, by number. Raw types, for Janino. */
public class Nodes {
  private final List nodes = new ArrayList();
  private final Map numbers = new HashMap();
  private final Set kept = new HashSet();
  private final String chosen;
  private final Operators operators;

  /** chosen: name of the mark of a correlated limit. */
  public Nodes(String chosen, Operators operators) {
    this.chosen = chosen;
    this.operators = operators;
  }

  /** Adds the ids of columns with values of rows that dropDuplicates kept; see Normal. */
  public void keeping(Set ids) {
    kept.addAll(ids);
  }

  /**
   * Adds the nodes of a plan in pre-order. Returns a line for each: its number, the number of the first node like it,
   * its class, how many children and subqueries it has, its number as a leaf, and a detail.
   */
  public String read(LogicalPlan plan) {
    StringBuilder text = new StringBuilder();
    visit(plan, text);
    return text.toString();
  }

  private void visit(LogicalPlan plan, StringBuilder text) {
    List children = list(plan.children());
    String detail = operators.of(plan).detail(plan, this);
    text.append(nodes.size()).append(' ').append(first(plan)).append(' ');
    text.append(plan.getClass().getSimpleName()).append(' ');
    text.append(children.size()).append(' ').append(plan.subqueries().size()).append(' ').append(Marks.leaf(plan)).append(' ').append(detail).append('\n');
    nodes.add(plan);
    for (int i = 0; i < children.size(); i++) visit((LogicalPlan) children.get(i), text);
  }

  /** Returns the number of the first node like this one; a new number if there is none, or if two runs may differ. */
  private int first(LogicalPlan plan) {
    if (plan.children().isEmpty() || !plan.deterministic() || picks(plan)) return nodes.size();
    Object before = numbers.get(plan.canonicalized());
    if (before == null) numbers.put(plan.canonicalized(), Integer.valueOf(nodes.size()));
    return before == null ? nodes.size() : ((Integer) before).intValue();
  }

  /** Whether the order of the input may decide which rows come out. */
  private boolean picks(LogicalPlan plan) {
    if (operators.of(plan).picks(plan, this)) return true;
    List children = list(plan.children());
    for (int i = 0; i < children.size(); i++) if (picks((LogicalPlan) children.get(i))) return true;
    return false;
  }

  /** Whether a column has values of rows that dropDuplicates kept. */
  public boolean keeps(ExprId id) {
    return kept.contains(id);
  }

  /** Whether an alias marks a correlated limit. */
  public boolean chosen(String alias) {
    return alias.equals(chosen);
  }

  public LogicalPlan get(int i) {
    return (LogicalPlan) nodes.get(i);
  }

  /** Whether a boolean column is used other than by its negation. */
  public boolean asserts(ExprId id) {
    for (int i = 0; i < nodes.size(); i++) {
      List all = list(get(i).expressions());
      for (int j = 0; j < all.size(); j++) if (asserts((Expression) all.get(j), id)) return true;
    }
    return false;
  }

  private static boolean asserts(Expression e, ExprId id) {
    if (e instanceof Attribute) return ((Attribute) e).exprId().equals(id);
    if (e instanceof Not && ((Not) e).child() instanceof Attribute) return false;
    List children = list(e.children());
    for (int i = 0; i < children.size(); i++) if (asserts((Expression) children.get(i), id)) return true;
    return false;
  }
}

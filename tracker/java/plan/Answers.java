package provspark.plan;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.sources.AddressedRelation;
import static provspark.trees.Trees.*;

/**
 * Scalar subqueries of one write, by id, and the traced plans that compute them instead of their own. Raw types, for
 * Janino.
 */
public class Answers {
  private final Map subqueries = new HashMap();
  private final Map plans = new LinkedHashMap();

  /**
   * Returns the ids of the scalar subqueries in a node's expressions, one a line, each once; the class of other
   * subqueries.
   */
  public String scalars(LogicalPlan node) {
    Set found = new LinkedHashSet();
    List all = list(node.expressions());
    for (int i = 0; i < all.size(); i++) find((Expression) all.get(i), found);
    StringBuilder text = new StringBuilder();
    Iterator it = found.iterator();
    while (it.hasNext()) text.append(it.next()).append('\n');
    return text.toString();
  }

  private void find(Expression e, Set found) {
    if (e instanceof ScalarSubquery && ((ScalarSubquery) e).outerAttrs().isEmpty()) {
      Long id = Long.valueOf(((ScalarSubquery) e).exprId().id());
      subqueries.put(id, e);
      found.add(id.toString());
    } else if (e instanceof SubqueryExpression) {
      found.add(e.getClass().getSimpleName());
    }
    List children = list(e.children());
    for (int i = 0; i < children.size(); i++) find((Expression) children.get(i), found);
  }

  public LogicalPlan subquery(long id) {
    return (LogicalPlan) ((ScalarSubquery) subqueries.get(Long.valueOf(id))).plan();
  }

  /** Returns the first subquery that already has a plan and has the same rows as this one, or -1. */
  public long alike(long id) {
    Iterator it = plans.keySet().iterator();
    while (it.hasNext()) {
      Long other = (Long) it.next();
      if (subquery(other.longValue()).sameResult(subquery(id))) return other.longValue();
    }
    return -1L;
  }

  public void put(long id, LogicalPlan plan) throws Exception {
    plans.put(Long.valueOf(id), AddressedRelation.estimated(substituted(plan)));
  }

  /** Makes a subquery use the plan of another one. */
  public void share(long id, long other) {
    plans.put(Long.valueOf(id), plans.get(Long.valueOf(other)));
  }

  /**
   * Returns a plan in which traced plans compute the subqueries. A tap in a subquery makes it look nondeterministic,
   * which Spark's analyser would refuse in a join or an aggregate, although its rows are always the same; so the plan
   * is marked as analysed.
   */
  public LogicalPlan in(LogicalPlan plan) throws Exception {
    LogicalPlan made = AddressedRelation.estimated(plan);
    if (plans.isEmpty()) return made;
    made = substituted(made);
    made.setAnalyzed();
    return made;
  }

  /**
   * Prepares the whole plan in the same way. Each reading of a relation gets columns of its own, as Spark's analyser
   * would do: it would create such nodes anew, and then check them.
   */
  public LogicalPlan checked(LogicalPlan plan) throws Exception {
    if (plans.isEmpty()) return plan;
    LogicalPlan made = byRule(ANALYSER + "DeduplicateRelations", plan);
    made.setAnalyzed();
    return made;
  }

  private LogicalPlan substituted(LogicalPlan plan) {
    return (LogicalPlan) plan.transformAllExpressions(new Substitution(plans));
  }

  static class Substitution extends scala.runtime.AbstractPartialFunction {
    private final Map plans;

    Substitution(Map plans) {
      this.plans = plans;
    }

    public boolean isDefinedAt(Object e) {
      return e instanceof ScalarSubquery && plans.containsKey(Long.valueOf(((ScalarSubquery) e).exprId().id()));
    }

    public Object applyOrElse(Object e, scala.Function1 otherwise) {
      if (!isDefinedAt(e)) return otherwise.apply(e);
      ScalarSubquery s = (ScalarSubquery) e;
      return s.withNewPlan((LogicalPlan) plans.get(Long.valueOf(s.exprId().id())));
    }
  }
}

package provspark.plan;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Exists;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.InSubquery;
import org.apache.spark.sql.catalyst.expressions.ListQuery;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.UserDefinedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias$;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import provspark.taps.Keys;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/**
 * Adds the filters by subqueries that Spark would infer. Where a.k = b.k and a.k IN (subquery), Spark filters b by the
 * subquery too, below its aggregates, so that they make few groups. Past taps it can't, so this is done first, by
 * Spark's own rules. The subqueries that it adds are marked: the user did not write them, and they leave no edges. Each
 * runs once more than the user's, so it must return the same rows each time: it may read files, with filters, joins and
 * distinct values. Raw types, for Janino.
 */
public class Inferred {
  private static final int ROUNDS = 10;

  private Inferred() {}

  /**
   * Returns the plan itself if there is nothing to infer. context: the mark that a filter may pass; mark: for inferred
   * subqueries.
   */
  public static LogicalPlan into(LogicalPlan plan, String context, String mark) throws Exception {
    if (predicates(plan, new ArrayList()).isEmpty()) return plan;
    LogicalPlan before = pushed(plan, context);
    List known = conjuncts(before, new ArrayList());
    List written = predicates(before, new ArrayList());
    LogicalPlan more = chosen(byRule(OPTIMIZER + "InferFiltersFromConstraints", before), known);
    if (predicates(more, new ArrayList()).size() == written.size()) return plan;
    return (LogicalPlan) pushed(more, context).transformAllExpressions(new Marking(written, mark));
  }

  /** Marks the subqueries of predicates that the user did not write. */
  static class Marking extends scala.runtime.AbstractPartialFunction {
    private final List written;
    private final String mark;

    Marking(List written, String mark) {
      this.written = written;
      this.mark = mark;
    }

    public boolean isDefinedAt(Object e) {
      return predicate((Expression) e) && !among((Expression) e, written);
    }

    public Object applyOrElse(Object e, scala.Function1 otherwise) {
      if (!isDefinedAt(e)) return otherwise.apply(e);
      if (e instanceof Exists) return marked((Exists) e);
      InSubquery in = (InSubquery) e;
      return new InSubquery(in.values(), (ListQuery) marked(in.query()));
    }

    private Object marked(SubqueryExpression s) {
      return s.withNewPlan(SubqueryAlias$.MODULE$.apply(mark, (LogicalPlan) s.plan()));
    }
  }

  private static LogicalPlan pushed(LogicalPlan plan, String context) throws Exception {
    LogicalPlan p = plan;
    LogicalPlan before = null;
    for (int i = 0; i < ROUNDS && !p.fastEquals(before); i++) {
      before = p;
      p = byRule(OPTIMIZER + "PushDownPredicates", passed(p, context));
    }
    return p;
  }

  /** Moves filters below the aliases that mark context. */
  private static LogicalPlan passed(LogicalPlan plan, String context) {
    LogicalPlan p = plan;
    if (p instanceof Filter && ((Filter) p).child() instanceof SubqueryAlias) {
      SubqueryAlias alias = (SubqueryAlias) ((Filter) p).child();
      if (alias.alias().equals(context)) p = withChildren(alias, one(withChildren(p, list(alias.children()))));
    }
    List children = list(p.children());
    for (int i = 0; i < children.size(); i++) children.set(i, passed((LogicalPlan) children.get(i), context));
    return withChildren(p, children);
  }

  /**
   * Keeps the conjuncts of filters that are known or only test subqueries for existence: Spark infers the others later.
   */
  private static LogicalPlan chosen(LogicalPlan plan, List known) {
    List children = list(plan.children());
    for (int i = 0; i < children.size(); i++) children.set(i, chosen((LogicalPlan) children.get(i), known));
    LogicalPlan p = withChildren(plan, children);
    if (!(p instanceof Filter)) return p;
    List all = new ArrayList();
    Keys.split(((Filter) p).condition(), all);
    Expression condition = null;
    for (int i = 0; i < all.size(); i++) {
      Expression each = (Expression) all.get(i);
      if (!among(each, known) && !alone(each)) continue;
      condition = condition == null ? each : new And(condition, each);
    }
    return condition == null ? (LogicalPlan) children.get(0) : filtered(condition, (LogicalPlan) children.get(0));
  }

  /** Whether an expression has subqueries, and tests all of them for existence. */
  private static boolean alone(Expression e) {
    return !predicates(e, new ArrayList()).isEmpty() && only(e);
  }

  private static boolean only(Expression e) {
    if (predicate(e)) return steady(asked(e));
    if (e instanceof SubqueryExpression) return false;
    Iterator it = list(e.children()).iterator();
    while (it.hasNext()) if (!only((Expression) it.next())) return false;
    return true;
  }

  private static LogicalPlan asked(Expression e) {
    return (LogicalPlan) (e instanceof Exists ? ((Exists) e).plan() : ((InSubquery) e).query().plan());
  }

  private static boolean steady(LogicalPlan plan) {
    boolean known = plan instanceof Project || plan instanceof Filter || plan instanceof Join || plan instanceof Union
        || plan instanceof SubqueryAlias || (plan instanceof Aggregate && distinct((Aggregate) plan))
        || (plan instanceof LogicalRelation && ((LogicalRelation) plan).relation() instanceof HadoopFsRelation);
    if (!known || !plan.deterministic() || plan.subqueries().nonEmpty()) return false;
    if (hold(plan.expressions(), UserDefinedExpression.class)) return false;
    Iterator it = list(plan.children()).iterator();
    while (it.hasNext()) if (!steady((LogicalPlan) it.next())) return false;
    return true;
  }

  private static boolean distinct(Aggregate plan) {
    Iterator it = list(plan.aggregateExpressions()).iterator();
    while (it.hasNext()) if (!(it.next() instanceof Attribute)) return false;
    return true;
  }

  private static boolean predicate(Expression e) {
    return e instanceof InSubquery || e instanceof Exists;
  }

  private static boolean among(Expression e, List some) {
    for (int i = 0; i < some.size(); i++) if (((Expression) some.get(i)).semanticEquals(e)) return true;
    return false;
  }

  private static List conjuncts(LogicalPlan plan, List out) {
    if (plan instanceof Filter) Keys.split(((Filter) plan).condition(), out);
    Iterator it = list(plan.children()).iterator();
    while (it.hasNext()) conjuncts((LogicalPlan) it.next(), out);
    return out;
  }

  private static List predicates(LogicalPlan plan, List out) {
    Iterator it = list(plan.expressions()).iterator();
    while (it.hasNext()) predicates((Expression) it.next(), out);
    it = list(plan.children()).iterator();
    while (it.hasNext()) predicates((LogicalPlan) it.next(), out);
    return out;
  }

  private static List predicates(Expression e, List out) {
    if (predicate(e)) {
      out.add(e);
      return out;
    }
    Iterator it = list(e.children()).iterator();
    while (it.hasNext()) predicates((Expression) it.next(), out);
    return out;
  }
}

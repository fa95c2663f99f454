package provspark.plan;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Exists;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.First;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.CollectMetrics;
import org.apache.spark.sql.catalyst.plans.logical.DomainJoin;
import org.apache.spark.sql.catalyst.plans.logical.Except;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LateralJoin;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias$;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.catalyst.plans.logical.WithCTE;
import provspark.trees.Marks;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/**
 * Reduces an analysed plan to the node kinds that the rewrite rules know, by Spark's own rules. Subqueries come first,
 * each as a plan of its own, because Spark's rules look at one plan at a time. Where a rule would hide what kind of
 * edge a side leaves, an alias marks that side; aliases of the user's own are gone by then. Raw types, for Janino.
 */
public class Normal {
  /** Names of the marks. */
  private final String context;
  private final String unseen;
  private final String domain;
  private final String chosen;

  /** Ids of columns with values of outer rows. */
  private final List domains = new ArrayList();

  /** Ids of columns with values of rows that dropDuplicates kept. */
  private final Set kept = new HashSet();

  /**
   * Whether to infer filters, whether some were inferred, and the leaf numbers in the order without them, separated by
   * spaces.
   */
  private boolean inferring = true;
  private boolean inferred = false;
  private String order = "";

  /** The kind of node for which there is no plan; "" if there is a plan. */
  private String refused = "";

  /** The leaves of the last level before filters were pushed down. */
  private List unpushed = null;

  public Normal(String context, String unseen, String domain, String chosen) {
    this.context = context;
    this.unseen = unseen;
    this.domain = domain;
    this.chosen = chosen;
  }

  /**
   * Returns the normalised plan; null if it is refused, see `refused`. clean: rules that are applied first, to the plan
   * and all subqueries in it; rules: for each level. Both are names, one a line.
   */
  public LogicalPlan apply(LogicalPlan plan, String clean, String rules) throws Exception {
    LogicalPlan p = withoutCtes(plan);
    refused = has(p, WithCTE.class) ? "WithCTE" : "";
    if (refused.length() > 0) return null;
    p = new Cleaning(clean.split("\n")).clean(p);
    refused = missed(p) ? "CollectMetrics" : "";
    if (refused.length() > 0) return null;
    LogicalPlan made = level(p, rules.split("\n"));
    if (!inferred) return told(made);
    // Inputs are numbered in the user's order, which only the plan without inferred filters has. The two plans differ in ids,
    // so leaves are matched by their numbers (Marks.leaf); if these are ambiguous, the inferred filters are dropped.
    inferring = false;
    domains.clear(); // the ids are new; `kept` has ids of the other plan too, which no node of this one has
    LogicalPlan without = level(p, rules.split("\n"));
    List leaves = Marks.leaves(without, domain);
    if (leaves == null || !Marks.alike(leaves, Marks.leaves(made, domain))) return told(without);
    order = text(leaves);
    return made;
  }

  /**
   * Returns the plan. A filter with a subquery that was pushed into branches is read before some of them, but counts as
   * after; this sets `order` accordingly.
   */
  private LogicalPlan told(LogicalPlan plan) {
    List now = unpushed == null ? null : Marks.read(plan, domain);
    if (now != null && !now.equals(unpushed) && Marks.alike(unpushed, now)) order = text(unpushed);
    return plan;
  }

  /**
   * Returns why `apply` returned null: `CollectMetrics` if rows would be missed, `WithCTE` if each reader would get
   * other rows.
   */
  public String refused() {
    return refused;
  }

  private static String text(List numbers) {
    return numbers.toString().replaceAll("[\\[\\],]", "");
  }

  /** Returns the leaves in the user's order if inferred or pushed filters have changed it; "" otherwise. */
  public String order() {
    return order;
  }

  /**
   * Whether an uncorrelated EXISTS and an observe() are in one plan. Normalising turns the EXISTS into a join, with
   * which Spark may skip rows that would reach the observe() in a plan of its own, or the other way around.
   */
  private static boolean missed(LogicalPlan plan) {
    if (any(plan.expressions()) && has(plan, CollectMetrics.class)) return true;
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) if (missed((LogicalPlan) inside.get(i))) return true;
    return false;
  }

  private static boolean any(scala.collection.Seq expressions) {
    Iterator it = list(expressions).iterator();
    while (it.hasNext()) {
      Expression e = (Expression) it.next();
      if (e instanceof Exists && ((Exists) e).outerAttrs().isEmpty() || any(e.children())) return true;
    }
    return false;
  }

  private LogicalPlan level(LogicalPlan plan, String[] rules) throws Exception {
    // Unused values first: as joins they would leave edges. Then the two rules of Spark's batch "Pullup Correlated
    // Expressions", in its order. The second turns correlated LIMITs into windows, so the user's are collected first.
    LogicalPlan used = byRule(OPTIMIZER + "OptimizeOneRowRelationSubquery", Unused.away(plan));
    List windows = new ArrayList();
    windows(used, windows);
    LogicalPlan p = byRule(OPTIMIZER + "PullupCorrelatedPredicates", used);
    // In all nodes of this level, but not in the plans of subqueries, which Levels visits itself.
    p = (LogicalPlan) p.transformAllExpressions(new Levels(this, rules, windows));
    p = exceptAll(kept(scalars(laterals(p)))); // `kept` before `rules`, which have the same rule of Spark
    if (inferring) p = inferred(p); // reads IN and EXISTS, which the next rule turns into joins
    // Only now is no DomainJoin left: the rules for lateral, scalar and predicate subqueries turn theirs into aggregates.
    p = domainsMarked(byRule(OPTIMIZER + "RewritePredicateSubquery", p));
    for (int i = 0; i < rules.length; i++) {
      // Levels comes first, so the leaves of the outermost level remain. Without this rule `told` changes no order.
      if (rules[i].endsWith("PushDownPredicates")) unpushed = Marks.read(p, domain);
      p = byRule(rules[i], p);
    }
    return Calls.once(p);
  }

  private LogicalPlan inferred(LogicalPlan plan) throws Exception {
    LogicalPlan more = Inferred.into(plan, context, domain);
    inferred |= more != plan;
    return more;
  }

  /** Applies rules to a plan and to every plan in its expressions. */
  static class Cleaning extends scala.runtime.AbstractPartialFunction {
    private final String[] rules;

    Cleaning(String[] rules) {
      this.rules = rules;
    }

    LogicalPlan clean(LogicalPlan plan) throws Exception {
      LogicalPlan p = plan;
      for (int i = 0; i < rules.length; i++) p = byRule(rules[i], p);
      return (LogicalPlan) p.transformAllExpressions(this);
    }

    public boolean isDefinedAt(Object e) {
      return e instanceof SubqueryExpression;
    }

    public Object applyOrElse(Object e, scala.Function1 otherwise) {
      if (!isDefinedAt(e)) return otherwise.apply(e);
      try {
        SubqueryExpression s = (SubqueryExpression) e;
        return s.withNewPlan(clean((LogicalPlan) s.plan()));
      } catch (Exception x) {
        throw new IllegalStateException(x.toString(), x);
      }
    }
  }

  /**
   * Normalises the subqueries of one level. An uncorrelated EXISTS is declared as correlated, so that it becomes a
   * join.
   */
  static class Levels extends scala.runtime.AbstractPartialFunction {
    private final Normal normal;
    private final String[] rules;
    private final List windows;

    /** windows: ids of the user's; see `limits`. */
    Levels(Normal normal, String[] rules, List windows) {
      this.normal = normal;
      this.rules = rules;
      this.windows = windows;
    }

    public boolean isDefinedAt(Object e) {
      return e instanceof SubqueryExpression;
    }

    public Object applyOrElse(Object e, scala.Function1 otherwise) {
      if (!isDefinedAt(e)) return otherwise.apply(e);
      try {
        SubqueryExpression s = (SubqueryExpression) e;
        normal.noteDomains((LogicalPlan) s.plan());
        Expression made = s.withNewPlan(normal.level(normal.limits((LogicalPlan) s.plan(), windows), rules));
        return made instanceof Exists && ((Exists) made).outerAttrs().isEmpty() ? correlated(made) : made;
      } catch (Exception x) {
        throw new IllegalStateException(x.toString(), x);
      }
    }

    /**
     * RewritePredicateSubquery rewrites an EXISTS only if it has outer attributes (SubqueryExpression.isCorrelated).
     */
    private static Expression correlated(Expression exists) {
      scala.collection.immutable.Seq always = seq(one(Literal$.MODULE$.apply(Boolean.TRUE)));
      List values = values((scala.Product) exists);
      for (int i = 0; i < values.size(); i++) {
        String name = exists.productElementName(i);
        if (name.equals("outerAttrs") || name.equals("joinCond")) values.set(i, always);
      }
      return (Expression) exists.makeCopy(values.toArray());
    }
  }

  // -- scalar subqueries

  /** Turns correlated scalar subqueries into left joins with a marked right side. */
  private LogicalPlan scalars(LogicalPlan plan) throws Exception {
    List values = new ArrayList();
    correlated(plan, values);
    if (values.isEmpty()) return plan;
    List found = new ArrayList();
    LogicalPlan made = marked(byRule(OPTIMIZER + "RewriteCorrelatedScalarSubquery", plan), values, found);
    for (int i = 0; i < values.size(); i++) {
      if (!found.contains(values.get(i))) throw new IllegalStateException("a correlated scalar subquery did not become a join");
    }
    return made;
  }

  /** Collects the ids of the values of all correlated scalar subqueries in a plan. */
  private static void correlated(LogicalPlan plan, List values) {
    Iterator expressions = list(plan.expressions()).iterator();
    while (expressions.hasNext()) correlated((Expression) expressions.next(), values);
    Iterator children = list(plan.children()).iterator();
    while (children.hasNext()) correlated((LogicalPlan) children.next(), values);
  }

  private static void correlated(Expression e, List values) {
    if (e instanceof ScalarSubquery && !((ScalarSubquery) e).outerAttrs().isEmpty()) {
      values.add(((Attribute) ((LogicalPlan) ((ScalarSubquery) e).plan()).output().head()).exprId());
    }
    Iterator it = list(e.children()).iterator();
    while (it.hasNext()) correlated((Expression) it.next(), values);
  }

  /**
   * Marks, from the top down, the first join whose right side has a subquery's value: Spark made it for that subquery.
   * The rule (constructLeftJoins) puts the subquery's plan there with its ids, even if it computes another value under
   * another id above the join, as for a count of no rows. Joins above that one have the value on their left.
   */
  private LogicalPlan marked(LogicalPlan plan, List values, List found) {
    if (plan instanceof Join) {
      Join join = (Join) plan;
      ExprId value = yielded((LogicalPlan) join.right(), values);
      if (value != null && yielded((LogicalPlan) join.left(), one(value)) == null) {
        found.add(value);
        List rest = new ArrayList(values);
        rest.remove(value);
        List sides = new ArrayList();
        sides.add(marked((LogicalPlan) join.left(), values, found));
        sides.add(marked(context, marked((LogicalPlan) join.right(), rest, found)));
        return (LogicalPlan) join.withNewChildren(seq(sides));
      }
    }
    List children = list(plan.children());
    for (int i = 0; i < children.size(); i++) {
      children.set(i, marked((LogicalPlan) children.get(i), values, found));
    }
    return (LogicalPlan) plan.withNewChildren(seq(children));
  }

  private static ExprId yielded(LogicalPlan plan, List values) {
    return yielded(plan.output(), values);
  }

  private static ExprId yielded(scala.collection.Seq attributes, List values) {
    Iterator it = list(attributes).iterator();
    while (it.hasNext()) {
      ExprId id = ((Attribute) it.next()).exprId();
      if (values.contains(id)) return id;
    }
    return null;
  }

  // -- correlated limits

  /** Collects the ids of all columns that windows compute, in the plan and in its subqueries. */
  private static void windows(LogicalPlan plan, List ids) {
    if (plan instanceof Window) ids.addAll(ids(((Window) plan).windowOutputSet().toSeq()));
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) windows((LogicalPlan) inside.get(i), ids);
  }

  /** Marks the windows by which Spark numbers rows for correlated LIMITs, and none of the user's. */
  private LogicalPlan limits(LogicalPlan plan, List windows) {
    List children = list(plan.children());
    for (int i = 0; i < children.size(); i++) children.set(i, limits((LogicalPlan) children.get(i), windows));
    LogicalPlan p = (LogicalPlan) plan.withNewChildren(seq(children));
    if (!(p instanceof Window)) return p;
    List ids = ids(((Window) p).windowOutputSet().toSeq());
    return java.util.Collections.disjoint(ids, windows) ? marked(chosen, p) : p;
  }

  // -- correlation without an equality

  /**
   * Records the ids of the outer rows' distinct values, with which Spark joins such a subquery and which are no rows of
   * its own.
   */
  private void noteDomains(LogicalPlan plan) {
    if (plan instanceof DomainJoin) domains.addAll(ids(((DomainJoin) plan).domainAttrs()));
    List children = list(plan.children());
    for (int i = 0; i < children.size(); i++) noteDomains((LogicalPlan) children.get(i));
  }

  /**
   * Marks these domains. Their ids are new (DecorrelateInnerQuery); an aggregate of the user's also outputs other
   * columns.
   */
  private LogicalPlan domainsMarked(LogicalPlan plan) {
    if (plan instanceof Aggregate && !plan.output().isEmpty() && domains.containsAll(ids(plan.output()))) {
      return marked(domain, plan);
    }
    List children = list(plan.children());
    for (int i = 0; i < children.size(); i++) children.set(i, domainsMarked((LogicalPlan) children.get(i)));
    return (LogicalPlan) plan.withNewChildren(seq(children));
  }

  // -- lateral joins

  private LogicalPlan laterals(LogicalPlan plan) throws Exception {
    List children = list(plan.children());
    for (int i = 0; i < children.size(); i++) children.set(i, laterals((LogicalPlan) children.get(i)));
    LogicalPlan p = (LogicalPlan) plan.withNewChildren(seq(children));
    if (!(p instanceof LateralJoin)) return p;
    LogicalPlan join = byRule(OPTIMIZER + "RewriteLateralSubquery", p);
    if (!(join instanceof Join)) throw new IllegalStateException("a lateral subquery did not become a join");
    return join;
  }

  // -- EXCEPT ALL

  /** Turns it into a count over a union with a marked second branch, which only reduces counts. */
  private LogicalPlan exceptAll(LogicalPlan plan) throws Exception {
    List children = list(plan.children());
    for (int i = 0; i < children.size(); i++) children.set(i, exceptAll((LogicalPlan) children.get(i)));
    LogicalPlan p = (LogicalPlan) plan.withNewChildren(seq(children));
    if (!(p instanceof Except) || !((Except) p).isAll()) return p;
    return branchMarked(byRule(OPTIMIZER + "RewriteExceptAll", p));
  }

  /**
   * Marks the result of RewriteExceptAll: first children lead to a union, whose second branch projects -1 over the
   * right side.
   */
  private LogicalPlan branchMarked(LogicalPlan plan) {
    List children = list(plan.children());
    if (plan instanceof Union) {
      LogicalPlan branch = (LogicalPlan) children.get(1);
      children.set(1, branch.withNewChildren(seq(one(marked(unseen, (LogicalPlan) branch.children().head())))));
    } else {
      children.set(0, branchMarked((LogicalPlan) children.get(0)));
    }
    return (LogicalPlan) plan.withNewChildren(seq(children));
  }

  // -- dropDuplicates on some columns

  /**
   * Turns it into an aggregate of first values by Spark's rule, which gives them new ids: so it differs from a user's
   * aggregate.
   */
  private LogicalPlan kept(LogicalPlan plan) throws Exception {
    Set before = new HashSet();
    firsts(plan, before);
    LogicalPlan made = byRule(OPTIMIZER + "ReplaceDeduplicateWithAggregate", plan);
    Set after = new HashSet();
    firsts(made, after);
    after.removeAll(before);
    kept.addAll(after);
    return made;
  }

  /** Collects the ids of the first values that a plan's aggregates compute. */
  private static void firsts(LogicalPlan plan, Set ids) {
    if (plan instanceof Aggregate) {
      List columns = list(((Aggregate) plan).aggregateExpressions());
      for (int i = 0; i < columns.size(); i++) {
        if (columns.get(i) instanceof Alias && hold(seq(one(columns.get(i))), First.class)) ids.add(((Alias) columns.get(i)).exprId());
      }
    }
    Iterator it = list(plan.children()).iterator();
    while (it.hasNext()) firsts((LogicalPlan) it.next(), ids);
  }

  /** Ids of columns with values of rows that dropDuplicates kept. */
  public Set kept() {
    return kept;
  }

  // -- helpers

  private static LogicalPlan marked(String name, LogicalPlan plan) {
    return SubqueryAlias$.MODULE$.apply(name, plan);
  }
}

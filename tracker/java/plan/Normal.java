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
 * Brings an analysed plan to the few node kinds that the rewrite rules know, by Spark's own rules: subqueries first, each
 * as a plan of its own, for Spark's rules look at one plan at a time. Where a rule would hide what kind of edge a side
 * leaves, that side gets an alias of a name that says it; aliases of the user's own are gone by then. Raw types, for Janino.
 */
public class Normal {
  /** Names of the marks. */
  private final String context;
  private final String unseen;
  private final String domain;
  private final String chosen;

  /** Ids of columns that hold values of outer rows. */
  private final List domains = new ArrayList();

  /** Ids of the values of rows that dropDuplicates kept. */
  private final Set kept = new HashSet();

  /** Whether filters are inferred, whether some were, and then the numbers of the leaves as they stand without, by blanks. */
  private boolean inferring = true;
  private boolean inferred = false;
  private String order = "";

  /** The kind of node for which no plan was made; "" where there is one. */
  private String refused = "";

  /** The leaves of the last level as they were before filters were pushed. */
  private List unpushed = null;

  public Normal(String context, String unseen, String domain, String chosen) {
    this.context = context;
    this.unseen = unseen;
    this.domain = domain;
    this.chosen = chosen;
  }

  /** clean: rules for the plan and all subqueries in it, applied first; rules: for each level; by name, one a line. Null: see `refused`. */
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
    // so leaves are told apart by their numbers (Marks.leaf); where these don't tell, what was inferred is given up.
    inferring = false;
    domains.clear(); // ids are made anew; those that `kept` has of the other plan are in no node of this one
    LogicalPlan without = level(p, rules.split("\n"));
    List leaves = Marks.leaves(without, domain);
    if (leaves == null || !Marks.alike(leaves, Marks.leaves(made, domain))) return told(without);
    order = text(leaves);
    return made;
  }

  /** The plan; a filter with a subquery that was pushed into branches is read before some of them, and counts as after. */
  private LogicalPlan told(LogicalPlan plan) {
    List now = unpushed == null ? null : Marks.read(plan, domain);
    if (now != null && !now.equals(unpushed) && Marks.alike(unpushed, now)) order = text(unpushed);
    return plan;
  }

  /** Why `apply` gave null: `CollectMetrics`, rows would be missed; `WithCTE`, rows would be made anew for each reader. */
  public String refused() {
    return refused;
  }

  private static String text(List numbers) {
    return numbers.toString().replaceAll("[\\[\\],]", "");
  }

  /** Filters that were inferred or pushed stand in other places than the user's: the leaves in the user's order, or "". */
  public String order() {
    return order;
  }

  /**
   * Whether a subquery that asks only if there is any row meets an observe(). As a join, which it becomes here, Spark may
   * leave out rows that a plan of its own would let pass there, or pass rows that it would leave out.
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
    // Expressions", in its order. The second makes windows of correlated LIMITs, so the user's are collected first.
    LogicalPlan used = byRule(OPTIMIZER + "OptimizeOneRowRelationSubquery", Unused.away(plan));
    List windows = new ArrayList();
    windows(used, windows);
    LogicalPlan p = byRule(OPTIMIZER + "PullupCorrelatedPredicates", used);
    // In all nodes of this level, and in no plan of a subquery: into those Levels goes itself.
    p = (LogicalPlan) p.transformAllExpressions(new Levels(this, rules, windows));
    p = exceptAll(kept(scalars(laterals(p)))); // kept: before `rules`, in which Spark's rule would go unnoticed
    if (inferring) p = inferred(p); // reads IN and EXISTS, which the next rule makes joins
    // Only now no DomainJoin is left: the rules for lateral, scalar and predicate subqueries each make aggregates of theirs.
    p = domainsMarked(byRule(OPTIMIZER + "RewritePredicateSubquery", p));
    for (int i = 0; i < rules.length; i++) {
      // Subqueries had their turn in Levels: the outermost level's stay. Without such a rule `told` changes no order.
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

  /** Some rules, on a plan and on every plan in its expressions. */
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

  /** The subqueries of one level, brought to normal. An EXISTS without correlation passes for one with, to become a join. */
  static class Levels extends scala.runtime.AbstractPartialFunction {
    private final Normal normal;
    private final String[] rules;
    private final List windows;

    /** windows: those of the user's; see `limits`. */
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

    /** RewritePredicateSubquery takes an EXISTS only if it has outer attributes (SubqueryExpression.isCorrelated). */
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

  /** Correlated ones become left joins whose right side is marked. */
  private LogicalPlan scalars(LogicalPlan plan) throws Exception {
    List values = new ArrayList();
    correlated(plan, values);
    if (values.isEmpty()) return plan;
    List found = new ArrayList();
    LogicalPlan made = marked(byRule(OPTIMIZER + "RewriteCorrelatedScalarSubquery", plan), values, found);
    for (int i = 0; i < values.size(); i++) {
      if (!found.contains(values.get(i))) throw new IllegalStateException("a correlated scalar subquery became no join");
    }
    return made;
  }

  /** Ids of the values of all correlated scalar subqueries in a plan. */
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
   * From the top down: the first join whose right side yields a subquery's value is the one made for it. The rule
   * (constructLeftJoins) puts the subquery's plan there with its ids, also where it computes another value, of another id,
   * above the join, as for a count of no rows. Joins above that one have the value on their left.
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

  // -- limits of each outer row's own

  /** Ids of all that windows compute, in the plan and in its subqueries. */
  private static void windows(LogicalPlan plan, List ids) {
    if (plan instanceof Window) ids.addAll(ids(((Window) plan).windowOutputSet().toSeq()));
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) windows((LogicalPlan) inside.get(i), ids);
  }

  /** A correlated LIMIT becomes a filter of numbers that a window gives: that window, none of the user's, is marked. */
  private LogicalPlan limits(LogicalPlan plan, List windows) {
    List children = list(plan.children());
    for (int i = 0; i < children.size(); i++) children.set(i, limits((LogicalPlan) children.get(i), windows));
    LogicalPlan p = (LogicalPlan) plan.withNewChildren(seq(children));
    if (!(p instanceof Window)) return p;
    List ids = ids(((Window) p).windowOutputSet().toSeq());
    return java.util.Collections.disjoint(ids, windows) ? marked(chosen, p) : p;
  }

  // -- correlation by no equality

  /** Spark joins such a subquery with the outer rows' distinct values: no rows of its own. Notes the ids of those. */
  private void noteDomains(LogicalPlan plan) {
    if (plan instanceof DomainJoin) domains.addAll(ids(((DomainJoin) plan).domainAttrs()));
    List children = list(plan.children());
    for (int i = 0; i < children.size(); i++) noteDomains((LogicalPlan) children.get(i));
  }

  /** The domain's ids are new (DecorrelateInnerQuery); an aggregate of the user's puts out columns of its own beside them. */
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
    if (!(join instanceof Join)) throw new IllegalStateException("a lateral subquery became no join");
    return join;
  }

  // -- EXCEPT ALL

  /** Becomes a count over a union, whose second branch is marked: it takes rows away and gives none. */
  private LogicalPlan exceptAll(LogicalPlan plan) throws Exception {
    List children = list(plan.children());
    for (int i = 0; i < children.size(); i++) children.set(i, exceptAll((LogicalPlan) children.get(i)));
    LogicalPlan p = (LogicalPlan) plan.withNewChildren(seq(children));
    if (!(p instanceof Except) || !((Except) p).isAll()) return p;
    return branchMarked(byRule(OPTIMIZER + "RewriteExceptAll", p));
  }

  /** Of RewriteExceptAll: first children lead to a union, whose second branch is a projection of -1 over the right side. */
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

  /** Becomes an aggregate of first values by Spark's rule, which names them anew: the new ids tell it from a user's aggregate. */
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

  /** Ids of the first values that a plan's aggregates compute. */
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

  /** Ids of the values of rows that dropDuplicates kept. */
  public Set kept() {
    return kept;
  }

  // -- small things

  private static LogicalPlan marked(String name, LogicalPlan plan) {
    return SubqueryAlias$.MODULE$.apply(name, plan);
  }
}

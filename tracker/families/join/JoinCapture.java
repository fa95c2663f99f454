package provspark.families.join;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.plans.ExistenceJoin;
import org.apache.spark.sql.catalyst.plans.LeftOuter$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.BROADCAST$;
import org.apache.spark.sql.catalyst.plans.logical.HintInfo;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.JoinStrategyHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SHUFFLE_MERGE$;
import org.apache.spark.sql.types.LongType$;
import provspark.plan.Rewrite;
import provspark.taps.Keys;
import provspark.taps.Tap;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/** Rewrites joins, each in one round trip. Raw types, for Janino. */
public class JoinCapture {
  private final Rewrite rewrite;

  public JoinCapture(Rewrite rewrite) {
    this.rewrite = rewrite;
  }

  /** Puts no node between two joins: Spark's optimiser could no longer reorder the chain. */
  public int join(int node, int left, int right) {
    List attributes = new ArrayList(rewrite.provenance(left));
    attributes.addAll(rewrite.provenance(right));
    LogicalPlan joined = withChildren(rewrite.node(node), sides(left, right));
    return rewrite.traced(joined, rebound(joined, attributes));
  }

  public int antiJoin(int node, int left, int right) {
    return rewrite.traced(withChildren(rewrite.node(node), sides(left, right)), rewrite.provenance(left));
  }

  private List sides(int left, int right) {
    List sides = one(rewrite.plan(left));
    sides.add(rewrite.plan(right));
    return sides;
  }

  /**
   * Adds a semi-join or existence join over a right side that was tapped by the keys. The hashes of the left keys
   * become a provenance column, null if nothing exists. Without keys, one row stands for the right side if it has any.
   */
  public int semiJoin(int node, int left, int right) {
    Join join = (Join) rewrite.node(node);
    List keys = new ArrayList();
    equalities(join, keys, new ArrayList());
    List sides = one(rewrite.plan(left));
    sides.add(keys.isEmpty() ? any(rewrite.plan(right)) : rewrite.plan(right));
    LogicalPlan joined = withChildren(join, sides);
    List made = Keys.hashes(keys, "__semi");
    if (join.joinType() instanceof ExistenceJoin) {
      for (int i = 0; i < 2; i++) made.set(i, alias(onlyIf(exists(join), ((Alias) made.get(i)).child()), "__exists"));
    }
    return rewrite.with(joined, rewrite.provenance(left), made);
  }

  private static Attribute exists(Join join) {
    return ((ExistenceJoin) join.joinType()).exists();
  }

  private static Expression onlyIf(Expression condition, Expression value) {
    return new If(condition, value, new Literal(null, LongType$.MODULE$));
  }

  /**
   * Returns one row if the plan has any. A LIMIT would keep the tap below from recording all rows. The filter drops the
   * row that an aggregate without keys returns for an empty input.
   */
  private static LogicalPlan any(LogicalPlan plan) {
    Expression one = Literal$.MODULE$.apply(Integer.valueOf(1));
    Alias made = alias(new Max(one).toAggregateExpression(), "__any");
    LogicalPlan row = new Aggregate(seq(new ArrayList()), seq(one(made)), plan, scala.Option.empty());
    return filtered(new IsNotNull(made.toAttribute()), row);
  }

  /**
   * Adds a semi-join or existence join by any condition: a left join, with a tap that records all joined rows by the
   * number of their left row and lets one of them pass. The tap needs the rows of one left row together, so the join
   * must use a strategy that reads the left side row by row and does not split the right one.
   */
  public int matches(int node, int left, int right) {
    Join join = (Join) rewrite.node(node);
    boolean existence = join.joinType() instanceof ExistenceJoin;
    List own = list(rewrite.plan(left).output());
    Alias number = alias(rewrite.taps().rowId(), "__row");
    List columns = new ArrayList(own);
    columns.add(number);
    Alias found = alias(Keys.zero(), "__found");
    List others = list(rewrite.plan(right).output());
    others.add(found);
    // Tasks make the number, so Spark must not compute local rows while it plans; the constant is null without a match.
    LogicalPlan joined = new Join(
        projection(columns, apart(rewrite.plan(left))), projection(others, rewrite.plan(right)), LeftOuter$.MODULE$, join.condition(),
        streamed(join));
    List key = rebound(joined, attributes(one(number)));
    key.addAll(rebound(joined, attributes(one(found))));
    List numbers = rebound(joined, rewrite.provenance(right));
    numbers.addAll(key);
    LogicalPlan tapped =
        rewrite.taps().keyed(joined, numbers, rewrite.provenance(right).size(), existence ? Tap.FIRST : Tap.MATCHED);
    List out = rebound(tapped, own);
    List made = new ArrayList();
    Expression there = new IsNotNull((Expression) key.get(1));
    if (existence) out.add(named(there, "exists", exists(join).exprId()));
    made.add(alias(existence ? onlyIf(there, (Expression) key.get(0)) : (Expression) key.get(0), "__match_1"));
    made.add(alias((Expression) key.get(1), "__match_2"));
    out.addAll(made);
    List all = new ArrayList(rewrite.provenance(left));
    all.addAll(attributes(made));
    return rewrite.traced(projection(out, tapped), all);
  }

  /**
   * Returns hints for `matches`. Without equalities Spark has one strategy for a left join: nested loops that build the
   * right side (JoinSelection). With equalities it might build the left one, as a shuffled hash join can. Spark may
   * split a skewed left side at run time, but not the right side of a left join (OptimizeSkewedJoin): each left row
   * meets all its right rows in one task.
   */
  private JoinHint streamed(Join join) {
    List keys = new ArrayList();
    equalities(join, keys, new ArrayList());
    if (keys.isEmpty()) return JoinHint.NONE();
    // The size of the user's right side, without provenance columns: Spark broadcasts what it would without capture.
    long limit = join.conf().autoBroadcastJoinThreshold();
    boolean small = ((LogicalPlan) join.right()).stats().sizeInBytes().$less$eq(scala.math.BigInt.apply(limit));
    JoinStrategyHint strategy = small ? (JoinStrategyHint) BROADCAST$.MODULE$ : (JoinStrategyHint) SHUFFLE_MERGE$.MODULE$;
    return new JoinHint(scala.Option.empty(), new scala.Some(new HintInfo(new scala.Some(strategy))));
  }

  /** Whether the result of an existence join is used other than as NOT EXISTS or NOT IN. */
  public boolean asserted(int node) {
    return rewrite.nodes().asserts(exists((Join) rewrite.node(node)).exprId());
  }

  // -- keys

  /** Adds a tap by the keys of a semi-join's right side. */
  public int tapRight(int join, int t) {
    List keys = new ArrayList();
    equalities((Join) rewrite.node(join), new ArrayList(), keys);
    return rewrite.tapKeyed(t, keys);
  }

  /** Returns the first condition of a semi-join that is no equality of a left and a right key, as SQL, or "". */
  public String residual(int join) {
    return equalities((Join) rewrite.node(join), new ArrayList(), new ArrayList());
  }

  /** Returns the first key type of a semi-join that can't be hashed, or ""; "none" if there is no key. */
  public String unhashable(int node) {
    List keys = new ArrayList();
    equalities((Join) rewrite.node(node), keys, new ArrayList());
    return rewrite.unhashableOrNone(keys);
  }

  /** Splits a join's equalities into left and right keys; returns the first other condition as SQL, or "". */
  private static String equalities(Join join, List left, List right) {
    if (!join.condition().isDefined()) return "";
    String rest = "";
    List all = new ArrayList();
    Keys.split((Expression) join.condition().get(), all);
    for (int i = 0; i < all.size(); i++) {
      Expression e = (Expression) all.get(i);
      if (e instanceof EqualTo || e instanceof EqualNullSafe) {
        Expression a = (Expression) ((BinaryComparison) e).left();
        Expression b = (Expression) ((BinaryComparison) e).right();
        if (within(a, (LogicalPlan) join.left()) && within(b, (LogicalPlan) join.right())) {
          left.add(a);
          right.add(b);
          continue;
        }
        if (within(b, (LogicalPlan) join.left()) && within(a, (LogicalPlan) join.right())) {
          left.add(b);
          right.add(a);
          continue;
        }
      }
      if (rest.length() == 0 && !e.equals(Literal$.MODULE$.apply(Boolean.TRUE))) rest = e.sql();
    }
    return rest;
  }

  private static boolean within(Expression e, LogicalPlan side) {
    return e.references().nonEmpty() && e.references().subsetOf(side.outputSet()) && e.deterministic();
  }
}

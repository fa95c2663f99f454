package provspark.plan;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.aggregate.First;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.plans.ExistenceJoin;
import org.apache.spark.sql.catalyst.plans.LeftOuter$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.BROADCAST$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.HintInfo;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.JoinStrategyHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SHUFFLE_MERGE$;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.LongType$;
import provspark.taps.Keys;
import provspark.taps.Tap;
import provspark.taps.Taps;
import provspark.trees.Marks;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/**
 * One write's plan while it is rewritten. Nodes and traced nodes stay here; Python, which decides what is done, knows
 * them by number, so that a step costs one round trip. A traced node puts out the node's own columns and those of its provenance columns,
 * in any order. Raw types, for Janino.
 */
public class Rewrite {
  private final Taps taps;
  private final Nodes nodes;
  private final List plans = new ArrayList();
  private final List provenance = new ArrayList();
  private final Answers answers = new Answers();

  /** folder: URL of the folder for the taps' sidecars; chosen: see Nodes. */
  public Rewrite(SparkSession session, String folder, String chosen) {
    taps = new Taps(session, folder);
    nodes = new Nodes(chosen);
  }

  // -- reading

  /** See Nodes. */
  public void keeping(java.util.Set ids) {
    nodes.keeping(ids);
  }

  public String read(LogicalPlan plan) {
    return nodes.read(plan);
  }

  public LogicalPlan node(int i) {
    return nodes.get(i);
  }

  /** See Marks. */
  public String leaves(LogicalPlan plan) {
    return Marks.leaves(plan);
  }

  public List conjuncts(int filter) {
    List out = new ArrayList();
    Keys.split(((Filter) node(filter)).condition(), out);
    return out;
  }

  // -- traced nodes

  /** A plan made elsewhere, that puts out these provenance columns. */
  public int put(LogicalPlan plan, List attributes) {
    return traced(plan, rebound(plan, attributes));
  }

  private int traced(LogicalPlan plan, List attributes) {
    plans.add(plan);
    provenance.add(attributes);
    return plans.size() - 1;
  }

  public LogicalPlan plan(int t) {
    return (LogicalPlan) plans.get(t);
  }

  public List provenance(int t) {
    return new ArrayList((List) provenance.get(t));
  }

  /** A leaf: a plan whose last column is an address. */
  public int leaf(LogicalPlan plan) {
    return traced(plan, one(plan.output().last()));
  }

  /** A leaf that was traced before: its last columns are those of its provenance columns. */
  public int held(LogicalPlan plan, int width) {
    List all = list(plan.output());
    return traced(plan, new ArrayList(all.subList(all.size() - width, all.size())));
  }

  /** The columns of the whole plan and then those of the provenance columns, no more. */
  public LogicalPlan whole(int t) {
    List shown = rebound(plan(t), list(node(0).output()));
    shown.addAll(provenance(t));
    return projection(shown, plan(t));
  }

  /** A plan without provenance columns, as it is. */
  public int bare(int node) {
    return traced(node(node), new ArrayList());
  }

  /** A node by the plan of an equal one that was traced as t: its own columns, and provenance columns of its own. */
  public int again(int node, int first, int t) {
    List before = rebound(plan(t), list(node(first).output()));
    List own = list(node(node).output());
    for (int i = 0; i < own.size(); i++) {
      Attribute column = (Attribute) own.get(i);
      Attribute from = (Attribute) before.get(i);
      own.set(i, from.exprId().equals(column.exprId()) ? from : (Object) named(from, column.name(), column.exprId()));
    }
    List made = new ArrayList();
    for (int i = 0; i < provenance(t).size(); i++) made.add(alias((Expression) provenance(t).get(i), "__again"));
    own.addAll(made);
    return traced(projection(own, plan(t)), attributes(made));
  }

  /** The same rows and columns by another plan. */
  public int replaced(int t, LogicalPlan plan) {
    return traced(plan, rebound(plan, provenance(t)));
  }

  /** A node that keeps, drops or orders its child's rows, or adds to them. */
  public int over(int node, int t) {
    return traced(withChildren(node(node), one(plan(t))), provenance(t));
  }

  public int project(int node, int t) {
    List all = list(((Project) node(node)).projectList());
    all.addAll(provenance(t));
    return traced(projection(all, plan(t)), provenance(t));
  }

  public int generate(int node, int t) {
    return traced(withChildren(node(node), one(plan(t))), provenance(t));
  }

  /** Nothing stands between two joins: Spark's optimiser would no longer see a chain that it may order. */
  public int join(int node, int left, int right) {
    List attributes = new ArrayList(provenance(left));
    attributes.addAll(provenance(right));
    List sides = one(plan(left));
    sides.add(plan(right));
    LogicalPlan joined = withChildren(node(node), sides);
    return traced(joined, rebound(joined, attributes));
  }

  public int antiJoin(int node, int left, int right) {
    List sides = one(plan(left));
    sides.add(plan(right));
    return traced(withChildren(node(node), sides), provenance(left));
  }

  /**
   * A semi-join or existence join over a right side that was tapped by the keys; the hashes of the left's keys become a
   * provenance column, null where nothing exists. Without keys one row tells whether there are any.
   */
  public int semiJoin(int node, int left, int right) {
    Join join = (Join) node(node);
    List keys = new ArrayList();
    Keys.equalities(join, keys, new ArrayList());
    List sides = one(plan(left));
    sides.add(keys.isEmpty() ? any(plan(right)) : plan(right));
    LogicalPlan joined = withChildren(join, sides);
    List made = Keys.hashes(keys, "__semi");
    if (join.joinType() instanceof ExistenceJoin) {
      for (int i = 0; i < 2; i++) made.set(i, alias(onlyIf(exists(join), ((Alias) made.get(i)).child()), "__exists"));
    }
    return with(joined, provenance(left), made);
  }

  private static Attribute exists(Join join) {
    return ((ExistenceJoin) join.joinType()).exists();
  }

  private static Expression onlyIf(Expression condition, Expression value) {
    return new If(condition, value, new Literal(null, LongType$.MODULE$));
  }

  private static LogicalPlan any(LogicalPlan plan) {
    Expression one = Literal$.MODULE$.apply(Integer.valueOf(1));
    Alias made = alias(new Max(one).toAggregateExpression(), "__any");
    LogicalPlan row = new Aggregate(seq(new ArrayList()), seq(one(made)), plan, scala.Option.empty());
    return filtered(new IsNotNull(made.toAttribute()), row);
  }

  /**
   * A semi-join or existence join by any condition: a left join, of which a tap notes all rows by a number that each left row
   * gets, and lets one pass. It needs the rows of one left row together, so the strategies are those that read the left side
   * row by row and never split the right one.
   */
  public int matches(int node, int left, int right) {
    Join join = (Join) node(node);
    boolean existence = join.joinType() instanceof ExistenceJoin;
    List own = list(plan(left).output());
    Alias number = alias(taps.rowId(), "__row");
    List columns = new ArrayList(own);
    columns.add(number);
    Alias found = alias(Keys.zero(), "__found");
    List others = list(plan(right).output());
    others.add(found);
    LogicalPlan joined = new Join(
        projection(columns, apart(plan(left))), projection(others, plan(right)), LeftOuter$.MODULE$, join.condition(),
        streamed(join));
    List key = rebound(joined, attributes(one(number)));
    key.addAll(rebound(joined, attributes(one(found))));
    List numbers = rebound(joined, provenance(right));
    numbers.addAll(key);
    LogicalPlan tapped =
        taps.keyed(joined, numbers, provenance(right).size(), existence ? Tap.FIRST : Tap.MATCHED);
    List out = rebound(tapped, own);
    List made = new ArrayList();
    Expression there = new IsNotNull((Expression) key.get(1));
    if (existence) out.add(named(there, "exists", exists(join).exprId()));
    made.add(alias(existence ? onlyIf(there, (Expression) key.get(0)) : (Expression) key.get(0), "__match_1"));
    made.add(alias((Expression) key.get(1), "__match_2"));
    out.addAll(made);
    List all = new ArrayList(provenance(left));
    all.addAll(attributes(made));
    return traced(projection(out, tapped), all);
  }

  private JoinHint streamed(Join join) {
    List keys = new ArrayList();
    Keys.equalities(join, keys, new ArrayList());
    if (keys.isEmpty()) return JoinHint.NONE();
    long limit = join.conf().autoBroadcastJoinThreshold();
    boolean small = ((LogicalPlan) join.right()).stats().sizeInBytes().$less$eq(scala.math.BigInt.apply(limit));
    JoinStrategyHint strategy = small ? (JoinStrategyHint) BROADCAST$.MODULE$ : (JoinStrategyHint) SHUFFLE_MERGE$.MODULE$;
    return new JoinHint(scala.Option.empty(), new scala.Some(new HintInfo(new scala.Some(strategy))));
  }

  /** Whether an existence join's answer is used other than as NOT EXISTS or NOT IN. */
  public boolean asserted(int node) {
    return nodes.asserts(exists((Join) node(node)).exprId());
  }

  // -- windows

  /** The first window of a chain downwards, of these nodes, that uses what a lower one computed, counted from 0; or all. */
  public int together(String chain) {
    String[] numbers = chain.split(" ");
    for (int i = 1; i < numbers.length; i++) {
      Window lower = (Window) node(Integer.parseInt(numbers[i]));
      for (int j = 0; j < i; j++) {
        List all = list(node(Integer.parseInt(numbers[j])).expressions());
        for (int k = 0; k < all.size(); k++) {
          if (((Expression) all.get(k)).references().intersect(lower.windowOutputSet()).nonEmpty()) return i;
        }
      }
    }
    return numbers.length;
  }

  /** Whether two windows have the same partitions. */
  public boolean samePartitions(int a, int b) {
    return partitions(a).equals(partitions(b));
  }

  private List partitions(int window) {
    return list(((Window) node(window)).partitionSpec());
  }

  public int tapPartitions(int window, int t) {
    return tapKeyed(t, partitions(window));
  }

  /** The hashes of a window's partition become a provenance column. */
  public int partitioned(int window, int t) {
    return with(plan(t), provenance(t), Keys.hashes(partitions(window), "__window"));
  }

  // -- dropDuplicates on some columns

  /** Numbers rows; the number is a provenance column's column. */
  public int numbered(int t) {
    return with(apart(plan(t)), provenance(t), one(alias(taps.rowId(), "__row")));
  }

  /** An aggregate over a tapped and numbered child that keeps a row of each group: its provenance columns and number, and the key. */
  public int keep(int node, int t) {
    List made = new ArrayList();
    for (int i = 0; i < provenance(t).size(); i++) {
      made.add(alias(new First((Expression) provenance(t).get(i), false).toAggregateExpression(), "__kept"));
    }
    List keys = Keys.hashes(list(((Aggregate) node(node)).groupingExpressions()), "__group");
    made.addAll(made.size() - 1, keys);
    return aggregated((Aggregate) node(node), t, made);
  }

  /** An aggregate over a tapped child; the hashes of its keys are its only provenance column. */
  public int aggregate(int node, int t) {
    Aggregate a = (Aggregate) node(node);
    return aggregated(a, t, Keys.hashes(list(a.groupingExpressions()), "__group"));
  }

  private int aggregated(Aggregate a, int t, List made) {
    List all = list(a.aggregateExpressions());
    all.addAll(made);
    List values = new ArrayList();
    scala.collection.Iterator it = a.productIterator();
    while (it.hasNext()) values.add(it.next());
    values.set(1, seq(all));
    values.set(2, plan(t));
    return traced((LogicalPlan) a.makeCopy(values.toArray()), attributes(made));
  }

  /** A union of branches (their numbers, by blanks): each branch's provenance columns in columns of their own, null elsewhere. */
  public int union(int node, String branches) {
    String[] numbers = branches.split(" ");
    LogicalPlan union = node(node);
    List outputs = list(union.children());
    List children = new ArrayList();
    int width = 0;
    for (int i = 0; i < numbers.length; i++) {
      List columns = list(((LogicalPlan) outputs.get(i)).output());
      width = 0;
      for (int j = 0; j < numbers.length; j++) {
        List side = provenance(Integer.parseInt(numbers[j]));
        width += side.size();
        for (int k = 0; k < side.size(); k++) {
          columns.add(alias(i == j ? (Expression) side.get(k) : new Literal(null, LongType$.MODULE$), "__leg"));
        }
      }
      children.add(projection(columns, plan(Integer.parseInt(numbers[i]))));
    }
    LogicalPlan made = withChildren(union, children);
    List all = list(made.output());
    return traced(made, new ArrayList(all.subList(all.size() - width, all.size())));
  }

  /** The columns of the whole plan first, in their order. */
  public int front(int t) {
    List own = list(node(0).output());
    List all = list(plan(t).output());
    boolean first = own.size() <= all.size();
    for (int i = 0; first && i < own.size(); i++) {
      first = ((Attribute) all.get(i)).exprId().equals(((Attribute) own.get(i)).exprId());
    }
    if (first) return t;
    List shown = rebound(plan(t), own);
    shown.addAll(provenance(t));
    return traced(projection(shown, plan(t)), provenance(t));
  }

  // -- taps

  /** A tap by an aggregate's keys. Returns the traced node; the tap's number is the count of taps before. */
  public int tapGroups(int aggregate, int t) {
    return tapKeyed(t, list(((Aggregate) node(aggregate)).groupingExpressions()));
  }

  /** A tap by the keys of a semi-join's right side. */
  public int tapRight(int join, int t) {
    List keys = new ArrayList();
    Keys.equalities((Join) node(join), new ArrayList(), keys);
    return tapKeyed(t, keys);
  }

  /** A tap by any keys. */
  public int tapKeyed(int t, List keys) {
    boolean fixed = true;
    for (int i = 0; i < keys.size(); i++) fixed &= ((Expression) keys.get(i)).deterministic();
    LogicalPlan below = Calls.once(fixed ? plan(t) : apart(plan(t)), keys);
    int with = with(below, provenance(t), Keys.hashes(keys, "__key"));
    return traced(taps.keyed(plan(with), provenance(with), provenance(t).size(), Tap.ALL), provenance(t));
  }

  /** The top tap, in row order; mark: a string that names the output folder, or null. */
  public int tapRows(int t, Expression mark) {
    return traced(taps.ordered(plan(t), provenance(t), mark), provenance(t));
  }

  /** See Taps. */
  public void markPartitions() {
    taps.markPartitions();
  }

  /** Leaves out numbers of taps, for those of a plan that was traced before. */
  public void skipTaps(int n) {
    taps.skip(n);
  }

  public String receipts() {
    return taps.receipts();
  }

  /** Only the first n columns: what the user's plan puts out. */
  public LogicalPlan userColumns(int t, int n) {
    return projection(list(plan(t).output()).subList(0, n), plan(t));
  }

  /** See Answers. */
  public LogicalPlan checked(LogicalPlan plan) throws Exception {
    return answers.checked(plan);
  }

  // -- subqueries in expressions

  public Answers answers() {
    return answers;
  }

  public String scalars(int node) {
    return answers.scalars(node(node));
  }

  /** From now on the subquery is computed by a traced plan, of which only node's columns are taken. */
  public void answer(long id, int node, int t) throws Exception {
    answers.put(id, projection(list(node(node).output()), plan(t)));
  }

  /** The plan with its subqueries in the way in which they are to be computed. */
  public int answered(int t) throws Exception {
    return traced(answers.in(plan(t)), provenance(t));
  }

  /** So many more group provenance columns that are the same in all rows: the key of a tap that has one for all. */
  public int constant(int t, int count) {
    List made = new ArrayList();
    for (int i = 0; i < count; i++) made.addAll(Keys.hashes(new ArrayList(), "__value"));
    return with(plan(t), provenance(t), made);
  }

  /** One provenance column more, of which only counts that it is not null. */
  public int present(int t) {
    return with(plan(t), provenance(t), one(alias(Keys.zero(), "__all")));
  }

  /** A tap with one key for all rows. */
  public int tapAll(int t) {
    return tapKeyed(t, new ArrayList());
  }

  // -- sides that leave no edge

  /** A node's columns alone, without provenance columns. */
  public int hidden(int node, int t) {
    return traced(projection(list(node(node).output()), plan(t)), new ArrayList());
  }

  /** A node over other children (their numbers, by blanks), without provenance columns. */
  public int rebuilt(int node, String children) {
    String[] numbers = children.split(" ");
    List sides = new ArrayList();
    for (int i = 0; i < numbers.length; i++) sides.add(plan(Integer.parseInt(numbers[i])));
    return traced(withChildren(node(node), sides), new ArrayList());
  }

  // -- keys

  /** The first condition of a semi-join that is no equality of a left and a right key, as SQL, or "". */
  public String residual(int join) {
    return Keys.equalities((Join) node(join), new ArrayList(), new ArrayList());
  }

  /** The first type among an aggregate's, a window's or a semi-join's keys that has no hash, or ""; "none" where there is no key. */
  public String unhashable(int node) {
    List keys = new ArrayList();
    if (node(node) instanceof Aggregate) keys = list(((Aggregate) node(node)).groupingExpressions());
    else if (node(node) instanceof Window) keys = partitions(node);
    else Keys.equalities((Join) node(node), keys, new ArrayList());
    return keys.isEmpty() ? "none" : unhashable(keys);
  }

  /** The first type among keys that has no hash, or "". */
  public String unhashable(List keys) {
    for (int i = 0; i < keys.size(); i++) {
      String found = Keys.unhashable(((Expression) keys.get(i)).dataType());
      if (found.length() > 0) return found;
    }
    return "";
  }

  /** A plan whose provenance columns are the hashes of keys, and no others. */
  public int keyed(LogicalPlan plan, List keys) {
    return with(plan, new ArrayList(), Keys.hashes(keys, "__map"));
  }

  /** A plan and its provenance columns, with more columns that are provenance columns. */
  private int with(LogicalPlan plan, List attributes, List made) {
    List all = list(plan.output());
    all.addAll(made);
    List provenance = new ArrayList(attributes);
    provenance.addAll(attributes(made));
    return traced(projection(all, plan), provenance);
  }
}

package provspark.plan;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.MonotonicallyIncreasingID;
import org.apache.spark.sql.catalyst.expressions.SparkPartitionID;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import provspark.taps.Keys;
import provspark.taps.Tap;
import provspark.taps.Taps;
import provspark.trees.Marks;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/**
 * One write's plan while it is rewritten. Nodes and traced nodes stay here. Python decides what to do and refers to
 * them by number, so that each call takes one round trip. A traced node outputs the node's own columns and its
 * provenance columns, in any order. What only one family needs is in a class in its folder, which gets this object. Raw
 * types, for Janino.
 */
public class Rewrite {
  private final Taps taps;
  private final Nodes nodes;
  private final List plans = new ArrayList();
  private final List provenance = new ArrayList();
  private final Answers answers = new Answers();

  /** folder: URL of the folder for the taps' sidecars; chosen: see Nodes. */
  public Rewrite(SparkSession session, String folder, String chosen, Operators operators) {
    taps = new Taps(session, folder);
    nodes = new Nodes(chosen, operators);
  }

  // -- reading

  public void keeping(java.util.Set ids) {
    nodes.keeping(ids);
  }

  public String read(LogicalPlan plan) {
    return nodes.read(plan);
  }

  public LogicalPlan node(int i) {
    return nodes.get(i);
  }

  public String leaves(LogicalPlan plan) {
    return Marks.leaves(plan);
  }

  // -- traced nodes

  /** Adds a plan from elsewhere, which outputs these provenance columns. */
  public int put(LogicalPlan plan, List attributes) {
    // Rebound, because an outer join or a union may have made columns nullable: Spark doesn't check others for null.
    return traced(plan, rebound(plan, attributes));
  }

  /** Adds a plan with its provenance columns, as the plan outputs them. */
  public int traced(LogicalPlan plan, List attributes) {
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

  /** Adds a leaf: a plan whose last column is an address. */
  public int leaf(LogicalPlan plan) {
    return traced(plan, one(plan.output().last()));
  }

  /** Adds a leaf that was traced before: its last `width` columns are its provenance columns. */
  public int held(LogicalPlan plan, int width) {
    List all = list(plan.output());
    return traced(plan, new ArrayList(all.subList(all.size() - width, all.size())));
  }

  /**
   * Returns a plan with the columns of node 0, the root (it is read first), and the provenance columns, and no others.
   */
  public LogicalPlan whole(int t) {
    List shown = rebound(plan(t), list(node(0).output()));
    shown.addAll(provenance(t));
    return projection(shown, plan(t));
  }

  /** Adds a plan as it is, without provenance columns. */
  public int bare(int node) {
    return traced(node(node), new ArrayList());
  }

  /**
   * Adds a node by the plan of an equal one that was traced as t; it gets its own columns and new provenance columns.
   */
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

  /** Adds another plan for the same rows and columns. */
  public int replaced(int t, LogicalPlan plan) {
    return traced(plan, rebound(plan, provenance(t)));
  }

  /** Adds a node that passes its child's rows on, and may drop, order or extend them. */
  public int over(int node, int t) {
    return traced(withChildren(node(node), one(plan(t))), provenance(t));
  }

  /** Puts the columns of the whole plan first, in their order. */
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

  /** Adds a tap by any keys. Returns the traced node; the tap's number is the number of taps before it. */
  public int tapKeyed(int t, List keys) {
    // Tasks must compute keys such as the partition's number: see apart.
    boolean fixed = true;
    for (int i = 0; i < keys.size(); i++) fixed &= ((Expression) keys.get(i)).deterministic();
    LogicalPlan below = Calls.once(fixed ? plan(t) : apart(plan(t)), keys);
    int with = with(below, provenance(t), Keys.hashes(keys, "__key"));
    return traced(taps.keyed(plan(with), provenance(with), provenance(t).size(), Tap.ALL), provenance(t));
  }

  /** Adds the top tap, which records rows in order; mark: a string that names the output folder, or null. */
  public int tapRows(int t, Expression mark) {
    return traced(taps.ordered(plan(t), provenance(t), mark), provenance(t));
  }

  public Taps taps() {
    return taps;
  }

  public Nodes nodes() {
    return nodes;
  }

  public void markPartitions() {
    taps.markPartitions();
  }

  /** Skips n tap numbers, which belong to a plan that was traced before. */
  public void skipTaps(int n) {
    taps.skip(n);
  }

  public String receipts() {
    return taps.receipts();
  }

  /** Returns a plan with the first n columns only: those of the user's plan. */
  public LogicalPlan userColumns(int t, int n) {
    return projection(list(plan(t).output()).subList(0, n), plan(t));
  }

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

  /** Makes a traced plan compute a subquery; of its columns only those of the node are used. */
  public void answer(long id, int node, int t) throws Exception {
    answers.put(id, projection(list(node(node).output()), plan(t)));
  }

  /** Adds the plan in which traced plans compute the subqueries. */
  public int answered(int t) throws Exception {
    return traced(answers.in(plan(t)), provenance(t));
  }

  /** Adds group provenance columns that are the same in all rows: the key of a tap with one key for all. */
  public int constant(int t, int count) {
    List made = new ArrayList();
    for (int i = 0; i < count; i++) made.addAll(Keys.hashes(new ArrayList(), "__value"));
    return with(plan(t), provenance(t), made);
  }

  /** Adds a provenance column of which only matters that it is not null. */
  public int present(int t) {
    return with(plan(t), provenance(t), one(alias(Keys.zero(), "__all")));
  }

  /** Adds a tap with one key for all rows. */
  public int tapAll(int t) {
    return tapKeyed(t, new ArrayList());
  }

  // -- sides that leave no edge

  /** Adds a traced node without its provenance columns. */
  public int hidden(int node, int t) {
    return traced(projection(list(node(node).output()), plan(t)), new ArrayList());
  }

  /** Adds a node over other children (their numbers, separated by spaces), without provenance columns. */
  public int rebuilt(int node, String children) {
    String[] numbers = children.split(" ");
    List sides = new ArrayList();
    for (int i = 0; i < numbers.length; i++) sides.add(plan(Integer.parseInt(numbers[i])));
    return traced(withChildren(node(node), sides), new ArrayList());
  }

  // -- keys

  /** Returns what distinguishes the partitions of one stage; operators that keep partitions don't change it. */
  public List partition() {
    return one(new SparkPartitionID());
  }

  /** Returns what distinguishes the rows of one stage; operators that keep the position of each row don't change it. */
  public List place() {
    return one(new MonotonicallyIncreasingID());
  }

  /** Returns the first type of keys that can't be hashed, or ""; "none" if there is no key. */
  public String unhashableOrNone(List keys) {
    return keys.isEmpty() ? "none" : unhashable(keys);
  }

  /** Returns the first type of keys that can't be hashed, or "". */
  public String unhashable(List keys) {
    for (int i = 0; i < keys.size(); i++) {
      String found = Keys.unhashable(((Expression) keys.get(i)).dataType());
      if (found.length() > 0) return found;
    }
    return "";
  }

  /** Adds a plan whose only provenance columns are the hashes of keys. */
  public int keyed(LogicalPlan plan, List keys) {
    return with(plan, new ArrayList(), Keys.hashes(keys, "__map"));
  }

  /** Adds a plan with its provenance columns and further ones. */
  public int with(LogicalPlan plan, List attributes, List made) {
    List all = list(plan.output());
    all.addAll(made);
    List provenance = new ArrayList(attributes);
    provenance.addAll(attributes(made));
    return traced(projection(all, plan), provenance);
  }
}

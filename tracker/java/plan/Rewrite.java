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
 * One write's plan while it is rewritten. Nodes and traced nodes stay here; Python, which decides what is done, knows
 * them by number, so that a step costs one round trip. A traced node puts out the node's own columns and those of its provenance columns,
 * in any order. What only one family of operators needs stands in its folder, in a class that is given this. Raw types, for Janino.
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

  // -- traced nodes

  /** A plan made elsewhere, that puts out these provenance columns. */
  public int put(LogicalPlan plan, List attributes) {
    // Rebound, as wherever an outer join or a union may have made columns nullable: what takes them for not null never looks.
    return traced(plan, rebound(plan, attributes));
  }

  /** A plan with its provenance columns as it puts them out. */
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

  /** A leaf: a plan whose last column is an address. */
  public int leaf(LogicalPlan plan) {
    return traced(plan, one(plan.output().last()));
  }

  /** A leaf that was traced before: its last columns are those of its provenance columns. */
  public int held(LogicalPlan plan, int width) {
    List all = list(plan.output());
    return traced(plan, new ArrayList(all.subList(all.size() - width, all.size())));
  }

  /** The columns of the whole plan, of which node 0 is the root (it is read first), and the provenance columns, no more. */
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

  /** A tap by any keys. Returns the traced node; the tap's number is the count of taps before. */
  public int tapKeyed(int t, List keys) {
    // Keys such as the partition's number are to be computed by tasks: see apart.
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

  public Taps taps() {
    return taps;
  }

  public Nodes nodes() {
    return nodes;
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

  /** What tells the partitions of one stage apart; below and above an operator that keeps them, it is the same. */
  public List partition() {
    return one(new SparkPartitionID());
  }

  /** What tells the rows of one stage apart; below and above an operator that keeps each row's place, it is the same. */
  public List place() {
    return one(new MonotonicallyIncreasingID());
  }

  /** The first type among keys that has no hash, or ""; "none" where there is no key. */
  public String unhashableOrNone(List keys) {
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
  public int with(LogicalPlan plan, List attributes, List made) {
    List all = list(plan.output());
    all.addAll(made);
    List provenance = new ArrayList(attributes);
    provenance.addAll(attributes(made));
    return traced(projection(all, plan), provenance);
  }
}

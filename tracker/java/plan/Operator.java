package provspark.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import static provspark.trees.Trees.*;

/**
 * What is asked of each node while a plan is read or checked, without a round trip. Where a family's nodes have another answer, a
 * class below this one, `*Operator`, stands in its folder. Raw types, for Janino.
 */
public class Operator {
  public Operator() {}

  // -- of nodes that are about to be rewritten

  /** What the family's rule has to know of the node. */
  public String detail(LogicalPlan plan, Nodes nodes) {
    return "";
  }

  /** Whether which rows come out may depend on the order in which they come in. */
  public boolean picks(LogicalPlan plan, Nodes nodes) {
    return false;
  }

  // -- of nodes of the user's plan, beside the one that replaces it

  /** Whether Spark may know of columns that they are not null and forget it in a rewritten plan, or the other way around. */
  public boolean forgets(LogicalPlan plan) {
    return false;
  }

  // -- of nodes of a rewritten plan

  /** Whether its sides may put out the same columns. */
  public boolean repeats() {
    return false;
  }

  /** What is wrong with it; "" if nothing is. below: ids of its children's columns. */
  public String broken(LogicalPlan plan, Set below) {
    String wrong = Integrity.produced(plan, below);
    return wrong.length() > 0 ? wrong : Integrity.aliased(plan, below);
  }

  // -- of nodes of the user's plan, which are operations

  /** What stays the same of a leaf wherever what was computed before is read; null of any other node. */
  public Object holder(LogicalPlan leaf) {
    return null;
  }

  /** The child to which its marks go, for that stands in its place; or null. */
  public LogicalPlan heir(LogicalPlan plan) {
    return null;
  }

  /** Whether it is no operation, but a name of its child. */
  public boolean names(LogicalPlan plan) {
    return false;
  }

  /** The nodes whose rows it takes. */
  public List below(LogicalPlan plan) {
    return list(plan.children());
  }

  /** Whether it hands on no column of its children as the column that it was. */
  public boolean renews(LogicalPlan plan) {
    return plan.children().isEmpty();
  }

  /** Adds the ids of columns that have other values than those below it that have the same id. */
  public void changed(LogicalPlan plan, Set ids) {}

  /** The expressions of the user's for which Spark makes such a node. */
  public List called(LogicalPlan plan) {
    return new ArrayList();
  }

  /** Tells its expressions, each with its role, and its details. sides: labels of the columns of each child. */
  public void tell(LogicalPlan plan, Expressions to, List sides) {
    if (!plan.children().isEmpty()) to.others(plan, "output");
  }
}

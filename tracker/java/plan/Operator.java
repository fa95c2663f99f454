package provspark.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import static provspark.trees.Trees.*;

/**
 * Describes a node while a plan is read or checked, without a round trip to Python. A family whose nodes differ from
 * these defaults has a subclass `*Operator` in its folder. Raw types, for Janino.
 */
public class Operator {
  public Operator() {}

  // -- nodes that are about to be rewritten

  /** Returns details for the family's rule. */
  public String detail(LogicalPlan plan, Nodes nodes) {
    return "";
  }

  /** Whether the order of the input may decide which rows come out. */
  public boolean picks(LogicalPlan plan, Nodes nodes) {
    return false;
  }

  // -- nodes of the user's plan, compared with the plan that replaces it

  /**
   * Whether Spark may know that columns are not null in the user's plan but not in a rewritten one, or the other way
   * around.
   */
  public boolean forgets(LogicalPlan plan) {
    return false;
  }

  // -- nodes of a rewritten plan

  /** Whether its children may output the same columns. */
  public boolean repeats() {
    return false;
  }

  /** Returns what is wrong with it; "" if nothing is. below: ids of its children's columns. */
  public String broken(LogicalPlan plan, Set below) {
    String wrong = Integrity.produced(plan, below);
    return wrong.length() > 0 ? wrong : Integrity.aliased(plan, below);
  }

  // -- nodes of the user's plan, which are operations

  /** Returns an object that is the same wherever a cache or checkpoint is read; null for any other node. */
  public Object holder(LogicalPlan leaf) {
    return null;
  }

  /** Returns the child that takes its place and gets its marks, or null. */
  public LogicalPlan heir(LogicalPlan plan) {
    return null;
  }

  /** Whether it only names its child, and is no operation. */
  public boolean names(LogicalPlan plan) {
    return false;
  }

  /** Returns the nodes whose rows it reads. */
  public List below(LogicalPlan plan) {
    return list(plan.children());
  }

  /** Whether all its columns are new: it passes none of its children's on. */
  public boolean renews(LogicalPlan plan) {
    return plan.children().isEmpty();
  }

  /** Adds the ids of columns whose values differ from those of columns below with the same id. */
  public void changed(LogicalPlan plan, Set ids) {}

  /** Returns the user's expressions for which Spark creates such a node. */
  public List called(LogicalPlan plan) {
    return new ArrayList();
  }

  /** Writes its expressions, each with its role, and its details. sides: labels of the columns of each child. */
  public void tell(LogicalPlan plan, Expressions to, List sides) {
    if (!plan.children().isEmpty()) to.others(plan, "output");
  }
}

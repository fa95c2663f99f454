package provspark.families.group_functions;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.plan.Rewrite;
import provspark.taps.Keys;
import static provspark.trees.Trees.*;

/** Finds the groups whose rows a function gets. Raw types, for Janino. */
public class GroupFunctionsCapture {
  private final Rewrite rewrite;

  public GroupFunctionsCapture(Rewrite rewrite) {
    this.rewrite = rewrite;
  }

  /** Returns the expressions by which a node groups the rows of child `side`. */
  public List groups(int number, int side) throws Exception {
    LogicalPlan node = rewrite.node(number);
    if (node.children().size() == 1) return list((scala.collection.Seq) call(node, "groupingAttributes"));
    int n = ((Integer) call(node, side == 0 ? "leftGroupingLen" : "rightGroupingLen")).intValue();
    return new ArrayList(list(((LogicalPlan) node.children().apply(side)).output()).subList(0, n));
  }

  /** Returns the hashes that identify the group of a row. */
  public List hashes(List keys) {
    return Keys.hashes(keys, "__group");
  }
}

package provspark.families.distribution;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Nondeterministic;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Deduplicate;
import org.apache.spark.sql.catalyst.plans.logical.Distinct;
import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Offset;
import org.apache.spark.sql.catalyst.plans.logical.RebalancePartitions;
import org.apache.spark.sql.catalyst.plans.logical.Repartition;
import org.apache.spark.sql.catalyst.plans.logical.RepartitionByExpression;
import org.apache.spark.sql.catalyst.plans.logical.Sample;
import org.apache.spark.sql.catalyst.plans.logical.SetOperation;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.Tail;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.internal.SQLConf;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/**
 * Finds operators whose result depends on the task that a row is in. repartition(n) distributes rows to tasks in the
 * order of a hash over all their columns, so that a task that runs again distributes them as before. A rewritten plan
 * has more columns and distributes them differently. Rows of a cache were distributed once, when it was filled, for all
 * its readers. Raw types, for Janino.
 */
public class Places {
  public Places() {}

  /**
   * Returns the operator of an analysed plan whose result depends on how rows were distributed to tasks; "" if there is
   * none.
   */
  public String dependent(LogicalPlan plan) throws Exception {
    return SQLConf.get().sortBeforeRepartition() ? found(withoutCtes(plan)) : "";
  }

  private static String found(LogicalPlan plan) {
    boolean reads = plan instanceof Sample || plan instanceof GlobalLimit || plan instanceof LocalLimit
        || plan instanceof Offset || plan instanceof Tail || hold(plan.expressions(), Nondeterministic.class);
    Iterator children = list(plan.children()).iterator();
    while (reads && children.hasNext()) if (placed((LogicalPlan) children.next())) return plan.nodeName();
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) {
      String more = found((LogicalPlan) inside.get(i));
      if (more.length() > 0) return more;
    }
    return "";
  }

  /**
   * Returns the operator that distributes rows by a hash of all their columns, so that ours change their order; or "".
   */
  public String dealt(LogicalPlan plan) {
    boolean deals = plan instanceof Repartition && ((Repartition) plan).shuffle() && ((Repartition) plan).numPartitions() > 1;
    deals |= plan instanceof RepartitionByExpression && ((RepartitionByExpression) plan).partitionExpressions().isEmpty();
    deals |= plan instanceof RebalancePartitions && ((RebalancePartitions) plan).partitionExpressions().isEmpty();
    if (deals) return plan.nodeName();
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) {
      String found = dealt((LogicalPlan) inside.get(i));
      if (found.length() > 0) return found;
    }
    return "";
  }

  /** Whether rows are still in the tasks that they were distributed to: grouping or sorting moves them to others. */
  private static boolean placed(LogicalPlan plan) {
    if (plan instanceof Repartition && ((Repartition) plan).shuffle()) return ((Repartition) plan).numPartitions() > 1;
    if (plan instanceof RepartitionByExpression) return several((RepartitionByExpression) plan);
    if (plan instanceof RebalancePartitions) return ((RebalancePartitions) plan).partitionExpressions().isEmpty();
    if (plan instanceof Sort && ((Sort) plan).global()) return false;
    boolean elsewhere = plan instanceof Aggregate || plan instanceof Distinct || plan instanceof Deduplicate
        || plan instanceof Window || plan instanceof SetOperation;
    Iterator children = list(plan.children()).iterator();
    while (!elsewhere && children.hasNext()) if (placed((LogicalPlan) children.next())) return true;
    return false;
  }

  /** Whether it distributes rows to several tasks by a hash, and not all to one. */
  private static boolean several(RepartitionByExpression plan) {
    return plan.partitionExpressions().isEmpty() && plan.numPartitions() > 1;
  }
}

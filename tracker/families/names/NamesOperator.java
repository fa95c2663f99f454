package provspark.families.names;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.catalyst.plans.logical.WithCTE;
import provspark.plan.Nodes;
import provspark.plan.Operator;

/** The `Operator` of names of queries, and of marks. Raw types, for Janino. */
public class NamesOperator extends Operator {
  /** Returns the alias, which is the name of a mark if normalising added it (normalisation.py). */
  public String detail(LogicalPlan plan, Nodes nodes) {
    return plan instanceof SubqueryAlias ? ((SubqueryAlias) plan).alias() : "";
  }

  public boolean picks(LogicalPlan plan, Nodes nodes) {
    return nodes.chosen(detail(plan, nodes));
  }

  public LogicalPlan heir(LogicalPlan plan) {
    return plan instanceof WithCTE ? (LogicalPlan) ((WithCTE) plan).plan() : null;
  }

  public boolean names(LogicalPlan plan) {
    return plan instanceof SubqueryAlias || plan instanceof View;
  }
}

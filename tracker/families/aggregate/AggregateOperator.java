package provspark.families.aggregate;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SessionWindow;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.plan.Expressions;
import provspark.plan.Nodes;
import provspark.plan.Operator;
import static provspark.trees.Trees.*;

/** The `Operator` of aggregates. Raw types, for Janino. */
public class AggregateOperator extends Operator {
  /** Returns `kept` if it keeps a row of each group, `sessions` if it groups by session windows, or "". */
  public String detail(LogicalPlan plan, Nodes nodes) {
    if (!(plan instanceof Aggregate)) return "";
    if (merges((Aggregate) plan)) return "sessions";
    return keepsRows((Aggregate) plan, nodes) ? "kept" : "";
  }

  public boolean picks(LogicalPlan plan, Nodes nodes) {
    return plan instanceof Aggregate && keepsRows((Aggregate) plan, nodes);
  }

  /** Whether normalising made it from dropDuplicates on some columns; see Normal. */
  private static boolean keepsRows(Aggregate a, Nodes nodes) {
    Iterator it = list(a.aggregateExpressions()).iterator();
    while (it.hasNext()) if (nodes.keeps(((NamedExpression) it.next()).exprId())) return true;
    return false;
  }

  /** Whether it groups by session windows, which Spark merges only when it runs. */
  private static boolean merges(Aggregate a) {
    List all = list(a.groupingExpressions());
    for (int i = 0; i < all.size(); i++) {
      if (all.get(i) instanceof NamedExpression && ((NamedExpression) all.get(i)).metadata().contains(SessionWindow.marker())) return true;
    }
    return false;
  }

  public void tell(LogicalPlan plan, Expressions to, List sides) {
    if (plan instanceof Aggregate) {
      to.all("group", list(((Aggregate) plan).groupingExpressions()));
      to.named(list(((Aggregate) plan).aggregateExpressions()));
    } else {
      super.tell(plan, to, sides);
    }
  }
}

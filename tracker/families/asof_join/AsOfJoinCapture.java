package provspark.families.asof_join;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.plan.Rewrite;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/** As-of joins with provenance columns. Raw types, for Janino. */
public class AsOfJoinCapture {
  private final Rewrite rewrite;

  public AsOfJoinCapture(Rewrite rewrite) {
    this.rewrite = rewrite;
  }

  /**
   * An as-of join by Spark's own rules, to the end: a choice of one right row, whole, by a left join. Left to Spark's
   * optimiser, the choice would be made anew for each column that is read from it, above a tap too.
   */
  public int join(int node, int left, int right) throws Exception {
    List sides = one(rewrite.plan(left));
    sides.add(rewrite.plan(right));
    LogicalPlan join = withChildren(rewrite.node(node), sides);
    LogicalPlan p = join;
    String[] rules = {"RewriteAsOfJoin", "PullupCorrelatedPredicates", "RewriteCorrelatedScalarSubquery"};
    for (int i = 0; i < rules.length; i++) p = byRule(OPTIMIZER + rules[i], p);
    List wanted = list(join.output());
    List made = list(p.output());
    List columns = new ArrayList();
    for (int i = 0; i < wanted.size(); i++) {
      Attribute as = (Attribute) wanted.get(i);
      columns.add(((Attribute) made.get(i)).exprId().equals(as.exprId()) ? made.get(i)
          : named((Expression) made.get(i), as.name(), as.exprId()));
    }
    List provenance = rewrite.provenance(left);
    provenance.addAll(rewrite.provenance(right));
    return rewrite.put(projection(columns, p), provenance);
  }
}

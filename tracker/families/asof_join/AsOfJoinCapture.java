package provspark.families.asof_join;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.plan.Rewrite;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/** Rewrites as-of joins. Raw types, for Janino. */
public class AsOfJoinCapture {
  private final Rewrite rewrite;

  public AsOfJoinCapture(Rewrite rewrite) {
    this.rewrite = rewrite;
  }

  /**
   * Adds an as-of join, rewritten by Spark's own rules until it is a left join that chooses one whole right row.
   * Spark's optimiser would otherwise choose again for each column that is read from the row, even above a tap.
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

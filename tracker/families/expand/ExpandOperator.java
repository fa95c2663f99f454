package provspark.families.expand;

import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.plan.Expressions;
import provspark.plan.Integrity;
import provspark.plan.Operator;
import static provspark.trees.Trees.*;

/** The `Operator` of operators that copy rows. Raw types, for Janino. */
public class ExpandOperator extends Operator {
  /** Expand may pass a column on under its id only if all its projections do. */
  public String broken(LogicalPlan plan, Set below) {
    if (!(plan instanceof Expand)) return super.broken(plan, below);
    List output = list(plan.output());
    Iterator it = list(((Expand) plan).projections()).iterator();
    while (it.hasNext()) {
      List values = list((scala.collection.Seq) it.next());
      for (int i = 0; i < output.size(); i++) {
        Attribute a = (Attribute) output.get(i);
        if (below.contains(a.exprId()) && !Integrity.passes((Expression) values.get(i), a.exprId())) {
          return "gives the id of its input's column " + a + " to " + values.get(i);
        }
      }
    }
    return "";
  }

  /** Adds the columns that not every copy of a row passes on. */
  public void changed(LogicalPlan plan, Set ids) {
    if (!(plan instanceof Expand)) return;
    List output = list(plan.output());
    List copies = list(((Expand) plan).projections());
    for (int i = 0; i < copies.size(); i++) {
      for (int j = 0; j < output.size(); j++) {
        ExprId id = ((Attribute) output.get(j)).exprId();
        if (!Integrity.passes((Expression) ((scala.collection.Seq) copies.get(i)).apply(j), id)) ids.add(id);
      }
    }
  }

  public void tell(LogicalPlan plan, Expressions to, List sides) {
    if (plan instanceof Expand) copies((Expand) plan, to);
    else super.tell(plan, to, sides);
  }

  private static void copies(Expand expand, Expressions to) {
    List output = list(expand.output());
    List copies = list(expand.projections());
    for (int i = 0; i < copies.size(); i++) {
      List copy = list((scala.collection.Seq) copies.get(i));
      for (int j = 0; j < copy.size(); j++) {
        Attribute a = (Attribute) output.get(j);
        if (!to.handsOn(a)) to.branch("copy", i, (Expression) copy.get(j), a);
      }
    }
    to.detail("copies", String.valueOf(copies.size()));
  }
}

package provspark.plan;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.MonotonicallyIncreasingID;
import org.apache.spark.sql.catalyst.expressions.SparkPartitionID;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/** Makes nodes of the operators that are neither projections nor joins, one round trip each. Raw types, for Janino. */
public class Shapes {
  /** An Expand whose every projection hands the provenance columns on as they are. */
  public LogicalPlan expand(LogicalPlan node, LogicalPlan child, List provenance) {
    Expand e = (Expand) node;
    List projections = list(e.projections());
    for (int i = 0; i < projections.size(); i++) {
      List one = list((scala.collection.Seq) projections.get(i));
      one.addAll(provenance);
      projections.set(i, seq(one));
    }
    List output = list(e.output());
    output.addAll(provenance);
    return new Expand(seq(projections), seq(output), child);
  }

  /**
   * An as-of join by Spark's own rules, to the end: a choice of one right row, whole, by a left join. Left to Spark's
   * optimiser, the choice would be made anew for each column that is read from it, above a tap too.
   */
  public LogicalPlan asOf(LogicalPlan node, LogicalPlan left, LogicalPlan right) throws Exception {
    List sides = new ArrayList();
    sides.add(left);
    sides.add(right);
    LogicalPlan join = withChildren(node, sides);
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
    return projection(columns, p);
  }

  /** The chain of nodes from `top` to `bottom` over another child, of which it sees the columns that it saw before. */
  public LogicalPlan over(LogicalPlan top, LogicalPlan bottom, LogicalPlan child) {
    LogicalPlan below = (LogicalPlan) top.children().head();
    LogicalPlan made = top == bottom ? projection(list(below.output()), child) : over(below, bottom, child);
    return withChildren(top, one(made));
  }

  /** What tells the partitions of one stage apart; below and above an operator that keeps them, it is the same. */
  public List partition() {
    return one(new SparkPartitionID());
  }

  /** What tells the rows of one stage apart; below and above an operator that keeps each row's place, it is the same. */
  public List place() {
    return one(new MonotonicallyIncreasingID());
  }
}

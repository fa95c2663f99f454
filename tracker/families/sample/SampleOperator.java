package provspark.families.sample;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Sample;
import provspark.plan.Expressions;
import provspark.plan.Nodes;
import provspark.plan.Operator;

/** The `Operator` of samples. Raw types, for Janino. */
public class SampleOperator extends Operator {
  public boolean picks(LogicalPlan plan, Nodes nodes) {
    return true;
  }

  public void tell(LogicalPlan plan, Expressions to, List sides) {
    Sample s = (Sample) plan;
    to.detail("lower", String.valueOf(s.lowerBound()));
    to.detail("upper", String.valueOf(s.upperBound()));
    to.detail("replacement", String.valueOf(s.withReplacement()));
  }
}

package provspark.families.cached;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import provspark.plan.Operator;

/** What is asked of what was computed before. Raw types, for Janino. */
public class CachedOperator extends Operator {
  /** Of a cache what makes it, of a checkpoint its RDD's number. */
  public Object holder(LogicalPlan leaf) {
    if (leaf instanceof InMemoryRelation) return ((InMemoryRelation) leaf).cacheBuilder();
    return leaf instanceof LogicalRDD ? Integer.valueOf(((LogicalRDD) leaf).rdd().id()) : null;
  }
}

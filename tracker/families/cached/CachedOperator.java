package provspark.families.cached;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import provspark.plan.Operator;

/** The `Operator` of caches and checkpoints. Raw types, for Janino. */
public class CachedOperator extends Operator {
  /** Returns the builder of a cache, or the id of a checkpoint's RDD. */
  public Object holder(LogicalPlan leaf) {
    if (leaf instanceof InMemoryRelation) return ((InMemoryRelation) leaf).cacheBuilder();
    return leaf instanceof LogicalRDD ? Integer.valueOf(((LogicalRDD) leaf).rdd().id()) : null;
  }
}

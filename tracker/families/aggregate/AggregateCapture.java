package provspark.families.aggregate;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.aggregate.First;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.plan.Rewrite;
import provspark.taps.Keys;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/** Rewrites aggregates: a tap by the keys below, the keys' hashes above. Raw types, for Janino. */
public class AggregateCapture {
  private final Rewrite rewrite;

  public AggregateCapture(Rewrite rewrite) {
    this.rewrite = rewrite;
  }

  /** Returns the first key type that can't be hashed, or ""; "none" if there is no key. */
  public String unhashable(int node) {
    return rewrite.unhashableOrNone(keys(node));
  }

  private List keys(int node) {
    return list(((Aggregate) rewrite.node(node)).groupingExpressions());
  }

  /** Adds a tap by an aggregate's keys. */
  public int tapGroups(int node, int t) {
    return rewrite.tapKeyed(t, keys(node));
  }

  /** Adds an aggregate over a tapped child; the hashes of its keys are its only provenance column. */
  public int aggregate(int node, int t) {
    return aggregated(node, t, Keys.hashes(keys(node), "__group"));
  }

  // -- dropDuplicates on some columns

  /** Numbers the rows; the number is part of a provenance column. */
  public int numbered(int t) {
    return rewrite.with(apart(rewrite.plan(t)), rewrite.provenance(t), one(alias(rewrite.taps().rowId(), "__row")));
  }

  /**
   * Adds an aggregate that keeps a row of each group, over a tapped and numbered child. It outputs the row's provenance
   * columns, the key's hashes and the row's number, which sealing uses as the third column of the group's provenance
   * column. All First functions of one aggregate take the same row, the user's and ours: Spark updates and merges their
   * buffers together, row by row.
   */
  public int keep(int node, int t) {
    List made = new ArrayList();
    for (int i = 0; i < rewrite.provenance(t).size(); i++) {
      made.add(alias(new First((Expression) rewrite.provenance(t).get(i), false).toAggregateExpression(), "__kept"));
    }
    made.addAll(made.size() - 1, Keys.hashes(keys(node), "__group")); // before the last, the number
    return aggregated(node, t, made);
  }

  private int aggregated(int node, int t, List made) {
    Aggregate a = (Aggregate) rewrite.node(node);
    List all = list(a.aggregateExpressions());
    all.addAll(made);
    List values = values(a);
    values.set(1, seq(all)); // its columns and then its child; the rest, such as a hint, stays
    values.set(2, rewrite.plan(t));
    return rewrite.traced((LogicalPlan) a.makeCopy(values.toArray()), attributes(made));
  }
}

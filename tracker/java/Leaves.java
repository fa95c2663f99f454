package provspark;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.CommandResult;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.catalyst.plans.logical.SetVariable;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/** What plans read from outside of the script, told once. */
public class Leaves {
  private final Map told = new IdentityHashMap();

  /** The leaves of a plan, its subqueries included, that were not told yet; of files, in the state that they are in. */
  public List fresh(LogicalPlan plan) {
    List out = new ArrayList();
    visit(plan, out);
    return out;
  }

  private void visit(LogicalPlan plan, List out) {
    Iterator inner = scala.jdk.javaapi.CollectionConverters.asJava(plan.subqueries()).iterator();
    while (inner.hasNext()) visit((LogicalPlan) inner.next(), out);
    if ((plan instanceof Command && !(plan instanceof SetVariable)) || plan instanceof CommandResult) return;
    if (plan.children().isEmpty()) {
      if (!own(plan) && news(plan)) out.add(plan);
      return;
    }
    Iterator below = scala.jdk.javaapi.CollectionConverters.asJava(plan.children()).iterator();
    while (below.hasNext()) visit((LogicalPlan) below.next(), out);
  }

  private static boolean own(LogicalPlan leaf) {
    return leaf instanceof LocalRelation || leaf instanceof Range || leaf instanceof OneRowRelation
        || leaf instanceof CTERelationRef || leaf.getClass().getSimpleName().equals("ResolvedInlineTable");
  }

  private boolean news(LogicalPlan leaf) {
    Object key = leaf;
    Long size = Long.valueOf(-1L);
    if (leaf instanceof LogicalRelation && ((LogicalRelation) leaf).relation() instanceof HadoopFsRelation) {
      HadoopFsRelation relation = (HadoopFsRelation) ((LogicalRelation) leaf).relation();
      key = relation.location();
      size = Long.valueOf(relation.location().sizeInBytes());
    }
    return !size.equals(told.put(key, size));
  }
}

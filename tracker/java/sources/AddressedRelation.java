package provspark.sources;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.StructType;
import static provspark.trees.Trees.*;

/**
 * A file relation whose rows have an address column, with a corrected size. Spark estimates the size of a scan from its
 * files and the widths of the columns that it reads, and broadcasts small ones. The address could lift a scan of a few
 * narrow columns above the broadcast threshold. So if that may happen, the relation reports the size with which Spark's
 * estimate equals that of the user's plan. Estimates from a catalogue's statistics stay as they are. Raw types, for
 * Janino.
 */
public class AddressedRelation extends HadoopFsRelation {
  private static final long serialVersionUID = 1L;

  /** Bytes per row that Spark adds to the widths of the columns. */
  private static final double ROW = 8;

  private final double part;

  private AddressedRelation(HadoopFsRelation r, StructType partition, FileFormat format, double part) {
    super(
        r.location(), partition, r.dataSchema(), r.bucketSpec(), format, r.options(),
        (org.apache.spark.sql.classic.SparkSession) r.sparkSession());
    this.part = part;
  }

  /** Makes a copy of the relation with another format and with partition columns that include the address. */
  public AddressedRelation(HadoopFsRelation relation, StructType partition, FileFormat format) {
    this(relation, partition, format, 1);
  }

  public long sizeInBytes() {
    return (long) (super.sizeInBytes() * part);
  }

  /** Compares the size too: otherwise Spark would consider a plan with another size equal and keep the first one. */
  public boolean equals(Object other) {
    return super.equals(other) && (!(other instanceof AddressedRelation) || ((AddressedRelation) other).part == part);
  }

  public int hashCode() {
    return super.hashCode();
  }

  /** Returns the same plan with sizes such that addresses do not prevent broadcast joins. */
  public static LogicalPlan estimated(LogicalPlan plan) throws Exception {
    Map parts = new HashMap();
    if (joins(plan)) near(plan, parts);
    if (parts.isEmpty()) return plan;
    parts(byRuleToTheEnd(OPTIMIZER + "ColumnPruning", plan), parts);
    return (LogicalPlan) plan.transformUp(new Sizes(parts));
  }

  private static boolean joins(LogicalPlan plan) {
    if (plan instanceof Join) return true;
    List below = list(plan.children());
    for (int i = 0; i < below.size(); i++) if (joins((LogicalPlan) below.get(i))) return true;
    return false;
  }

  /** Collects the addresses of leaves that exceed the threshold, but may not exceed it with fewer columns. */
  private static void near(LogicalPlan plan, Map out) {
    if (addressed(plan)) {
      double size = ((LogicalRelation) plan).relation().sizeInBytes();
      double limit = plan.conf().autoBroadcastJoinThreshold();
      List all = list(plan.output());
      if (size > limit && size * ROW / width(all) <= limit) out.put(address(all), Double.valueOf(1));
    }
    List below = list(plan.children());
    for (int i = 0; i < below.size(); i++) near((LogicalPlan) below.get(i), out);
  }

  private static boolean addressed(LogicalPlan plan) {
    return plan instanceof LogicalRelation && ((LogicalRelation) plan).relation() instanceof AddressedRelation;
  }

  private static Object address(List output) {
    return ((Attribute) output.get(output.size() - 1)).exprId();
  }

  /** Sets, by address, the factor that corrects Spark's size estimate of a leaf with the columns that are read. */
  private static void parts(LogicalPlan plan, Map out) {
    LogicalPlan leaf = plan instanceof Project ? ((Project) plan).child() : plan;
    while (leaf instanceof Filter) leaf = ((Filter) leaf).child();
    if (plan instanceof Project && addressed(leaf)) {
      List all = list(leaf.output());
      Object id = address(all);
      List read = list(plan.output());
      double wide = width(read);
      double narrow = wide;
      for (int i = 0; i < read.size(); i++) if (((Attribute) read.get(i)).exprId().equals(id)) narrow = wide - ROW;
      if (out.containsKey(id)) out.put(id, Double.valueOf(narrow / wide * width(all) / (width(all) - ROW)));
      return;
    }
    List below = list(plan.children());
    for (int i = 0; i < below.size(); i++) parts((LogicalPlan) below.get(i), out);
  }

  private static double width(List attributes) {
    double sum = ROW;
    for (int i = 0; i < attributes.size(); i++) sum += ((Attribute) attributes.get(i)).dataType().defaultSize();
    return sum;
  }

  /** Replaces relations by copies whose size is corrected by their factor. */
  static class Sizes extends scala.runtime.AbstractPartialFunction {
    private final Map parts;

    Sizes(Map parts) {
      this.parts = parts;
    }

    public boolean isDefinedAt(Object plan) {
      return addressed((LogicalPlan) plan) && parts.containsKey(address(list(((LogicalPlan) plan).output())));
    }

    public Object applyOrElse(Object plan, scala.Function1 otherwise) {
      if (!isDefinedAt(plan)) return otherwise.apply(plan);
      LogicalRelation leaf = (LogicalRelation) plan;
      AddressedRelation r = (AddressedRelation) leaf.relation();
      double part = ((Double) parts.get(address(list(leaf.output())))).doubleValue();
      return over(leaf, new AddressedRelation(r, r.partitionSchema(), r.fileFormat(), part), list(leaf.output()));
    }
  }

  /** Returns a copy of the leaf over another relation, with this output. */
  static LogicalPlan over(LogicalRelation leaf, HadoopFsRelation relation, List output) {
    Object[] values = new Object[leaf.productArity()];
    for (int i = 0; i < values.length; i++) values[i] = leaf.productElement(i);
    values[0] = relation;
    values[1] = seq(output);
    return (LogicalPlan) leaf.makeCopy(values);
  }
}

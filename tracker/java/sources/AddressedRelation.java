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
 * A file relation whose rows have an address. Spark takes what is read of a relation for as large as its files by the widths of
 * the columns read, and broadcasts what is small: with an address, a few narrow columns would be over its threshold that are
 * not without. So where it may matter, the relation gives the size by which Spark's estimate is that of the user's plan.
 * Estimates that start from a catalogue's statistics stay as they are. Raw types, for Janino.
 */
public class AddressedRelation extends HadoopFsRelation {
  private static final long serialVersionUID = 1L;

  /** What Spark adds to the widths of a row's columns. */
  private static final double ROW = 8;

  private final double part;

  private AddressedRelation(HadoopFsRelation r, StructType partition, FileFormat format, double part) {
    super(
        r.location(), partition, r.dataSchema(), r.bucketSpec(), format, r.options(),
        (org.apache.spark.sql.classic.SparkSession) r.sparkSession());
    this.part = part;
  }

  /** The relation read through another format, with one partition column more. */
  public AddressedRelation(HadoopFsRelation relation, StructType partition, FileFormat format) {
    this(relation, partition, format, 1);
  }

  public long sizeInBytes() {
    return (long) (super.sizeInBytes() * part);
  }

  /** Otherwise Spark would take a plan with another size for the same, and keep the first. */
  public boolean equals(Object other) {
    return super.equals(other) && (!(other instanceof AddressedRelation) || ((AddressedRelation) other).part == part);
  }

  public int hashCode() {
    return super.hashCode();
  }

  /** The same plan, in which no address keeps a table from being broadcast. */
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

  /** Collects the addresses of leaves that are over the threshold whole, but need not be by their columns. */
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

  /** By address, by how much Spark's estimate of a leaf's columns read is too large. */
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

  /** Relations that give such a part of their size. */
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

  /** The leaf over another relation, with this output. */
  static LogicalPlan over(LogicalRelation leaf, HadoopFsRelation relation, List output) {
    Object[] values = new Object[leaf.productArity()];
    for (int i = 0; i < values.length; i++) values[i] = leaf.productElement(i);
    values[0] = relation;
    values[1] = seq(output);
    return (LogicalPlan) leaf.makeCopy(values);
  }
}

package provspark.sources;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructType;
import provspark.trees.Trees;
import static provspark.spark.LogicalPlans.*;

/** Scan of a file relation with addresses: the leaf of a write's plan, or a count of rows after the write. */
public class AddressedScan {
  private final LogicalRelation node;
  private final HadoopFsRelation relation;
  private final List pruning;
  private final AddressedFormats formats;
  private final String name;

  /** `pruning`: predicates on partition columns. */
  AddressedScan(LogicalRelation node, List pruning, AddressedFormats formats) {
    this.node = node;
    this.relation = (HadoopFsRelation) node.relation();
    this.pruning = pruning;
    this.formats = formats;
    this.name = freeName();
  }

  private String freeName() {
    List taken = new ArrayList();
    String[] columns = relation.schema().fieldNames();
    for (int i = 0; i < columns.length; i++) taken.add(columns[i].toLowerCase(java.util.Locale.ROOT));
    String free = "__provspark_address";
    while (taken.contains(free)) free = free + "_";
    return free;
  }

  /** Returns the relation with the address after its output, below the predicates on partition columns. */
  public LogicalPlan plan() throws Exception {
    StructType partition = relation.partitionSchema().add(name, DataTypes.LongType, false);
    LogicalPlan plan = over(new AddressedRelation(relation, partition, formats.format()));
    for (int i = 0; i < pruning.size(); i++) plan = filtered((Expression) pruning.get(i), plan);
    return plan;
  }

  /** Returns the blocks' reports; see AddressedFormats. */
  public byte[] reports() {
    return formats.reports();
  }

  /**
   * Reads files to their ends without any column, and returns the reports of their blocks. No block crosses a multiple
   * of `split` bytes; with 0, Spark chooses the blocks.
   */
  public byte[] count(Object[] files, long split) throws Exception {
    AddressedFormats again = formats.again();
    SparkSession session = ((SparkSession) relation.sparkSession()).cloneSession();
    if (split > 0L) {
      session.conf().set("spark.sql.files.maxPartitionBytes", split);
      session.conf().set("spark.sql.files.minPartitionNum", 1L);
    }
    StructType partition = new StructType().add(name, DataTypes.LongType, false);
    HadoopFsRelation addressed =
        new HadoopFsRelation(
            new Fixed(files), partition, relation.dataSchema(), scala.Option.empty(), again.format(), relation.options(),
            session);
    LogicalPlan read = over(addressed);
    List address = new ArrayList();
    address.add(read.output().last());
    LogicalPlan plan = projection(address, read);
    Dataset.ofRows(session, plan).queryExecution().toRdd().count();
    return again.reports();
  }

  private LogicalPlan over(HadoopFsRelation addressed) {
    List output = Trees.list(node.output());
    output.add(
        new AttributeReference(
            name, DataTypes.LongType, false, Metadata.empty(), NamedExpression.newExprId(),
            Trees.seq(new ArrayList())));
    return AddressedRelation.over(node, addressed, output);
  }

  /** Index of a fixed list of files, without partition columns. */
  static class Fixed implements FileIndex {
    private final FileStatus[] files;

    Fixed(Object[] files) {
      this.files = new FileStatus[files.length];
      for (int i = 0; i < files.length; i++) this.files[i] = (FileStatus) files[i];
    }

    public scala.collection.immutable.Seq rootPaths() {
      List out = new ArrayList();
      for (int i = 0; i < files.length; i++) out.add(files[i].getPath());
      return Trees.seq(out);
    }

    public scala.collection.immutable.Seq listFiles(
        scala.collection.immutable.Seq partitionFilters, scala.collection.immutable.Seq dataFilters) {
      return Trees.seq(Arrays.asList(new Object[] {PartitionDirectory.apply(InternalRow.empty(), files)}));
    }

    public String[] inputFiles() {
      String[] out = new String[files.length];
      for (int i = 0; i < files.length; i++) out[i] = files[i].getPath().toString();
      return out;
    }

    public void refresh() {}

    public long sizeInBytes() {
      long total = 0L;
      for (int i = 0; i < files.length; i++) total += files[i].getLen();
      return total;
    }

    public StructType partitionSchema() {
      return new StructType();
    }
  }
}

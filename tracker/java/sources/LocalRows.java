package provspark.sources;

import java.io.Serializable;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.MonotonicallyIncreasingID;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import provspark.trees.Trees;
import static provspark.spark.LogicalPlans.*;

/** Rows made by the script, with addresses: a local relation, an RDD of rows passed to Spark, or a range. */
public class LocalRows {
  private static final String NAME = "__provspark_address";
  private final LogicalPlan node;

  public LocalRows(LogicalPlan node) {
    this.node = node;
  }

  /**
   * Returns the rows with their address: the position in a local relation, partition * 2^33 + position in an RDD, and
   * the value itself in a range.
   */
  public LogicalPlan leaf() {
    if (node instanceof LocalRelation) return numbered((LocalRelation) node);
    List columns = Trees.list(node.output());
    Expression place = node instanceof Range ? (Expression) columns.get(0) : new MonotonicallyIncreasingID();
    columns.add(Trees.alias(place, NAME));
    return projection(columns, node);
  }

  private static LogicalPlan numbered(LocalRelation node) {
    List output = Trees.list(node.output());
    DataType[] types = new DataType[output.size()];
    for (int i = 0; i < types.length; i++) types[i] = ((Attribute) output.get(i)).dataType();
    output.add(
        new AttributeReference(
            NAME, DataTypes.LongType, false, Metadata.empty(), NamedExpression.newExprId(),
            Trees.seq(new ArrayList())));
    List rows = Trees.list(node.data());
    for (int i = 0; i < rows.size(); i++) {
      InternalRow row = (InternalRow) rows.get(i);
      Object[] values = new Object[types.length + 1];
      for (int j = 0; j < types.length; j++) values[j] = row.isNullAt(j) ? null : row.get(j, types[j]);
      values[types.length] = Long.valueOf(i);
      rows.set(i, new GenericInternalRow(values));
    }
    Object[] values = new Object[node.productArity()];
    for (int i = 0; i < values.length; i++) values[i] = node.productElement(i);
    values[0] = Trees.seq(output);
    values[1] = Trees.seq(rows);
    return (LogicalPlan) node.makeCopy(values);
  }

  /** Returns a hash of the rows and the number of rows of each partition, separated by spaces. */
  public String count() throws Exception {
    List found = new ArrayList();
    if (node instanceof LocalRelation) {
      found.add(new Count(node.schema()).of(Trees.list(((LocalRelation) node).data()).iterator()));
    } else {
      found = ((LogicalRDD) node).rdd().toJavaRDD().mapPartitionsWithIndex(new Count(node.schema()), true).collect();
    }
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    StringBuilder counts = new StringBuilder();
    for (int i = 0; i < found.size(); i++) {
      digest.update(((String) found.get(i)).getBytes("UTF-8"));
      counts.append(' ').append(((String) found.get(i)).split(" ")[1]);
    }
    return hex(digest.digest()) + counts;
  }

  /** Returns names and types of the columns, each followed by NUL. */
  public String fields() {
    StringBuilder out = new StringBuilder();
    StructField[] fields = node.schema().fields();
    for (int i = 0; i < fields.length; i++) {
      out.append(fields[i].name()).append('\0').append(fields[i].dataType().simpleString()).append('\0');
    }
    return out.toString();
  }

  /** Returns start, step and number of values of a range, separated by spaces. */
  public String range() {
    Range range = (Range) node;
    return range.start() + " " + range.step() + " " + range.numElements();
  }

  /** Hashes and counts the rows of a partition. */
  static class Count implements Function2, Serializable {
    private static final long serialVersionUID = 1L;
    private final StructType schema;

    Count(StructType schema) {
      this.schema = schema;
    }

    public Object call(Object partition, Object rows) throws Exception {
      List out = new ArrayList();
      out.add(of((Iterator) rows));
      return out.iterator();
    }

    String of(Iterator rows) throws Exception {
      UnsafeProjection projection = UnsafeProjection.create(schema);
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      long n = 0L;
      while (rows.hasNext()) {
        digest.update(((UnsafeRow) projection.apply((InternalRow) rows.next())).getBytes());
        n++;
      }
      return hex(digest.digest()) + " " + n;
    }
  }

  static String hex(byte[] bytes) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < 16; i++) out.append(String.format("%02x", new Object[] {Byte.valueOf(bytes[i])}));
    return out.toString();
  }
}

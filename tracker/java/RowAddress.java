package provspark;

import java.io.Serializable;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** (file path, row index) to address: the file's first address + row index; -1 for a file that was not listed. */
public class RowAddress implements UDF2, Serializable {
  private final Broadcast first;
  private transient String last;
  private transient long lastFirst;

  public RowAddress(Broadcast first) {
    this.first = first;
  }

  public Object call(Object path, Object row) throws Exception {
    String p = (String) path;
    if (!p.equals(last)) {
      Long found = (Long) ((Map) first.value()).get(new Path(new URI(p)).toString());
      lastFirst = found == null ? Long.MIN_VALUE : found.longValue();
      last = p;
    }
    return Long.valueOf(lastFirst < 0 ? -1L : lastFirst + ((Long) row).longValue());
  }

  /** The relation's output and the address, with the predicates on partition columns below. */
  public LogicalPlan over(LogicalRelation relation, List pruning) {
    List output = new ArrayList(scala.jdk.javaapi.CollectionConverters.asJava(relation.output()));
    LogicalRelation read = relation;
    AttributeReference metadata = metadata(relation);
    if (metadata == null) {
      read = relation.withMetadataColumns();
      metadata = metadata(read);
    }
    Column[] arguments = {field(metadata, "file_path"), field(metadata, "row_index")};
    Column call = org.apache.spark.sql.functions.udf((UDF2) this, DataTypes.LongType).apply(arguments);
    SparkSession session = (SparkSession) ((HadoopFsRelation) relation.relation()).sparkSession();
    scala.collection.immutable.Seq none = seq(new ArrayList());
    Expression address = session.expression(call);
    output.add(new Alias(address, "__provspark_address", NamedExpression.newExprId(), none, scala.Option.empty(), none));
    LogicalPlan below = read;
    for (int i = 0; i < pruning.size(); i++) below = new Filter((Expression) pruning.get(i), below);
    return new Project(seq(output), below);
  }

  private static AttributeReference metadata(LogicalRelation relation) {
    List output = new ArrayList(scala.jdk.javaapi.CollectionConverters.asJava(relation.output()));
    for (int i = 0; i < output.size(); i++) {
      AttributeReference a = (AttributeReference) output.get(i);
      if (org.apache.spark.sql.catalyst.expressions.FileSourceMetadataAttribute$.MODULE$.unapply(a).isDefined()) return a;
    }
    return null;
  }

  private static Column field(AttributeReference metadata, String name) {
    int at = ((StructType) metadata.dataType()).fieldIndex(name);
    return ExpressionUtils.column(new GetStructField(metadata, at, scala.Option.apply(name)));
  }

  private static scala.collection.immutable.Seq seq(List items) {
    return scala.jdk.javaapi.CollectionConverters.asScala(items).toSeq();
  }
}

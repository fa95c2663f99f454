package provspark.sinks;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.catalog.BucketSpec;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils$;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.Concat;
import org.apache.spark.sql.catalyst.expressions.Empty2Null;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NullsFirst$;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.V1WritesUtils$;
import org.apache.spark.sql.execution.datasources.WriterBucketSpec;
import org.apache.spark.sql.types.DataTypes;
import provspark.trees.Trees;
import static provspark.spark.LogicalPlans.*;

/** Sorts the rows of a partitioned or bucketed write below the tap, as Spark requires. Raw types, for Janino. */
public class PartitionShape {
  private static final String SPLIT = "\0";

  /**
   * Returns the sorted plan, whose output may have columns added at the end, and a string expression over it that
   * changes with the partition folder and the bucket. `at` contains the positions of the partition columns in the
   * plan's output, separated by spaces; the first `statics` of them have one value each. `bucket` is "", or the number
   * of buckets and the positions of the bucket columns and of the sort columns, separated by colons.
   *
   * V1Writes adds its projection with Empty2Null above the tap and must find the required order there. It accepts the
   * order of a bare column as that of Empty2Null over it. A plan that already has this order stays unchanged. Otherwise
   * this method adds below the tap what V1Writes would have added: a sort by Empty2Null, which does not separate nulls
   * from empty strings, over a projection. As with V1Writes' own sort, the optimiser drops a user's sort right below.
   */
  public List sorted(LogicalPlan plan, String at, int statics, String bucket, String zone) {
    Attribute[] output = new Attribute[plan.output().size()];
    plan.output().copyToArray(output);
    List columns = at(output, at);
    List named = new ArrayList();
    for (int i = 0; i < output.length; i++) named.add(output[i].withName("c" + i));
    scala.Option spec = bucket.length() == 0 ? scala.Option.empty() : scala.Option.apply(spec(bucket));
    scala.collection.immutable.Map none = scala.collection.immutable.Map$.MODULE$.empty();
    scala.collection.Seq wanted = V1WritesUtils$.MODULE$.getSortOrder(Trees.seq(named), Trees.seq(columns), spec, none, statics);
    List keys = new ArrayList();
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(wanted).iterator();
    while (it.hasNext()) keys.add(((SortOrder) it.next()).child());
    scala.Option writer = V1WritesUtils$.MODULE$.getWriterBucketSpec(spec, Trees.seq(named), none);
    Expression place = folder(columns, writer.isDefined() ? ((WriterBucketSpec) writer.get()).bucketIdExpression() : null, zone);
    List out = new ArrayList();
    if (V1WritesUtils$.MODULE$.isOrderingMatched(Trees.seq(keys), plan.outputOrdering())) {
      out.add(plan);
      out.add(place);
      return out;
    }
    List shown = new ArrayList(Arrays.asList(output));
    List order = new ArrayList();
    for (int i = 0; i < keys.size(); i++) {
      Expression key = (Expression) keys.get(i);
      List same = new ArrayList();
      if (i < columns.size() - statics && text((Attribute) key) && key.nullable()) {
        Alias filled = Trees.alias(new Empty2Null(key), "provspark_" + ((Attribute) key).name());
        shown.add(filled);
        same.add(key);
        key = filled.toAttribute();
      }
      order.add(new SortOrder(key, Ascending$.MODULE$, NullsFirst$.MODULE$, Trees.seq(same)));
    }
    LogicalPlan below = shown.size() == output.length ? plan : projection(shown, plan);
    out.add(ordered(order, false, below));
    out.add(place);
    return out;
  }

  private static List at(Attribute[] output, String places) {
    List out = new ArrayList();
    String[] each = places.split(" ");
    for (int i = 0; i < each.length; i++) if (each[i].length() > 0) out.add(output[Integer.parseInt(each[i])]);
    return out;
  }

  private static BucketSpec spec(String bucket) {
    String[] parts = bucket.split(":", -1);
    List[] names = new List[] {new ArrayList(), new ArrayList()};
    for (int i = 0; i < 2; i++) {
      String[] places = parts[i + 1].split(" ");
      for (int k = 0; k < places.length; k++) if (places[k].length() > 0) names[i].add("c" + places[k]);
    }
    return new BucketSpec(Integer.parseInt(parts[0]), Trees.seq(names[0]), Trees.seq(names[1]));
  }

  private static boolean text(Attribute column) {
    return column.dataType().equals(DataTypes.StringType);
  }

  /** Joins the columns as strings with NUL, nulls as their folder's name: cheaper per row than the folder itself. */
  private static Expression folder(List columns, Expression bucket, String zone) {
    List parts = new ArrayList();
    for (int i = 0; i < columns.size(); i++) {
      Attribute column = (Attribute) columns.get(i);
      List choices = new ArrayList();
      choices.add(text(column) ? (Expression) column : new Cast(column, DataTypes.StringType, scala.Option.apply(zone)));
      choices.add(literal(ExternalCatalogUtils$.MODULE$.DEFAULT_PARTITION_NAME()));
      if (i > 0) parts.add(literal(SPLIT));
      parts.add(new Coalesce(Trees.seq(choices)));
    }
    if (bucket != null) {
      if (!parts.isEmpty()) parts.add(literal(SPLIT));
      parts.add(new Cast(bucket, DataTypes.StringType, scala.Option.apply(zone)));
    }
    return parts.size() == 1 ? (Expression) parts.get(0) : new Concat(Trees.seq(parts));
  }

  private static Expression literal(Object value) {
    return Literal$.MODULE$.apply(value);
  }

  /**
   * Returns the folder and the bucket (or -1) of each value of that string. `values`, `names` and the result are JSON
   * lists. The result is "" if a value has the wrong number of parts.
   */
  public String folders(String values, String names, boolean buckets) throws Exception {
    ObjectMapper json = new ObjectMapper();
    List columns = (List) json.readValue(names, List.class);
    List out = new ArrayList();
    Iterator it = ((List) json.readValue(values, List.class)).iterator();
    while (it.hasNext()) {
      String[] parts = ((String) it.next()).split(SPLIT, -1);
      if (parts.length != columns.size() + (buckets ? 1 : 0)) return "";
      StringBuilder folder = new StringBuilder();
      for (int i = 0; i < columns.size(); i++) {
        if (i > 0) folder.append('/');
        folder.append(ExternalCatalogUtils$.MODULE$.getPartitionPathString((String) columns.get(i), parts[i]));
      }
      List both = new ArrayList();
      both.add(folder.toString());
      both.add(Integer.valueOf(buckets ? Integer.parseInt(parts[columns.size()]) : -1));
      out.add(both);
    }
    return json.writeValueAsString(out);
  }
}

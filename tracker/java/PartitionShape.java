package provspark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils$;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.Concat;
import org.apache.spark.sql.catalyst.expressions.Empty2Null;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NullsFirst$;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.SparkPartitionID;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.types.DataTypes;

/** The order in which a partitioned write takes its rows, put below the tap. Raw types, for Janino. */
public class PartitionShape {
  private static final String SPLIT = "\0";

  private static scala.collection.immutable.Seq seq(List items) {
    return scala.jdk.javaapi.CollectionConverters.asScala(items).toSeq();
  }

  /**
   * `columns`: places of the partition columns in the plan's output, split by spaces. Returns the sorted plan and the
   * string over it that changes with the partition folder.
   *
   * The order is over Empty2Null itself, not over a column made of it: Spark's V1Writes then finds its own projection's
   * order met, and the columns keep their ids. Where the optimiser finds that a column has no nulls, V1Writes asks for the
   * order of the bare column, which is then the same: hence the sameOrderExpressions. The filter below the sort, which lets all through, keeps the optimiser
   * from dropping a sort of the user's underneath as overruled by ours: plain Spark sorts again only after that rule.
   */
  public List sorted(LogicalPlan plan, String columns, String zone) {
    Attribute[] output = new Attribute[plan.output().size()];
    plan.output().copyToArray(output);
    String[] places = columns.split(" ");
    List order = new ArrayList();
    List parts = new ArrayList();
    for (int i = 0; i < places.length; i++) {
      Attribute column = output[Integer.parseInt(places[i])];
      boolean text = column.dataType().equals(DataTypes.StringType);
      Expression key = column;
      List same = new ArrayList();
      if (text) {
        Expression filled = new Empty2Null(column);
        same.add(column.nullable() ? (Expression) column : filled);
        if (column.nullable()) key = filled;
      }
      order.add(new SortOrder(key, Ascending$.MODULE$, NullsFirst$.MODULE$, seq(same)));
      List choices = new ArrayList();
      choices.add(text ? (Expression) column : new Cast(column, DataTypes.StringType, scala.Option.apply(zone)));
      choices.add(literal(ExternalCatalogUtils$.MODULE$.DEFAULT_PARTITION_NAME()));
      if (i > 0) parts.add(literal(SPLIT));
      parts.add(column.nullable() ? new Coalesce(seq(choices)) : choices.get(0));
    }
    Expression always = new GreaterThanOrEqual(new SparkPartitionID(), literal(Integer.valueOf(0)));
    List out = new ArrayList();
    out.add(new Sort(seq(order), false, new Filter(always, plan), scala.Option.empty()));
    out.add(parts.size() == 1 ? parts.get(0) : new Concat(seq(parts)));
    return out;
  }

  private static Expression literal(Object value) {
    return Literal$.MODULE$.apply(value);
  }

  /** The folder of each value of that string; values, names and the answer are JSON lists. Empty if one can't be read. */
  public String folders(String values, String names) throws Exception {
    ObjectMapper json = new ObjectMapper();
    List columns = (List) json.readValue(names, List.class);
    List out = new ArrayList();
    Iterator it = ((List) json.readValue(values, List.class)).iterator();
    while (it.hasNext()) {
      String[] parts = ((String) it.next()).split(SPLIT, -1);
      if (parts.length != columns.size()) return "";
      StringBuilder folder = new StringBuilder();
      for (int i = 0; i < parts.length; i++) {
        if (i > 0) folder.append('/');
        folder.append(ExternalCatalogUtils$.MODULE$.getPartitionPathString((String) columns.get(i), parts[i]));
      }
      out.add(folder.toString());
    }
    return json.writeValueAsString(out);
  }
}

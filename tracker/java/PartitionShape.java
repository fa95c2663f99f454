package provspark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
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
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NullsFirst$;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.execution.datasources.V1WritesUtils$;
import org.apache.spark.sql.types.DataTypes;

/** The order in which a partitioned write takes its rows, put below the tap. Raw types, for Janino. */
public class PartitionShape {
  private static final String SPLIT = "\0";

  private static scala.collection.immutable.Seq seq(List items) {
    return scala.jdk.javaapi.CollectionConverters.asScala(items).toSeq();
  }

  /**
   * `at`: places of the partition columns in the plan's output, split by spaces. Returns the sorted plan, whose output may
   * have columns added behind, and the string over it that changes with the partition folder.
   *
   * Above the tap V1Writes will put its projection with Empty2Null and must find the order met: it takes the order of a
   * bare column as the order of Empty2Null over it. Rows that come in that order stay as they are. Otherwise, below the tap
   * stands what V1Writes would have put there: a sort by Empty2Null, which mixes nulls and empty strings as they come, over
   * a projection. The optimiser treats it as it treats V1Writes' own: it drops a sort of the user's right underneath.
   */
  public List sorted(LogicalPlan plan, String at, String zone) {
    Attribute[] output = new Attribute[plan.output().size()];
    plan.output().copyToArray(output);
    String[] places = at.split(" ");
    List columns = new ArrayList();
    for (int i = 0; i < places.length; i++) columns.add(output[Integer.parseInt(places[i])]);
    List out = new ArrayList();
    if (V1WritesUtils$.MODULE$.isOrderingMatched(seq(columns), plan.outputOrdering())) {
      out.add(plan);
      out.add(folder(columns, zone));
      return out;
    }
    List shown = new ArrayList(Arrays.asList(output));
    List order = new ArrayList();
    for (int i = 0; i < places.length; i++) {
      Attribute column = (Attribute) columns.get(i);
      Expression key = column;
      List same = new ArrayList();
      if (text(column) && column.nullable()) {
        Alias filled = alias(new Empty2Null(column), "provspark_" + column.name());
        shown.add(filled);
        key = filled.toAttribute();
        same.add(column);
      }
      order.add(new SortOrder(key, Ascending$.MODULE$, NullsFirst$.MODULE$, seq(same)));
    }
    LogicalPlan below = shown.size() == output.length ? plan : new Project(seq(shown), plan);
    out.add(new Sort(seq(order), false, below, scala.Option.empty()));
    out.add(folder(columns, zone));
    return out;
  }

  private static boolean text(Attribute column) {
    return column.dataType().equals(DataTypes.StringType);
  }

  private static Alias alias(Expression e, String name) {
    scala.collection.immutable.Seq none = seq(new ArrayList());
    return new Alias(e, name, NamedExpression.newExprId(), none, scala.Option.empty(), none);
  }

  /** The columns as strings with NUL between, nulls by their folder's name: cheaper a row than the folder itself. */
  private static Expression folder(List columns, String zone) {
    List parts = new ArrayList();
    for (int i = 0; i < columns.size(); i++) {
      Attribute column = (Attribute) columns.get(i);
      List choices = new ArrayList();
      choices.add(text(column) ? (Expression) column : new Cast(column, DataTypes.StringType, scala.Option.apply(zone)));
      choices.add(literal(ExternalCatalogUtils$.MODULE$.DEFAULT_PARTITION_NAME()));
      if (i > 0) parts.add(literal(SPLIT));
      parts.add(new Coalesce(seq(choices)));
    }
    return parts.size() == 1 ? (Expression) parts.get(0) : new Concat(seq(parts));
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

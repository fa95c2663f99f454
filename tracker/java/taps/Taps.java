package provspark.taps;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.api.java.UDF0;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.api.java.UDF10;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.api.java.UDF3;
import org.apache.spark.sql.api.java.UDF4;
import org.apache.spark.sql.api.java.UDF5;
import org.apache.spark.sql.api.java.UDF6;
import org.apache.spark.sql.api.java.UDF7;
import org.apache.spark.sql.api.java.UDF8;
import org.apache.spark.sql.api.java.UDF9;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.CreateArray;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.SparkPartitionID;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.expressions.UserDefinedFunction;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.BooleanType$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.LongType$;
import org.apache.spark.util.CollectionAccumulator;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/** Makes the taps of one write and takes their receipts. Raw types, for Janino. */
public class Taps {
  static final int UDF_ARGUMENTS = 10;

  private final SparkSession session;
  private final String folder;
  private CollectionAccumulator receipts = new CollectionAccumulator();
  private int count = 0;
  private boolean byPartition = false;

  /** folder: URL of the folder for sidecars. */
  public Taps(SparkSession session, String folder) {
    this.session = session;
    this.folder = folder;
    session.sparkContext().register(receipts);
  }

  /**
   * Before any tap: each is to say which partition of the plan a row was in, for many tasks may compute it, bit by bit; and
   * what a failed task computed may stay in the cache.
   */
  public void markPartitions() {
    byPartition = true;
    receipts = new CollectionAccumulator();
    receipts.register(session.sparkContext(), scala.Option.empty(), true);
  }

  /** Leaves out numbers of taps, for those of a plan that was traced before. */
  public void skip(int n) {
    count += n;
  }

  /** A tap in row order; mark: a string that names the output folder, or null. */
  public LogicalPlan ordered(LogicalPlan plan, List provenance, Expression mark) {
    return tap(plan, provenance, provenance.size(), false, Tap.ALL, mark);
  }

  /** A tap by key; numbers: `width` columns of provenance columns and then two of the key; keeps: which rows pass, a constant of Tap. */
  public LogicalPlan keyed(LogicalPlan plan, List numbers, int width, int keeps) {
    return tap(plan, numbers, width, true, keeps, byPartition ? partition() : null);
  }

  private LogicalPlan tap(LogicalPlan plan, List numbers, int width, boolean keyed, int keeps, Expression mark) {
    Tap made = new Tap(folder, count++, width, keyed, keeps, mark != null, receipts);
    List arguments = new ArrayList();
    if (mark != null) arguments.add(mark);
    if (numbers.isEmpty()) arguments.add(Keys.zero());
    else if (numbers.size() + arguments.size() <= UDF_ARGUMENTS) arguments.addAll(numbers);
    else arguments.add(new CreateArray(seq(numbers), false));
    List columns = new ArrayList();
    for (int i = 0; i < arguments.size(); i++) columns.add(ExpressionUtils.column((Expression) arguments.get(i)));
    UserDefinedFunction udf = function(made, arguments.size()).asNondeterministic();
    return filtered(session.expression((Column) udf.apply(seq(columns))), apart(plan));
  }

  private static Expression partition() {
    return new Cast(new SparkPartitionID(), DataTypes.StringType, scala.Option.empty());
  }

  private static UserDefinedFunction function(Object f, int arity) {
    DataType type = BooleanType$.MODULE$;
    switch (arity) {
      case 1: return functions.udf((UDF1) f, type);
      case 2: return functions.udf((UDF2) f, type);
      case 3: return functions.udf((UDF3) f, type);
      case 4: return functions.udf((UDF4) f, type);
      case 5: return functions.udf((UDF5) f, type);
      case 6: return functions.udf((UDF6) f, type);
      case 7: return functions.udf((UDF7) f, type);
      case 8: return functions.udf((UDF8) f, type);
      case 9: return functions.udf((UDF9) f, type);
      default: return functions.udf((UDF10) f, type);
    }
  }

  /** What tasks noted, one text each; none of them holds the separator. */
  public String receipts() {
    StringBuilder out = new StringBuilder();
    List all = receipts.value();
    synchronized (all) {
      for (int i = 0; i < all.size(); i++) out.append((String) all.get(i)).append('\u0003');
    }
    return out.toString();
  }

  /** A number of its own for each row. */
  public Expression rowId() {
    UserDefinedFunction udf = functions.udf((UDF0) new RowIds(), LongType$.MODULE$).asNondeterministic();
    return session.expression((Column) udf.apply(seq(new ArrayList())));
  }
}

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

/** Makes the taps of one write and collects their receipts. Raw types, for Janino. */
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
   * Call this before any tap is made. Each tap then records the partition of the plan that a row was in, because many
   * tasks may compute the plan, part by part. Receipts of failed tasks count too, because what they computed may stay
   * in the cache.
   */
  public void markPartitions() {
    byPartition = true;
    receipts = new CollectionAccumulator();
    receipts.register(session.sparkContext(), scala.Option.empty(), true);
  }

  /** Skips n tap numbers, which belong to a plan that was traced before. */
  public void skip(int n) {
    count += n;
  }

  /** Adds a tap that keeps the order of rows; mark: a string that names the output folder, or null. */
  public LogicalPlan ordered(LogicalPlan plan, List provenance, Expression mark) {
    return tap(plan, provenance, provenance.size(), false, Tap.ALL, mark);
  }

  /**
   * Adds a tap by key; numbers: `width` provenance columns, then two of the key; keeps: which rows pass, a constant of
   * Tap.
   */
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

  /** Returns the receipts of tasks, each followed by a separator, which none of them contains. */
  public String receipts() {
    StringBuilder out = new StringBuilder();
    List all = receipts.value();
    synchronized (all) {
      for (int i = 0; i < all.size(); i++) out.append((String) all.get(i)).append('\u0003');
    }
    return out.toString();
  }

  /** Returns an expression that numbers each row; see RowIds. */
  public Expression rowId() {
    UserDefinedFunction udf = functions.udf((UDF0) new RowIds(), LongType$.MODULE$).asNondeterministic();
    return session.expression((Column) udf.apply(seq(new ArrayList())));
  }
}

package provspark.families.batch_functions;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.LongType$;
import org.apache.spark.sql.types.Metadata$;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import provspark.plan.Rewrite;
import provspark.taps.Tap;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/**
 * Rewrites nodes that call a function on batches or groups of rows, with columns of ours beside the user's. Raw types,
 * for Janino.
 */
public class BatchFunctionsCapture {
  private final Rewrite rewrite;

  public BatchFunctionsCapture(Rewrite rewrite) {
    this.rewrite = rewrite;
  }

  /**
   * Adds the chain of nodes from `top` to `bottom`, which sees the same columns as before, over a tapped child; keys
   * above.
   */
  public int keyed(int top, int bottom, int t, List keys) {
    return rewrite.keyed(over(rewrite.node(top), rewrite.node(bottom), rewrite.plan(t)), keys);
  }

  private static LogicalPlan over(LogicalPlan top, LogicalPlan bottom, LogicalPlan child) {
    LogicalPlan below = (LogicalPlan) top.children().head();
    LogicalPlan made = top == bottom ? projection(list(below.output()), child) : over(below, bottom, child);
    return withChildren(top, one(made));
  }

  // -- functions in Python

  /** Returns the function of a node, as Spark pickled it. */
  public byte[] command(LogicalPlan node) throws Exception {
    Object function = call(function(node), "func");
    scala.collection.Seq bytes = (scala.collection.Seq) call(function, "command");
    byte[] out = new byte[bytes.size()];
    for (int i = 0; i < out.length; i++) out[i] = ((Byte) bytes.apply(i)).byteValue();
    return out;
  }

  /** Returns the output of a node's child `side`, then columns of ours under these names, with `Tap.NULL` for nulls. */
  public LogicalPlan shown(LogicalPlan node, int side, LogicalPlan below, List columns, List names) {
    List all = list(((LogicalPlan) node.children().apply(side)).output());
    Expression none = Literal$.MODULE$.apply(Long.valueOf(Tap.NULL));
    for (int i = 0; i < columns.size(); i++) {
      Expression e = (Expression) columns.get(i);
      if (e instanceof Alias) e = (Expression) ((Alias) e).child();
      List choice = one(e);
      choice.add(none);
      all.add(alias(new Coalesce(seq(choice)), (String) names.get(i)));
    }
    return projection(all, below);
  }

  /**
   * Returns the node over other children and with another function, which adds columns of these names to the user's.
   */
  public LogicalPlan over(LogicalPlan node, List children, byte[] command, List names) throws Exception {
    List values = values(node);
    for (int i = 0; i < values.size(); i++) {
      Object value = values.get(i);
      if (node.productElementName(i).equals("output")) values.set(i, extended(node, names));
      else if (value instanceof PythonUDF) values.set(i, extended((PythonUDF) value, command, names, children));
    }
    return withChildren((LogicalPlan) node.makeCopy(values.toArray()), children);
  }

  /** Returns the columns of ours in a node's output: the last n. */
  public List last(LogicalPlan node, int n) {
    return lastOf(node, n);
  }

  private static List lastOf(LogicalPlan node, int n) {
    List all = list(node.output());
    return new ArrayList(all.subList(all.size() - n, all.size()));
  }

  private static Object extended(LogicalPlan node, List names) {
    List all = list(node.output());
    scala.collection.immutable.Seq nil = seq(new ArrayList());
    for (int i = 0; i < names.size(); i++) {
      all.add(new AttributeReference(
          (String) names.get(i), LongType$.MODULE$, true, Metadata$.MODULE$.empty(), NamedExpression.newExprId(), nil));
    }
    return seq(all);
  }

  private static Object extended(PythonUDF udf, byte[] command, List names, List children) throws Exception {
    StructType type = (StructType) udf.dataType();
    for (int i = 0; i < names.size(); i++) {
      type = type.add(new StructField((String) names.get(i), LongType$.MODULE$, true, Metadata$.MODULE$.empty()));
    }
    List values = values((scala.Product) udf);
    values.set(1, withCommand(values.get(1), command));
    values.set(2, type);
    List seen = list(udf.children());
    for (int i = 0; i < children.size(); i++) {
      seen.addAll(lastOf((LogicalPlan) children.get(i), names.size() / children.size()));
    }
    values.set(3, seq(seen));
    return ((Expression) udf).makeCopy(values.toArray());
  }

  private static Object withCommand(Object function, byte[] command) throws Exception {
    List values = values((scala.Product) function);
    List bytes = new ArrayList();
    for (int i = 0; i < command.length; i++) bytes.add(Byte.valueOf(command[i]));
    values.set(0, seq(bytes));
    Constructor[] all = function.getClass().getConstructors();
    for (int i = 0; i < all.length; i++) {
      Class[] types = all[i].getParameterTypes();
      if (types.length == values.size() && types[0].isInstance(values.get(0))) return all[i].newInstance(values.toArray());
    }
    throw new IllegalStateException(function.getClass().getName() + " has no constructor that takes its own fields");
  }

  private static Expression function(LogicalPlan node) {
    List values = values(node);
    for (int i = 0; i < values.size(); i++) if (values.get(i) instanceof PythonUDF) return (Expression) values.get(i);
    throw new IllegalStateException(node.nodeName() + " has no Python function");
  }
}

package provspark.taps;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.ArrayTransform;
import org.apache.spark.sql.catalyst.expressions.CollationKey;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.LambdaFunction;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.MapEntries;
import org.apache.spark.sql.catalyst.expressions.MapSort;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedLambdaVariable;
import org.apache.spark.sql.catalyst.expressions.XxHash64;
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers$;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.AtomicType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import static provspark.trees.Trees.*;

/** Hashes of keys, which are equal exactly where Spark considers the keys equal. Raw types, for Janino. */
public class Keys {
  static final long SEED_1 = 42L;
  static final long SEED_2 = -7046029254386353131L;

  private Keys() {}

  /** Returns the first type within a type that can't be hashed, or "". */
  public static String unhashable(DataType type) {
    if (type instanceof ArrayType) return unhashable(((ArrayType) type).elementType());
    if (type instanceof MapType) {
      // When Spark groups by a map, it takes a null in it for a zero.
      MapType map = (MapType) type;
      if (map.valueContainsNull()) return type.simpleString();
      String found = unhashable(map.keyType());
      return found.length() > 0 ? found : unhashable(map.valueType());
    }
    if (type instanceof StructType) {
      StructField[] fields = ((StructType) type).fields();
      for (int i = 0; i < fields.length; i++) {
        String found = unhashable(fields[i].dataType());
        if (found.length() > 0) return found;
      }
      return "";
    }
    return type instanceof AtomicType || type instanceof NullType ? "" : type.simpleString();
  }

  /**
   * Returns aliases of two 64-bit hashes of key expressions, which are equal exactly where Spark considers the keys
   * equal.
   */
  public static List hashes(List keys, String name) {
    List out = new ArrayList();
    out.add(alias(hash(keys, SEED_1), name + "_1"));
    out.add(alias(hash(keys, SEED_2), name + "_2"));
    return out;
  }

  private static Expression hash(List keys, long seed) {
    List parts = new ArrayList();
    for (int i = 0; i < keys.size(); i++) addParts((Expression) keys.get(i), seed, parts);
    return parts.isEmpty() ? zero() : new XxHash64(seq(parts), seed);
  }

  /**
   * Adds what is hashed of an expression. Hashing skips nulls, so IsNull is added to each value; floats are as Spark
   * groups them.
   */
  private static void addParts(Expression e, long seed, List parts) {
    DataType type = e.dataType();
    if (type instanceof StructType) {
      int n = ((StructType) type).fields().length;
      for (int i = 0; i < n; i++) addParts(new GetStructField(e, i, scala.Option.empty()), seed, parts);
    } else if (type instanceof MapType) {
      addParts(new MapEntries(new MapSort(e)), seed, parts);
    } else if (type instanceof ArrayType) {
      ArrayType array = (ArrayType) type;
      NamedLambdaVariable x = new NamedLambdaVariable(
          "x", array.elementType(), array.containsNull(), NamedExpression.newExprId(), new AtomicReference());
      List inner = new ArrayList();
      addParts(x, seed, inner);
      LambdaFunction each = new LambdaFunction(new XxHash64(seq(inner), seed), seq(one(x)), false);
      parts.add(new ArrayTransform(e, each));
    } else if (type instanceof FloatType || type instanceof DoubleType) {
      parts.add(NormalizeFloatingNumbers$.MODULE$.normalize(e));
    } else if (type instanceof StringType && !((StringType) type).supportsBinaryEquality()) {
      parts.add(new CollationKey(e));
    } else {
      parts.add(e);
    }
    parts.add(new IsNull(e));
  }

  public static void split(Expression e, List out) {
    if (e instanceof And) {
      split((Expression) ((And) e).left(), out);
      split((Expression) ((And) e).right(), out);
    } else {
      out.add(e);
    }
  }

  public static Expression zero() {
    return Literal$.MODULE$.apply(Long.valueOf(0L));
  }
}

package provspark.script;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.Dependency;
import org.apache.spark.QueryContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionWithRandomSeed;
import org.apache.spark.sql.catalyst.expressions.GetArrayItem;
import org.apache.spark.sql.catalyst.expressions.InheritAnalysisRules;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.PythonFuncExpression;
import org.apache.spark.sql.catalyst.expressions.ScalaUDF;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.expressions.aggregate.PivotFirst;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.TimestampType;
import provspark.trees.Json;
import provspark.trees.Marks;
import static provspark.trees.Trees.list;

/** Collects values in a logical plan that may come from the script: Python functions, and literals by their place. */
public class PlanValues {
  private final ScriptRows made;
  private final List functions = new ArrayList();
  private final Map groups = new LinkedHashMap();
  private final Map origins = new IdentityHashMap();
  private final Map texts = new HashMap();
  private final Set seen = new LinkedHashSet();
  private String why = "";

  /** `made`: the registered rows that the script passed to Spark, or null. */
  public PlanValues(Object made) {
    this.made = (ScriptRows) made;
  }

  /**
   * Returns JSON with the functions (name, site), the groups of literals (node, fragment, call site, SQL text, site,
   * [[kind, text], …]), and the reason why rows made by the script are not constants.
   */
  public String of(LogicalPlan plan) {
    visit(plan, "", false);
    StringBuilder out = new StringBuilder("{\"functions\":[");
    for (int i = 0; i < functions.size(); i++) out.append(i == 0 ? "" : ",").append(functions.get(i));
    out.append("],\"literals\":[");
    Iterator it = groups.entrySet().iterator();
    for (boolean first = true; it.hasNext(); first = false) {
      Map.Entry entry = (Map.Entry) it.next();
      List key = (List) entry.getKey();
      out.append(first ? "[" : ",[");
      for (int i = 0; i < key.size(); i++) out.append(Json.quoted((String) key.get(i))).append(',');
      out.append('[');
      Iterator values = ((Set) entry.getValue()).iterator();
      for (boolean none = true; values.hasNext(); none = false) out.append(none ? "" : ",").append(values.next());
      out.append("]]");
    }
    return out.append("],\"made\":").append(Json.quoted(why)).append("}").toString();
  }

  /** `above`: the line that made the node above; `within`: whether a model of MLlib made that node. */
  private void visit(LogicalPlan plan, String above, boolean within) {
    String site = Marks.site(plan).length() == 0 ? above : Marks.site(plan);
    String kind = plan.getClass().getSimpleName();
    if (kind.indexOf("InPandas") >= 0 || kind.indexOf("InArrow") >= 0 || kind.startsWith("TransformWithState")) {
      function(kind, site);
    }
    if (kind.equals("DataSourceV2Relation") && plan.toString().indexOf("Python") >= 0) python(plan, site);
    if (made != null && ScriptRows.weaker(why)) {
      String found = made.of(plan);
      if (found.length() > 0) why = found;
    }
    if (plan instanceof LogicalRDD && !(made != null && made.knows(((LogicalRDD) plan).rdd()))) {
      if (computed(((LogicalRDD) plan).rdd())) function("RDD", site);
    }
    if (plan instanceof LocalRelation && plan.origin().sqlText().nonEmpty()) {
      String[] where = where(plan.origin());
      add(kind, where[0].length() == 0 ? "values" : where[0], where[1], where[2], site, "[\"text\",\"\"]");
    }
    boolean model = Marks.marked(plan) ? Marks.transformer(plan).length() > 0 : within; // its literals don't count
    List expressions = list(plan.expressions());
    for (int i = 0; i < expressions.size(); i++) {
      Expression e = (Expression) expressions.get(i);
      if (!(plan instanceof Expand && e instanceof Literal)) visit(e, kind, model ? null : site);
    }
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) visit((LogicalPlan) inside.get(i), site, model);
  }

  private void python(LogicalPlan plan, String site) {
    String table = plan.productElement(0).getClass().getName();
    if (table.indexOf(".python.") >= 0) function("Python data source", site);
  }

  /** Whether a Python function computes an RDD, or one that it derives from. */
  private boolean computed(RDD rdd) {
    if (made != null && made.knows(rdd)) return false;
    String kind = rdd.getClass().getSimpleName();
    if (kind.equals("PythonRDD") || kind.equals("PairwiseRDD")) return true;
    List from = list(rdd.dependencies());
    for (int i = 0; i < from.size(); i++) if (computed(((Dependency) from.get(i)).rdd())) return true;
    return false;
  }

  private void function(String name, String site) {
    String found = "[" + Json.quoted(name) + "," + Json.quoted(site) + "]";
    if (seen.add(found)) functions.add(found);
  }

  /** `site`: null for the literals of a model. */
  private void visit(Expression e, String node, String site) {
    if (e instanceof Literal) {
      if (site != null) literal((Literal) e, node, site);
      return;
    }
    if (e instanceof PythonFuncExpression) {
      String name = e.getClass().getSimpleName().equals("PythonUDF") ? e.prettyName() : e.getClass().getSimpleName();
      function(Marks.function(((PythonFuncExpression) e).func(), name), site == null ? "" : site);
    }
    if (e.getClass().getSimpleName().equals("VariableReference")) {
      add(node, "variable", "", "", site == null ? "" : site, "[\"variable\",\"\"]");
    }
    if (e instanceof ScalaUDF && ((ScalaUDF) e).function().getClass().getName().indexOf("DataFrameStatFunctions") >= 0) {
      add(node, "sampleBy", "", "", site == null ? "" : site, "[\"call\",\"\"]");
    }
    if (e instanceof PivotFirst && site != null && e.origin().sqlText().isEmpty()) {
      List values = list(((PivotFirst) e).pivotColumnValues());
      for (int i = 0; i < values.size(); i++) {
        DataType type = ((PivotFirst) e).pivotColumn().dataType();
        if (values.get(i) != null) add(node, "pivot", "", "", site, value(values.get(i), type, ""));
      }
    }
    if (e instanceof CreateNamedStruct && e.toString().indexOf("precisetimestampconversion") >= 0) return; // a time window
    List inside = list(e.children());
    if (e instanceof InheritAnalysisRules) inside = list(((InheritAnalysisRules) e).parameters());
    if (e instanceof CreateNamedStruct) inside = list(((CreateNamedStruct) e).valExprs());
    Object seed = e instanceof ExpressionWithRandomSeed ? ((ExpressionWithRandomSeed) e).seedExpression() : null;
    for (int i = 0; i < inside.size(); i++) {
      Expression child = (Expression) inside.get(i);
      if (child == seed || (child instanceof Literal && (e instanceof Count || pivoted(e)))) continue;
      visit(child, node, site);
    }
  }

  /** Whether an expression extracts a column from the array that a pivot made. */
  private static boolean pivoted(Expression e) {
    if (!(e instanceof GetArrayItem)) return false;
    Object array = ((GetArrayItem) e).children().apply(0);
    return array instanceof Attribute && ((Attribute) array).name().startsWith("__pivot_");
  }

  private void literal(Literal l, String node, String site) {
    if (l.value() == null || l.dataType() instanceof BooleanType) return;
    String[] where = where(l.origin());
    if (where[1].startsWith("org.apache.spark.sql.execution.stat")) return; // names of statistics
    if (where[2].length() > 0 && where[0].length() == 0) {
      if (texts.put(where[2], Boolean.TRUE) == null) add(node, "", "", where[2], site, "[\"text\",\"\"]");
      return; // a part of the text
    }
    if (l.dataType() instanceof ArrayType) {
      ArrayData data = (ArrayData) l.value();
      DataType type = ((ArrayType) l.dataType()).elementType();
      for (int i = 0; i < data.numElements(); i++) {
        if (!data.isNullAt(i)) add(node, where[0], where[1], where[2], site, value(data.get(i, type), type, ""));
      }
      return;
    }
    add(node, where[0], where[1], where[2], site, value(l.value(), l.dataType(), l.toString()));
  }

  private static String value(Object value, DataType type, String text) {
    String kind = "text";
    String shown = text.length() == 0 ? value.toString() : text;
    if (type instanceof NumericType) {
      kind = "number";
      shown = value.toString();
    } else if (type instanceof TimestampType || type instanceof DayTimeIntervalType) {
      kind = "micros";
      shown = value.toString();
    } else if (type instanceof BinaryType) {
      kind = "binary";
    } else if (text.length() == 0) {
      shown = new Literal(value, type).toString();
    }
    return "[" + Json.quoted(kind) + "," + Json.quoted(shown) + "]";
  }

  private void add(String node, String fragment, String call, String text, String site, String value) {
    List key = java.util.Arrays.asList(new Object[] {node, fragment, call, text, site});
    Set values = (Set) groups.get(key);
    if (values == null) {
      values = new LinkedHashSet();
      groups.put(key, values);
    }
    values.add(value);
  }

  /** Returns the origin of an expression: fragment, call site and SQL text, each "" if unknown (see _HiddenGroup). */
  private String[] where(Origin origin) {
    String[] found = (String[]) origins.get(origin);
    if (found == null) {
      found = new String[] {"", "", ""};
      if (origin.sqlText().nonEmpty()) {
        String text = (String) origin.sqlText().get();
        found[2] = text;
        int at = origin.startIndex().isEmpty() ? -1 : ((Integer) origin.startIndex().get()).intValue();
        if (origin.objectType().nonEmpty()) {
          found[0] = "view";
          found[1] = origin.objectName().isEmpty() ? "" : (String) origin.objectName().get();
        } else if (at >= 0 && at < text.length() && ":?".indexOf(text.charAt(at)) >= 0) {
          found[0] = "parameter";
        }
      } else if (origin.pysparkErrorContext().nonEmpty()) {
        scala.Tuple2 context = (scala.Tuple2) origin.pysparkErrorContext().get();
        found[0] = (String) context._1();
        found[1] = (String) context._2();
      } else if (origin.stackTrace().nonEmpty()) {
        QueryContext context = origin.context();
        found[0] = context.fragment();
        found[1] = context.callSite();
      }
      origins.put(origin, found);
    }
    return found;
  }
}

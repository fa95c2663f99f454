package provspark.plan;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.AggregateWindowFunction;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.AtLeastNNonNulls;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast$;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.CreateArray$;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.FrameLessOffsetWindowFunction;
import org.apache.spark.sql.catalyst.expressions.InSubquery;
import org.apache.spark.sql.catalyst.expressions.InheritAnalysisRules;
import org.apache.spark.sql.catalyst.expressions.IsNaN;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.LambdaFunction;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.MicrosToTimestamp;
import org.apache.spark.sql.catalyst.expressions.NamedLambdaVariable;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.OffsetWindowFunction;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.OuterReference;
import org.apache.spark.sql.catalyst.expressions.PreciseTimestampConversion;
import org.apache.spark.sql.catalyst.expressions.PrettyAttribute;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.SpecifiedWindowFrame;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.TaggingExpression;
import org.apache.spark.sql.catalyst.expressions.UnaryMinus;
import org.apache.spark.sql.catalyst.expressions.UnixMicros;
import org.apache.spark.sql.catalyst.expressions.WindowExpression;
import org.apache.spark.sql.catalyst.expressions.WindowSpecDefinition;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.First;
import org.apache.spark.sql.catalyst.expressions.aggregate.PivotFirst;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DoubleType$;
import org.apache.spark.sql.types.FloatType$;
import org.apache.spark.sql.types.TimestampType$;
import provspark.trees.Marks;
import static provspark.trees.Trees.*;

/**
 * Writes expressions as SQL over labelled columns. Spark writes each node over the texts of its children; this class
 * writes those that Spark could not read back. SqlCheck checks that it can. Raw types, for Janino.
 */
public class Sql {
  /** Label of each column in reach, by ExprId. */
  private final Map labels;
  /** Number of each subquery's last operation, by ExprId. */
  private final Map subqueries;
  /** Whether a subquery is written as a column of its name instead of a query on it. */
  private final boolean flat;
  private final Map variables = new HashMap();

  public Sql(Map labels, Map subqueries, boolean flat) {
    this.labels = labels;
    this.subqueries = subqueries;
    this.flat = flat;
  }

  /** Thrown with the reason why there is no text. */
  static class Unwritten extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Unwritten(String why) {
      super(why);
    }
  }

  public static String quoted(String name) {
    return "`" + name.replace("`", "``") + "`";
  }

  public static String text(String value) {
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'";
  }

  public String of(Expression e) {
    String kind = e.getClass().getSimpleName();
    if (e instanceof Attribute) return column(((Attribute) e));
    if (e instanceof OuterReference) return column((Attribute) ((OuterReference) e).e());
    if (e instanceof NamedLambdaVariable) return (String) variables.get(((NamedLambdaVariable) e).exprId());
    if (e instanceof LambdaFunction) return lambda((LambdaFunction) e);
    if (e instanceof Alias) return of((Expression) ((Alias) e).child());
    if (e instanceof Literal) return literal((Literal) e);
    if (e instanceof InSubquery) return in((InSubquery) e);
    if (e instanceof SubqueryExpression) return query(kind.equals("Exists") ? "EXISTS " : "", e);
    if (e instanceof AggregateExpression) return aggregate((AggregateExpression) e);
    if (e instanceof WindowExpression) return window((WindowExpression) e);
    if (e instanceof Cast) return cast((Cast) e);
    if (e instanceof PythonUDF && ((PythonUDF) e).udfDeterministic()) {
      return quoted(Marks.function(((PythonUDF) e).func(), ((PythonUDF) e).name())) + "(" + join(all(list(e.children()))) + ")";
    }
    if (kind.equals("PythonUDF") || kind.equals("PythonUDAF") || kind.equals("ScalaUDF") || kind.equals("ScalaAggregator")
        || kind.startsWith("Hive") || kind.equals("PythonUDTF")) {
      throw new Unwritten("a function of the user's");
    }
    if (kind.equals("JsonToStructs") || kind.equals("CsvToStructs") || kind.equals("XmlToStructs")) return parsed(e);
    if (kind.endsWith("LikeAll") || kind.endsWith("LikeAny")) return like(e, kind);
    if (kind.equals("DateAdd") && days((Expression) e.children().last()) != null) {
      Expression added = (Expression) e.children().last();
      return "(" + of((Expression) e.children().head()) + (added instanceof UnaryMinus ? " - " : " + ") + of(days(added)) + ")";
    }
    if (kind.equals("CreateNamedStruct")) return "named_struct(" + join(all(list(e.children()))) + ")";
    if (kind.equals("Extract")) return of((Expression) e.children().head());
    if (kind.startsWith("StructsTo")) return e.prettyName() + "(" + of((Expression) e.children().head()) + options(e) + ")";
    if (e instanceof InheritAnalysisRules && known(list(((InheritAnalysisRules) e).parameters()))) {
      return ((InheritAnalysisRules) e).makeSQLString(seq(all(list(((InheritAnalysisRules) e).parameters()))));
    }
    if (e instanceof InheritAnalysisRules) return of((Expression) e.children().head());
    if (e instanceof OffsetWindowFunction && ((OffsetWindowFunction) e).ignoreNulls()) return shown(e).sql() + " IGNORE NULLS";
    return shown(e).sql();
  }

  /** Returns the node over attributes that are named by the texts of its children. */
  private Expression shown(Expression e) {
    List children = list(e.children());
    for (int i = 0; i < children.size(); i++) {
      Expression child = (Expression) children.get(i);
      if (!(child instanceof Literal)) children.set(i, new PrettyAttribute(of(child), child.dataType()));
    }
    try {
      return (Expression) e.withNewChildren(seq(children));
    } catch (ClassCastException x) {
      throw new Unwritten("Spark writes no SQL of " + e.prettyName());
    }
  }

  private List all(List expressions) {
    List out = new ArrayList();
    for (int i = 0; i < expressions.size(); i++) out.add(of((Expression) expressions.get(i)));
    return out;
  }

  /** Whether all columns in these are in reach: Spark keeps what the user wrote, but does not update it. */
  private boolean known(List expressions) {
    for (int i = 0; i < expressions.size(); i++) {
      Expression e = (Expression) expressions.get(i);
      if (e instanceof Attribute && !labels.containsKey(((Attribute) e).exprId())) return false;
      if (!e.resolved() && !(e instanceof NamedLambdaVariable)) return false;
      if (!(e instanceof NamedLambdaVariable) && !known(list(e.children()))) return false;
    }
    return true;
  }

  /**
   * Returns the expression without hints for the optimiser, and with SQL functions instead of what analysis made of
   * them.
   */
  public static Expression plain(Expression e) {
    return (Expression) e.transformUp(new Plain());
  }

  static class Plain extends scala.runtime.AbstractPartialFunction {
    public boolean isDefinedAt(Object e) {
      return true;
    }

    public Object applyOrElse(Object o, scala.Function1 otherwise) {
      Expression e = (Expression) o;
      if (e instanceof TaggingExpression) return e.children().head();
      if (e instanceof Literal) return literal((Literal) e);
      if (e instanceof Cast && e.dataType().equals(((Expression) ((Cast) e).child()).dataType())) return ((Cast) e).child();
      if (e instanceof PreciseTimestampConversion) {
        PreciseTimestampConversion p = (PreciseTimestampConversion) e;
        if (p.fromType().equals(TimestampType$.MODULE$)) return new UnixMicros(p.child());
        if (p.toType().equals(TimestampType$.MODULE$)) return new MicrosToTimestamp(p.child());
      }
      if (e instanceof AtLeastNNonNulls) return present((AtLeastNNonNulls) e);
      if (e instanceof AggregateExpression && ((AggregateExpression) e).aggregateFunction() instanceof PivotFirst) {
        return pivoted((PivotFirst) ((AggregateExpression) e).aggregateFunction());
      }
      return e;
    }

    /** Returns the condition of {@code na.drop} on all columns, or on any of them, in SQL's terms. */
    private static Expression present(AtLeastNNonNulls e) {
      List children = list(e.children());
      if (children.isEmpty() || e.n() > 1 && e.n() != children.size()) return e;
      Expression out = null;
      for (int i = 0; i < children.size(); i++) {
        Expression child = (Expression) children.get(i);
        Expression here = new IsNotNull(child);
        if (child.dataType().equals(DoubleType$.MODULE$) || child.dataType().equals(FloatType$.MODULE$)) {
          here = new And(here, new Not(new IsNaN(child)));
        }
        if (out == null) out = here;
        else if (e.n() > 1) out = new And(out, here);
        else out = new Or(out, here);
      }
      return out;
    }

    /** Casts a null, a decimal or a float to its type if its text alone does not determine it. */
    private static Expression literal(Literal l) {
      Literal told = l;
      if (l.value() == null) told = Literal$.MODULE$.apply(null);
      else if (l.value() instanceof Decimal) told = Literal$.MODULE$.apply(((Decimal) l.value()).toJavaBigDecimal());
      else if (l.value() instanceof Float && (((Float) l.value()).isNaN() || ((Float) l.value()).isInfinite())) {
        told = Literal$.MODULE$.apply(l.value().toString());
      }
      if (told.dataType().equals(l.dataType())) return l;
      return new Cast(told, l.dataType(), scala.Option.empty(), Cast$.MODULE$.apply$default$4());
    }

    /** Returns an array with the value for each of the pivot's values. */
    private static Expression pivoted(PivotFirst p) {
      List out = new ArrayList();
      List values = list(p.pivotColumnValues());
      for (int i = 0; i < values.size(); i++) {
        Expression at = new EqualNullSafe(p.pivotColumn(), Literal$.MODULE$.create(values.get(i), p.pivotColumn().dataType()));
        out.add(new First(p.valueColumn(), true).toAggregateExpression(false, new scala.Some(at)));
      }
      return CreateArray$.MODULE$.apply(seq(out));
    }
  }

  private String column(Attribute a) {
    Object label = labels.get(a.exprId());
    if (label == null) throw new Unwritten("the column " + a.name() + " is out of its reach");
    return quoted((String) label);
  }

  private String lambda(LambdaFunction f) {
    List arguments = list(f.arguments());
    StringBuilder names = new StringBuilder();
    for (int i = 0; i < arguments.size(); i++) {
      String name = quoted("x#v" + variables.size());
      variables.put(((NamedLambdaVariable) arguments.get(i)).exprId(), name);
      names.append(i == 0 ? "" : ", ").append(name);
    }
    String all = arguments.size() == 1 ? names.toString() : "(" + names + ")";
    return new StringBuilder(all).append(" -> ").append(of((Expression) f.function())).toString();
  }

  /** Returns the interval whose number of days analysis extracts, or null: in SQL, intervals are added to dates. */
  private static Expression days(Expression e) {
    if (e instanceof UnaryMinus) return days(((UnaryMinus) e).child());
    return e.getClass().getSimpleName().equals("ExtractANSIIntervalDays") ? (Expression) e.children().head() : null;
  }

  private static String literal(Literal l) {
    return l.dataType().equals(FloatType$.MODULE$) ? l.value() + "F" : l.sql();
  }

  private String like(Expression e, String kind) {
    List patterns = list((scala.collection.Seq) e.productElement(1));
    for (int i = 0; i < patterns.size(); i++) patterns.set(i, text(patterns.get(i).toString()));
    String how = (kind.startsWith("Not") ? " NOT LIKE " : " LIKE ") + (kind.endsWith("All") ? "ALL (" : "ANY (");
    return "(" + of((Expression) e.productElement(0)) + how + join(patterns) + "))";
  }

  private String cast(Cast c) {
    String name = c.evalMode().equals(EvalMode$.MODULE$.TRY()) ? "TRY_CAST(" : "CAST(";
    return name + of((Expression) c.child()) + " AS " + ((org.apache.spark.sql.types.DataType) c.dataType()).sql() + ")";
  }

  private String query(String before, Expression e) {
    String name = quoted("subquery#" + subqueries.get(((SubqueryExpression) e).exprId()));
    return flat ? name : before + "(SELECT * FROM " + name + ")";
  }

  private String in(InSubquery e) {
    String values = join(all(list(e.values())));
    return flat ? query("", e.query()) : "(" + (e.values().size() > 1 ? "(" + values + ")" : values) + query(" IN ", e.query()) + ")";
  }

  private String aggregate(AggregateExpression a) {
    AggregateFunction f = a.aggregateFunction();
    String written = of(f, a.isDistinct());
    return a.filter().isEmpty() ? written : written + " FILTER (WHERE " + of((Expression) a.filter().get()) + ")";
  }

  private String of(AggregateFunction f, boolean distinct) {
    if (f instanceof InheritAnalysisRules) return of((Expression) f);
    String kind = f.getClass().getSimpleName();
    if (kind.equals("First") || kind.equals("Last")) {
      boolean ignores = ((Boolean) f.productElement(1)).booleanValue();
      return f.prettyName() + "(" + of((Expression) f.productElement(0)) + (ignores ? ", true)" : ")");
    }
    if (kind.startsWith("Python") || kind.startsWith("Scala") || kind.startsWith("Hive") || kind.startsWith("Typed")) {
      throw new Unwritten("a function of the user's");
    }
    return ((AggregateFunction) shown((Expression) f)).sql(distinct);
  }

  private String window(WindowExpression w) {
    WindowSpecDefinition spec = w.windowSpec();
    StringBuilder over = new StringBuilder();
    if (spec.partitionSpec().nonEmpty()) over.append("PARTITION BY ").append(join(all(list(spec.partitionSpec()))));
    List orders = list(spec.orderSpec());
    for (int i = 0; i < orders.size(); i++) {
      over.append(i > 0 ? ", " : over.length() > 0 ? " ORDER BY " : "ORDER BY ").append(order((SortOrder) orders.get(i)));
    }
    Expression f = w.windowFunction();
    boolean own = f instanceof FrameLessOffsetWindowFunction || f instanceof AggregateWindowFunction && !(f instanceof OffsetWindowFunction);
    if (!own && spec.frameSpecification() instanceof SpecifiedWindowFrame) {
      over.append(over.length() > 0 ? " " : "").append(((SpecifiedWindowFrame) spec.frameSpecification()).sql());
    }
    return of(f) + " OVER (" + over + ")";
  }

  public String order(SortOrder o) {
    return of((Expression) o.child()) + " " + o.direction().sql() + " " + o.nullOrdering().sql();
  }

  /** Writes from_json and similar functions: Spark's own text lacks the schema. */
  private String parsed(Expression e) {
    String schema = ((org.apache.spark.sql.types.DataType) e.productElement(0)).sql();
    return e.prettyName() + "(" + of((Expression) e.children().head()) + ", " + text(schema) + options(e) + ")";
  }

  private String options(Expression e) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < e.productArity(); i++) {
      if (!e.productElementName(i).equals("options")) continue;
      scala.collection.Iterator it = ((scala.collection.Map) e.productElement(i)).iterator();
      while (it.hasNext()) {
        scala.Tuple2 pair = (scala.Tuple2) it.next();
        out.append(out.length() == 0 ? ", map(" : ", ").append(text((String) pair._1())).append(", ").append(text((String) pair._2()));
      }
    }
    return out.length() == 0 ? "" : out.append(")").toString();
  }

  public static String join(List texts) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < texts.size(); i++) out.append(i > 0 ? ", " : "").append((String) texts.get(i));
    return out.toString();
  }
}

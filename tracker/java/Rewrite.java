package provspark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.sql.Column;
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
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.ArrayTransform;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.CollationKey;
import org.apache.spark.sql.catalyst.expressions.CreateArray;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.LambdaFunction;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedLambdaVariable;
import org.apache.spark.sql.catalyst.expressions.SparkPartitionID;
import org.apache.spark.sql.catalyst.expressions.XxHash64;
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Deduplicate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Repartition;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.expressions.UserDefinedFunction;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.AtomicType;
import org.apache.spark.sql.types.BooleanType$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.LongType$;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.CollectionAccumulator;

/**
 * One write's plan while it is rewritten. Nodes and traced nodes stay here; Python, which decides what is done, knows
 * them by number, so that a step costs one round trip. A traced node puts out the node's own columns and those of its legs,
 * in any order. Raw types, for Janino.
 */
public class Rewrite {
  static final long SEED_1 = 42L;
  static final long SEED_2 = -7046029254386353131L;
  static final int UDF_ARGUMENTS = 10;

  private final SparkSession session;
  private final String folder;
  private final CollectionAccumulator receipts = new CollectionAccumulator();
  private final List nodes = new ArrayList();
  private final List plans = new ArrayList();
  private final List legs = new ArrayList();
  private int taps = 0;
  private boolean byPartition = false;

  /** folder: URL of the folder for the taps' sidecars. */
  public Rewrite(SparkSession session, String folder) {
    this.session = session;
    this.folder = folder;
    session.sparkContext().register(receipts);
  }

  // -- reading

  /** Spark's own rules, applied once each in this order; scala objects by name, one a line. */
  public LogicalPlan normalise(LogicalPlan plan, String rules) throws Exception {
    LogicalPlan p = (LogicalPlan) ((Rule) inlineCtes()).apply(plan);
    String[] names = rules.split("\n");
    for (int i = 0; i < names.length; i++) p = (LogicalPlan) ((Rule) module(names[i])).apply(p);
    return p;
  }

  private static Object module(String name) throws Exception {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    return Class.forName(name + "$", true, loader).getField("MODULE$").get(null);
  }

  /** InlineCTE takes one flag on Spark 4.0 and two from 4.1 on. */
  private static Object inlineCtes() throws Exception {
    java.lang.reflect.Constructor c =
        Class.forName("org.apache.spark.sql.catalyst.optimizer.InlineCTE").getConstructors()[0];
    return c.getParameterTypes().length == 1
        ? c.newInstance(new Object[] {Boolean.TRUE})
        : c.newInstance(new Object[] {Boolean.TRUE, Boolean.FALSE});
  }

  /** Takes the nodes of a plan in pre-order; a line a node: class, number of children, of subqueries, a detail. */
  public String read(LogicalPlan plan) {
    nodes.clear();
    StringBuilder text = new StringBuilder();
    visit(plan, text);
    return text.toString();
  }

  private void visit(LogicalPlan plan, StringBuilder text) {
    nodes.add(plan);
    List children = list(plan.children());
    String detail = "";
    if (plan instanceof Join) detail = ((Join) plan).joinType().toString();
    if (plan instanceof Deduplicate) {
      int keys = ((Deduplicate) plan).keys().size();
      detail = keys < ((Deduplicate) plan).child().output().size() ? "subset" : "all";
    }
    text.append(plan.getClass().getSimpleName()).append(' ').append(children.size()).append(' ');
    text.append(plan.subqueries().size()).append(' ').append(detail).append('\n');
    for (int i = 0; i < children.size(); i++) visit((LogicalPlan) children.get(i), text);
  }

  public LogicalPlan node(int i) {
    return (LogicalPlan) nodes.get(i);
  }

  public List conjuncts(int filter) {
    List out = new ArrayList();
    split(((Filter) node(filter)).condition(), out);
    return out;
  }

  // -- traced nodes

  private int traced(LogicalPlan plan, List attributes) {
    plans.add(plan);
    legs.add(attributes);
    return plans.size() - 1;
  }

  public LogicalPlan plan(int t) {
    return (LogicalPlan) plans.get(t);
  }

  private List legs(int t) {
    return (List) legs.get(t);
  }

  /** A leaf: a plan whose last column is an address. */
  public int leaf(LogicalPlan plan, Attribute address) {
    return traced(plan, one(address));
  }

  /** A leaf that was traced before: its last columns are those of its legs. */
  public int held(LogicalPlan plan, int width) {
    List all = list(plan.output());
    return traced(plan, new ArrayList(all.subList(all.size() - width, all.size())));
  }

  /** The columns of the whole plan and then those of the legs, no more. */
  public LogicalPlan whole(int t) {
    List shown = rebound(plan(t), list(node(0).output()));
    shown.addAll(legs(t));
    return new Project(seq(shown), plan(t));
  }

  /** A plan without legs, as it is. */
  public int bare(int node) {
    return traced(node(node), new ArrayList());
  }

  /** The same rows and columns by another plan. */
  public int replaced(int t, LogicalPlan plan) {
    return traced(plan, rebound(plan, legs(t)));
  }

  /** A node that keeps, drops or orders its child's rows. */
  public int over(int node, int t) {
    return traced(withChildren(node(node), one(plan(t))), legs(t));
  }

  public int project(int node, int t) {
    List all = list(((Project) node(node)).projectList());
    all.addAll(legs(t));
    return traced(new Project(seq(all), plan(t)), legs(t));
  }

  public int generate(int node, int t) {
    return traced(withChildren(node(node), one(plan(t))), legs(t));
  }

  /** Nothing stands between two joins: Spark's optimiser would no longer see a chain that it may order. */
  public int join(int node, int left, int right) {
    List attributes = new ArrayList(legs(left));
    attributes.addAll(legs(right));
    List sides = one(plan(left));
    sides.add(plan(right));
    LogicalPlan joined = withChildren(node(node), sides);
    return traced(joined, rebound(joined, attributes));
  }

  public int antiJoin(int node, int left) {
    List sides = one(plan(left));
    sides.add(((Join) node(node)).right());
    return traced(withChildren(node(node), sides), legs(left));
  }

  /** A semi-join over a right side that was tapped; the hashes of the left's keys become a leg. */
  public int semiJoin(int node, int left, int right) {
    List keys = new ArrayList();
    equalities((Join) node(node), keys, new ArrayList());
    List sides = one(plan(left));
    sides.add(plan(right));
    return hashed(withChildren(node(node), sides), legs(left), keys, "__semi");
  }

  /** An aggregate over a tapped child; the hashes of its keys are its only leg. */
  public int aggregate(int node, int t) {
    Aggregate a = (Aggregate) node(node);
    List made = hashes(list(a.groupingExpressions()), "__group");
    List all = list(a.aggregateExpressions());
    all.addAll(made);
    List values = new ArrayList();
    scala.collection.Iterator it = a.productIterator();
    while (it.hasNext()) values.add(it.next());
    values.set(1, seq(all));
    values.set(2, plan(t));
    return traced((LogicalPlan) a.makeCopy(values.toArray()), attributes(made));
  }

  /** A union of branches (their numbers, by blanks): each branch's legs in columns of their own, null elsewhere. */
  public int union(int node, String branches) {
    String[] numbers = branches.split(" ");
    LogicalPlan union = node(node);
    List outputs = list(union.children());
    List children = new ArrayList();
    int width = 0;
    for (int i = 0; i < numbers.length; i++) {
      List columns = list(((LogicalPlan) outputs.get(i)).output());
      width = 0;
      for (int j = 0; j < numbers.length; j++) {
        List side = legs(Integer.parseInt(numbers[j]));
        width += side.size();
        for (int k = 0; k < side.size(); k++) {
          columns.add(alias(i == j ? (Expression) side.get(k) : new Literal(null, LongType$.MODULE$), "__leg"));
        }
      }
      children.add(new Project(seq(columns), plan(Integer.parseInt(numbers[i]))));
    }
    LogicalPlan made = withChildren(union, children);
    List all = list(made.output());
    return traced(made, new ArrayList(all.subList(all.size() - width, all.size())));
  }

  /** The columns of the whole plan first, in their order. */
  public int front(int t) {
    List own = list(node(0).output());
    List all = list(plan(t).output());
    boolean first = own.size() <= all.size();
    for (int i = 0; first && i < own.size(); i++) {
      first = ((Attribute) all.get(i)).exprId().equals(((Attribute) own.get(i)).exprId());
    }
    if (first) return t;
    List shown = rebound(plan(t), own);
    shown.addAll(legs(t));
    return traced(new Project(seq(shown), plan(t)), legs(t));
  }

  /** The attributes as `plan` puts them out: an outer join makes them nullable. */
  private static List rebound(LogicalPlan plan, List attributes) {
    Map byId = new HashMap();
    List output = list(plan.output());
    for (int i = 0; i < output.size(); i++) byId.put(((Attribute) output.get(i)).exprId(), output.get(i));
    List out = new ArrayList();
    for (int i = 0; i < attributes.size(); i++) out.add(byId.get(((Attribute) attributes.get(i)).exprId()));
    return out;
  }

  // -- taps

  /** A tap by an aggregate's keys. Returns the traced node; the tap's number is the count of taps before. */
  public int tapGroups(int aggregate, int t) throws Exception {
    return tapKeyed(t, list(((Aggregate) node(aggregate)).groupingExpressions()));
  }

  /** A tap by the keys of a semi-join's right side. */
  public int tapRight(int join, int t) throws Exception {
    List keys = new ArrayList();
    equalities((Join) node(join), new ArrayList(), keys);
    return tapKeyed(t, keys);
  }

  private int tapKeyed(int t, List keys) throws Exception {
    int with = hashed(plan(t), legs(t), keys, "__key");
    return traced(tap(plan(with), legs(with), legs(t).size(), true, byPartition ? partition() : null), legs(t));
  }

  /** The top tap, in row order; mark: a string that names the output folder, or null. */
  public int tapRows(int t, Expression mark) throws Exception {
    return traced(tap(plan(t), legs(t), legs(t).size(), false, mark), legs(t));
  }

  /** Taps say from now on which partition of the plan each row was in: it may be computed by many tasks, bit by bit. */
  public void markPartitions() {
    byPartition = true;
  }

  /** Leaves out numbers of taps, for those of a plan that was traced before. */
  public void skipTaps(int n) {
    taps += n;
  }

  private LogicalPlan tap(LogicalPlan plan, List numbers, int width, boolean keyed, Expression mark) throws Exception {
    Object[] options = new Object[] {
      folder, Integer.valueOf(taps++), Integer.valueOf(width), Boolean.valueOf(keyed), Boolean.valueOf(mark != null),
      receipts
    };
    Object made = Class.forName("provspark.Tap", true, getClass().getClassLoader()).getConstructors()[0]
        .newInstance(options);
    List arguments = new ArrayList();
    if (mark != null) arguments.add(mark);
    if (numbers.isEmpty()) arguments.add(zero());
    else if (numbers.size() + arguments.size() <= UDF_ARGUMENTS) arguments.addAll(numbers);
    else arguments.add(new CreateArray(seq(numbers), false));
    List columns = new ArrayList();
    for (int i = 0; i < arguments.size(); i++) columns.add(ExpressionUtils.column((Expression) arguments.get(i)));
    UserDefinedFunction udf = function(made, arguments.size()).asNondeterministic();
    return new Filter(session.expression((Column) udf.apply(seq(columns))), apart(plan));
  }

  /** Spark evaluates filters over local rows while it plans: a coalesce to no fewer partitions keeps a tap from it. */
  private static LogicalPlan apart(LogicalPlan plan) {
    LogicalPlan p = plan;
    while (p instanceof Project || p instanceof Filter || p instanceof LocalLimit || p instanceof GlobalLimit) {
      p = (LogicalPlan) p.children().apply(0);
    }
    return p instanceof LocalRelation ? new Repartition(Integer.MAX_VALUE, false, plan) : plan;
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

  /** Only the first n columns: what the user's plan puts out. */
  public LogicalPlan userColumns(int t, int n) {
    return new Project(seq(list(plan(t).output()).subList(0, n)), plan(t));
  }

  // -- keys

  /** The first condition of a semi-join that is no equality of a left and a right key, as SQL, or "". */
  public String residual(int join) {
    return equalities((Join) node(join), new ArrayList(), new ArrayList());
  }

  /** The first type among an aggregate's or a semi-join's keys that has no hash, or ""; "none" where there is no key. */
  public String unhashable(int node) {
    List keys = new ArrayList();
    if (node(node) instanceof Aggregate) keys = list(((Aggregate) node(node)).groupingExpressions());
    else equalities((Join) node(node), keys, new ArrayList());
    if (keys.isEmpty()) return "none";
    for (int i = 0; i < keys.size(); i++) {
      String found = unhashable(((Expression) keys.get(i)).dataType());
      if (found.length() > 0) return found;
    }
    return "";
  }

  private static String unhashable(DataType type) {
    if (type instanceof ArrayType) return unhashable(((ArrayType) type).elementType());
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

  private int hashed(LogicalPlan plan, List attributes, List keys, String name) {
    List made = hashes(keys, name);
    List all = list(plan.output());
    all.addAll(made);
    List with = new ArrayList(attributes);
    with.addAll(attributes(made));
    return traced(new Project(seq(all), plan), with);
  }

  /** Aliases of two 64-bit hashes over key expressions: equal exactly where Spark holds the keys equal. */
  private static List hashes(List keys, String name) {
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

  /** A null hashes as if it were not there, so isnull stands beside each value; floats as Spark groups them. */
  private static void addParts(Expression e, long seed, List parts) {
    DataType type = e.dataType();
    if (type instanceof StructType) {
      int n = ((StructType) type).fields().length;
      for (int i = 0; i < n; i++) addParts(new GetStructField(e, i, scala.Option.empty()), seed, parts);
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

  private static void split(Expression e, List out) {
    if (e instanceof And) {
      split((Expression) ((And) e).left(), out);
      split((Expression) ((And) e).right(), out);
    } else {
      out.add(e);
    }
  }

  private static String equalities(Join join, List left, List right) {
    if (!join.condition().isDefined()) return "";
    String rest = "";
    List all = new ArrayList();
    split((Expression) join.condition().get(), all);
    for (int i = 0; i < all.size(); i++) {
      Expression e = (Expression) all.get(i);
      if (e instanceof EqualTo || e instanceof EqualNullSafe) {
        Expression a = (Expression) ((BinaryComparison) e).left();
        Expression b = (Expression) ((BinaryComparison) e).right();
        if (within(a, (LogicalPlan) join.left()) && within(b, (LogicalPlan) join.right())) {
          left.add(a);
          right.add(b);
          continue;
        }
        if (within(b, (LogicalPlan) join.left()) && within(a, (LogicalPlan) join.right())) {
          left.add(b);
          right.add(a);
          continue;
        }
      }
      if (rest.length() == 0) rest = e.sql();
    }
    return rest;
  }

  private static boolean within(Expression e, LogicalPlan side) {
    return e.references().nonEmpty() && e.references().subsetOf(side.outputSet()) && e.deterministic();
  }

  // -- small things

  private static Expression zero() {
    return Literal$.MODULE$.apply(Long.valueOf(0L));
  }

  private static Alias alias(Expression e, String name) {
    scala.collection.immutable.Seq nil = seq(new ArrayList());
    return new Alias(e, name, NamedExpression.newExprId(), nil, scala.Option.empty(), nil);
  }

  private static List attributes(List aliases) {
    List out = new ArrayList();
    for (int i = 0; i < aliases.size(); i++) out.add(((NamedExpression) aliases.get(i)).toAttribute());
    return out;
  }

  private static LogicalPlan withChildren(LogicalPlan plan, List children) {
    return (LogicalPlan) plan.withNewChildren(seq(children));
  }

  private static List one(Object item) {
    List out = new ArrayList();
    out.add(item);
    return out;
  }

  private static List list(scala.collection.Seq items) {
    return new ArrayList(scala.jdk.javaapi.CollectionConverters.asJava(items));
  }

  private static scala.collection.immutable.Seq seq(List items) {
    return scala.jdk.javaapi.CollectionConverters.asScala(new ArrayList(items)).toSeq();
  }
}

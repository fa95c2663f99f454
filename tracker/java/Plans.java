package provspark;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.ArrayTransform;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
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
import org.apache.spark.sql.catalyst.expressions.XxHash64;
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.AtomicType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.LongType$;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Saves round trips: each method does in one call what Python would ask for in many. Raw types, for Janino. */
public class Plans {
  public static final long SEED_1 = 42L;
  public static final long SEED_2 = -7046029254386353131L;

  private final scala.collection.immutable.Seq nil;
  private final List normalRules = new ArrayList();

  public Plans() {
    nil = scala.jdk.javaapi.CollectionConverters.asScala(new ArrayList()).toSeq();
  }

  static Object module(String name) {
    try {
      ClassLoader loader = Thread.currentThread().getContextClassLoader();
      return Class.forName(name + "$", true, loader).getField("MODULE$").get(null);
    } catch (Exception e) {
      throw new IllegalStateException("no Scala object " + name, e);
    }
  }

  public scala.collection.immutable.Seq seq(List items) {
    return scala.jdk.javaapi.CollectionConverters.asScala(new ArrayList(items)).toSeq();
  }

  public List list(scala.collection.Seq items) {
    return new ArrayList(scala.jdk.javaapi.CollectionConverters.asJava(items));
  }

  /** Sets the normalising tuple: Scala objects by their full names, one a line. */
  public void setRules(String names) throws Exception {
    normalRules.clear();
    normalRules.add(inlineCtes());
    String[] parts = names.split("\n");
    for (int i = 0; i < parts.length; i++) normalRules.add(module(parts[i]));
  }

  /** InlineCTE takes one flag on Spark 4.0 and two from 4.1 on. */
  private static Object inlineCtes() throws Exception {
    java.lang.reflect.Constructor c =
        Class.forName("org.apache.spark.sql.catalyst.optimizer.InlineCTE").getConstructors()[0];
    return c.getParameterTypes().length == 1
        ? c.newInstance(new Object[] {Boolean.TRUE})
        : c.newInstance(new Object[] {Boolean.TRUE, Boolean.FALSE});
  }

  public LogicalPlan normalise(LogicalPlan plan) {
    LogicalPlan p = plan;
    for (int i = 0; i < normalRules.size(); i++) p = (LogicalPlan) ((Rule) normalRules.get(i)).apply(p);
    return p;
  }

  /** The tree in pre-order: each node, as (class name, number of children). Nodes go into `nodes`. */
  public String walk(LogicalPlan plan, List nodes) {
    StringBuilder text = new StringBuilder();
    visit(plan, nodes, text);
    return text.toString();
  }

  private void visit(LogicalPlan plan, List nodes, StringBuilder text) {
    nodes.add(plan);
    scala.collection.Seq children = plan.children();
    text.append(plan.getClass().getSimpleName()).append(' ').append(children.size()).append(' ');
    text.append(subqueries(plan)).append('\n');
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(children).iterator();
    while (it.hasNext()) visit((LogicalPlan) it.next(), nodes, text);
  }

  private static int subqueries(LogicalPlan plan) {
    return plan.subqueries().size();
  }

  public Alias alias(Expression e, String name) {
    return new Alias(e, name, NamedExpression.newExprId(), nil, scala.Option.empty(), nil);
  }

  /** plan with named expressions put behind its output. */
  public LogicalPlan append(LogicalPlan plan, List extra) {
    List all = list(plan.output());
    all.addAll(extra);
    return new Project(seq(all), plan);
  }

  /** A projection of the user's, over a new child, that also hands on `legs`. */
  public LogicalPlan project(Project p, LogicalPlan child, List legs) {
    List all = list(p.projectList());
    all.addAll(legs);
    return new Project(seq(all), child);
  }

  public LogicalPlan withChildren(LogicalPlan plan, List children) {
    return (LogicalPlan) plan.withNewChildren(seq(children));
  }

  /** Aliases of two 64-bit hashes over key expressions: equal exactly where Spark holds the keys equal. */
  public List keyHashes(List keys, String name) {
    List out = new ArrayList();
    out.add(alias(keyHash(keys, SEED_1), name + "_1"));
    out.add(alias(keyHash(keys, SEED_2), name + "_2"));
    return out;
  }

  private Expression keyHash(List keys, long seed) {
    List parts = new ArrayList();
    for (int i = 0; i < keys.size(); i++) addKeyParts((Expression) keys.get(i), seed, parts);
    return parts.isEmpty() ? zero() : new XxHash64(seq(parts), seed);
  }

  /** A null hashes as if it were not there, so isnull stands beside each value; floats as Spark groups them. */
  private void addKeyParts(Expression e, long seed, List parts) {
    DataType type = e.dataType();
    if (type instanceof StructType) {
      int n = ((StructType) type).fields().length;
      for (int i = 0; i < n; i++) addKeyParts(new GetStructField(e, i, scala.Option.empty()), seed, parts);
    } else if (type instanceof ArrayType) {
      ArrayType array = (ArrayType) type;
      NamedLambdaVariable x = new NamedLambdaVariable(
          "x", array.elementType(), array.containsNull(), NamedExpression.newExprId(), new AtomicReference());
      List inner = new ArrayList();
      addKeyParts(x, seed, inner);
      List variables = new ArrayList();
      variables.add(x);
      parts.add(new ArrayTransform(e, new LambdaFunction(new XxHash64(seq(inner), seed), seq(variables), false)));
    } else if (type instanceof FloatType || type instanceof DoubleType) {
      parts.add(NormalizeFloatingNumbers$.MODULE$.normalize(e));
    } else if (type instanceof StringType && !((StringType) type).supportsBinaryEquality()) {
      parts.add(new CollationKey(e));
    } else {
      parts.add(e);
    }
    parts.add(new IsNull(e));
  }

  /** The first of these expressions' types that has no key hash, as text, or "" where all have. */
  public String unhashable(List keys) {
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

  /** The attributes as `plan` outputs them: an outer join makes them nullable. */
  public List rebind(LogicalPlan plan, List attributes) {
    Map byId = new HashMap();
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(plan.output()).iterator();
    while (it.hasNext()) {
      Attribute a = (Attribute) it.next();
      byId.put(a.exprId(), a);
    }
    List out = new ArrayList();
    for (int i = 0; i < attributes.size(); i++) out.add(byId.get(((Attribute) attributes.get(i)).exprId()));
    return out;
  }

  public List conjuncts(Expression e) {
    List out = new ArrayList();
    split(e, out);
    return out;
  }

  private static void split(Expression e, List out) {
    if (e instanceof And) {
      split((Expression) ((And) e).left(), out);
      split((Expression) ((And) e).right(), out);
    } else {
      out.add(e);
    }
  }

  /** Fills the keys that a join compares for equality, left and right; returns the first other condition's text or "". */
  public String equalities(Join join, List left, List right) {
    if (!join.condition().isDefined()) return "";
    String rest = "";
    List all = conjuncts((Expression) join.condition().get());
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

  /** The union of children that have been given their legs: each child's legs in columns of their own, null elsewhere. */
  public LogicalPlan union(LogicalPlan union, List plans, List legs, List outputs) {
    List children = new ArrayList();
    for (int i = 0; i < plans.size(); i++) {
      List columns = list((scala.collection.Seq) outputs.get(i));
      for (int j = 0; j < plans.size(); j++) {
        List side = (List) legs.get(j);
        for (int k = 0; k < side.size(); k++) {
          columns.add(alias(i == j ? (Expression) side.get(k) : nullLong(), "__leg"));
        }
      }
      children.add(new Project(seq(columns), (LogicalPlan) plans.get(i)));
    }
    return withChildren(union, children);
  }

  private static Expression nullLong() {
    return new Literal(null, LongType$.MODULE$);
  }

  /** Only the first n columns: what the user's plan puts out. */
  public LogicalPlan userColumns(LogicalPlan plan, int n) {
    return new Project(seq(list(plan.output()).subList(0, n)), plan);
  }

  /** A plan's output with more attributes behind it. */
  public List outputAnd(LogicalPlan plan, List extra) {
    List all = list(plan.output());
    all.addAll(extra);
    return all;
  }

  /** Reads a private field, of the object's class or one above it. */
  public Object field(Object owner, String name) throws Exception {
    return find(owner, name).get(owner);
  }

  public void setField(Object owner, String name, Object value) throws Exception {
    find(owner, name).set(owner, value);
  }

  private static Field find(Object owner, String name) throws NoSuchFieldException {
    for (Class c = owner.getClass(); c != null; c = c.getSuperclass()) {
      Field[] all = c.getDeclaredFields();
      for (int i = 0; i < all.length; i++) {
        if (all[i].getName().equals(name)) {
          all[i].setAccessible(true);
          return all[i];
        }
      }
    }
    throw new NoSuchFieldException(owner.getClass().getName() + "." + name);
  }

  /** Strings in one answer; none of them holds the separator. */
  public String texts(List items) {
    StringBuilder out = new StringBuilder();
    synchronized (items) {
      for (int i = 0; i < items.size(); i++) out.append((String) items.get(i)).append('\u0003');
    }
    return out.toString();
  }

  /** The last n attributes that a plan outputs. */
  public List lastOutput(LogicalPlan plan, int n) {
    List all = list(plan.output());
    return new ArrayList(all.subList(all.size() - n, all.size()));
  }

  /** One expression of many longs, for a function that takes no more arguments. */
  public Expression array(List items) {
    return new CreateArray(seq(items), false);
  }

  /** Whether `plan` holds a node of this class that also stands in `other`, or any such node where `other` is null. */
  public boolean holds(LogicalPlan plan, String cls, LogicalPlan other) {
    if (plan.getClass().getSimpleName().equals(cls) && (other == null || stands(plan, other))) return true;
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(plan.children()).iterator();
    while (it.hasNext()) if (holds((LogicalPlan) it.next(), cls, other)) return true;
    return false;
  }

  private static boolean stands(LogicalPlan node, LogicalPlan plan) {
    if (plan == node) return true;
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(plan.children()).iterator();
    while (it.hasNext()) if (stands(node, (LogicalPlan) it.next())) return true;
    return false;
  }

  public Expression zero() {
    return Literal$.MODULE$.apply(Long.valueOf(0L));
  }

  public List attributes(List aliases) {
    List out = new ArrayList();
    for (int i = 0; i < aliases.size(); i++) out.add(((NamedExpression) aliases.get(i)).toAttribute());
    return out;
  }

  /** An aggregate over a new child that also puts out `extra`. */
  public LogicalPlan aggregate(Aggregate a, LogicalPlan child, List extra) {
    List all = list(a.aggregateExpressions());
    all.addAll(extra);
    List values = new ArrayList();
    scala.collection.Iterator it = a.productIterator();
    while (it.hasNext()) values.add(it.next());
    values.set(1, seq(all));
    values.set(2, child);
    return (LogicalPlan) a.makeCopy(values.toArray());
  }
}

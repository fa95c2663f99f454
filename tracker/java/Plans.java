package provspark;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.XxHash64;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.rules.Rule;

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

  /** Appends rules to the normalising tuple: Scala objects by name. Returns this, so that Python sends one string. */
  public void setRules(String names) {
    normalRules.clear();
    String[] parts = names.split("\n");
    for (int i = 0; i < parts.length; i++) normalRules.add(module(parts[i]));
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

  /** Aliases of two 64-bit hashes over the parts, which never hold two values of different meaning alike. */
  public List keyHashes(List parts, String name) {
    List out = new ArrayList();
    if (parts.isEmpty()) {
      out.add(alias(literal(0L), name + "_1"));
      out.add(alias(literal(0L), name + "_2"));
      return out;
    }
    out.add(alias(new XxHash64(seq(parts), SEED_1), name + "_1"));
    out.add(alias(new XxHash64(seq(parts), SEED_2), name + "_2"));
    return out;
  }

  public Expression literal(Object value) {
    return org.apache.spark.sql.catalyst.expressions.Literal$.MODULE$.apply(value);
  }

  public List attributes(List aliases) {
    List out = new ArrayList();
    for (int i = 0; i < aliases.size(); i++) out.add(((NamedExpression) aliases.get(i)).toAttribute());
    return out;
  }

  public Object copy(LogicalPlan p, int at, Object value) {
    List values = new ArrayList();
    scala.collection.Iterator it = ((scala.Product) p).productIterator();
    while (it.hasNext()) values.add(it.next());
    values.set(at, value);
    return p.makeCopy(values.toArray());
  }

  static boolean isAttribute(Object o) {
    return o instanceof Attribute;
  }

  static Expression isNull(Expression e) {
    return new IsNull(e);
  }
}

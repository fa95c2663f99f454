package provspark.trees;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;

/** Helper functions for Spark's plan and expression trees. Uses raw types, because Janino has no generics. */
public class Trees {
  public static final String OPTIMIZER = "org.apache.spark.sql.catalyst.optimizer.";
  public static final String ANALYSER = "org.apache.spark.sql.catalyst.analysis.";
  private static final int ROUNDS = 100;

  private Trees() {}

  /** Applies one of Spark's rules, a Scala object of this full name, to a plan. */
  public static LogicalPlan byRule(String name, LogicalPlan plan) throws Exception {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    Object rule = Class.forName(name + "$", true, loader).getField("MODULE$").get(null);
    return (LogicalPlan) ((Rule) rule).apply(plan);
  }

  /** Applies the rule until the plan no longer changes. */
  public static LogicalPlan byRuleToTheEnd(String name, LogicalPlan plan) throws Exception {
    LogicalPlan before = null;
    LogicalPlan p = plan;
    for (int i = 0; i < ROUNDS && !p.fastEquals(before); i++) {
      before = p;
      p = byRule(name, p);
    }
    return p;
  }

  public static Alias alias(Expression e, String name) {
    return named(e, name, NamedExpression.newExprId());
  }

  public static Alias named(Expression e, String name, ExprId id) {
    scala.collection.immutable.Seq nil = seq(new ArrayList());
    return new Alias(e, name, id, nil, scala.Option.empty(), nil);
  }

  public static List attributes(List aliases) {
    List out = new ArrayList();
    for (int i = 0; i < aliases.size(); i++) out.add(((NamedExpression) aliases.get(i)).toAttribute());
    return out;
  }

  /** Returns the arguments of a node, an expression or another case class. Change them and pass them to `makeCopy`. */
  public static List values(scala.Product of) {
    return list(of.productIterator().toSeq());
  }

  /** Calls a method without arguments, for classes that differ between versions of Spark. */
  public static Object call(Object owner, String name) throws Exception {
    return owner.getClass().getMethod(name, new Class[0]).invoke(owner, new Object[0]);
  }

  public static LogicalPlan withChildren(LogicalPlan plan, List children) {
    return (LogicalPlan) plan.withNewChildren(seq(children));
  }

  public static List one(Object item) {
    List out = new ArrayList();
    out.add(item);
    return out;
  }

  /** Whether a plan has a node of this class, including subqueries. */
  public static boolean has(LogicalPlan plan, Class kind) {
    if (kind.isInstance(plan)) return true;
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) if (has((LogicalPlan) inside.get(i), kind)) return true;
    return false;
  }

  /** Whether some expressions contain one of this class. */
  public static boolean hold(scala.collection.Seq expressions, Class kind) {
    Iterator it = list(expressions).iterator();
    while (it.hasNext()) {
      Expression e = (Expression) it.next();
      if (kind.isInstance(e) || hold(e.children(), kind)) return true;
    }
    return false;
  }

  public static List list(scala.collection.Seq items) {
    return new ArrayList(scala.jdk.javaapi.CollectionConverters.asJava(items));
  }

  public static scala.collection.immutable.Seq seq(List items) {
    return scala.jdk.javaapi.CollectionConverters.asScala(new ArrayList(items)).toSeq();
  }

  /** Returns the expression ids of attributes, in order. */
  public static List ids(scala.collection.Seq attributes) {
    List out = list(attributes);
    for (int i = 0; i < out.size(); i++) out.set(i, ((Attribute) out.get(i)).exprId());
    return out;
  }

  /** Returns the attributes as in the output of `plan`, where an outer join, for example, has made them nullable. */
  public static List rebound(LogicalPlan plan, List attributes) {
    Map byId = new HashMap();
    List output = list(plan.output());
    for (int i = 0; i < output.size(); i++) byId.put(((Attribute) output.get(i)).exprId(), output.get(i));
    List out = new ArrayList();
    for (int i = 0; i < attributes.size(); i++) out.add(byId.get(((Attribute) attributes.get(i)).exprId()));
    return out;
  }
}

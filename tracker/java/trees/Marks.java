package provspark.trees;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.spark.api.python.PythonFunction;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import org.apache.spark.sql.execution.LogicalRDD;
import static provspark.trees.Trees.*;

/** Marks (tree node tags) on nodes of the user's plan. Spark's copies of a node keep them, and they don't affect equality. */
public class Marks {
  private static final TreeNodeTag SITE = new TreeNodeTag("provspark.site");
  private static final TreeNodeTag NAME = new TreeNodeTag("provspark.name");
  private static final TreeNodeTag MODELS = new TreeNodeTag("provspark.models");
  private static final TreeNodeTag TRANSFORMER = new TreeNodeTag("provspark.transformer");
  private static final Map FUNCTIONS = new WeakHashMap();
  private static final TreeNodeTag LEAF = new TreeNodeTag("provspark.leaf");

  private Marks() {}

  /** Marks the root of a DataFrame's plan with the line that created it and its user-given name, unless it is marked. */
  public static boolean mark(LogicalPlan root, String site, String name) {
    if (site.length() == 0 || marked(root)) return false;
    root.setTagValue(SITE, site);
    root.setTagValue(NAME, name);
    return true;
  }

  /** Marks a root with the transformer that created it: class, uid and parameters. */
  public static void transformer(LogicalPlan root, String described) {
    root.setTagValue(TRANSFORMER, described);
  }

  /** Marks a root with the read numbers of the models that created it, separated by spaces. */
  public static void models(LogicalPlan root, String numbers) {
    root.setTagValue(MODELS, numbers);
  }

  /** Returns these numbers of all nodes of a plan, including subqueries. */
  public static String models(LogicalPlan plan) {
    StringBuilder out = new StringBuilder(text(plan, MODELS));
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) out.append(' ').append(models((LogicalPlan) inside.get(i)));
    return out.toString();
  }

  /** Adds the leaves of a plan that read RDDs to `out`, including those in subqueries. */
  public static void computed(LogicalPlan plan, List out) {
    if (plan instanceof LogicalRDD) out.add(plan);
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) computed((LogicalPlan) inside.get(i), out);
  }

  /** Copies the marks of a node to another one, unless that is marked. */
  public static void copy(LogicalPlan from, LogicalPlan to) {
    if (!mark(to, site(from), name(from))) return;
    String described = transformer(from);
    if (described.length() > 0) transformer(to, described);
    if (text(from, MODELS).length() > 0) models(to, text(from, MODELS));
  }

  public static boolean marked(LogicalPlan node) {
    return node.getTagValue(SITE).nonEmpty();
  }

  /** Returns the line that created a node, or "". */
  public static String site(LogicalPlan node) {
    return text(node, SITE);
  }

  public static String name(LogicalPlan node) {
    return text(node, NAME);
  }

  public static String transformer(LogicalPlan node) {
    return text(node, TRANSFORMER);
  }

  private static String text(LogicalPlan node, TreeNodeTag key) {
    scala.Option tag = node.getTagValue(key);
    return tag.isEmpty() ? "" : (String) tag.get();
  }

  /** Remembers the full name of a user's function. */
  public static void named(PythonFunction function, String name) {
    synchronized (FUNCTIONS) {
      FUNCTIONS.put(function, name);
    }
  }

  /** Returns the full name of a function, or `otherwise` if it is unknown. */
  public static String function(PythonFunction function, String otherwise) {
    synchronized (FUNCTIONS) {
      Object name = FUNCTIONS.get(function);
      return name == null ? otherwise : (String) name;
    }
  }

  /** Returns the line of the first node of this class, or, if it is "", of the first node with a subquery. "" if none. */
  public static String site(LogicalPlan plan, String cls, String above) {
    String mine = site(plan).length() == 0 ? above : site(plan);
    if (cls.length() == 0 ? plan.subqueries().nonEmpty() : plan.getClass().getSimpleName().equals(cls)) return mine;
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) {
      String found = site((LogicalPlan) inside.get(i), cls, mine);
      if (found.length() > 0) return found;
    }
    return "";
  }

  public static void leaf(LogicalPlan node, int number) {
    node.setTagValue(LEAF, Integer.valueOf(number));
  }

  /** Returns the number of a leaf, or -1. */
  public static int leaf(LogicalPlan node) {
    scala.Option tag = node.getTagValue(LEAF);
    return tag.isEmpty() ? -1 : ((Integer) tag.get()).intValue();
  }

  /** Returns the numbers of the leaves of a plan and its subqueries, in order, separated by spaces. */
  public static String leaves(LogicalPlan plan) {
    StringBuilder out = new StringBuilder();
    collect(plan, out);
    return out.toString();
  }

  private static void collect(LogicalPlan plan, StringBuilder out) {
    Iterator inner = list(plan.subqueries()).iterator();
    while (inner.hasNext()) collect((LogicalPlan) inner.next(), out);
    if (plan.children().isEmpty()) out.append(out.length() == 0 ? "" : " ").append(leaf(plan));
    List children = list(plan.children());
    for (int i = 0; i < children.size(); i++) collect((LogicalPlan) children.get(i), out);
  }

  /**
   * Returns the numbers of a plan's leaves in order, without those under aliases of the name `except`. Null if two are equal or
   * if there is a subquery, whose place in the order `read` defines.
   */
  public static List leaves(LogicalPlan plan, String except) {
    List out = new ArrayList();
    return distinct(plan, except, out) ? out : null;
  }

  private static boolean distinct(LogicalPlan plan, String except, List out) {
    if (plan instanceof SubqueryAlias && ((SubqueryAlias) plan).alias().equals(except)) return true;
    if (plan.subqueries().nonEmpty()) return false;
    List children = list(plan.children());
    Integer mine = Integer.valueOf(leaf(plan));
    if (children.isEmpty() && (mine.intValue() < 0 || out.contains(mine))) return false;
    if (children.isEmpty()) out.add(mine);
    for (int i = 0; i < children.size(); i++) if (!distinct((LogicalPlan) children.get(i), except, out)) return false;
    return true;
  }

  /**
   * Returns the same in the order of the inputs, including scalar subqueries: the leaves of a node's children come before
   * those of its subqueries, each once. Null if two leaves are equal or if there is another kind of subquery.
   */
  public static List read(LogicalPlan plan, String except) {
    List out = new ArrayList();
    return read(plan, except, new HashSet(), out) ? out : null;
  }

  private static boolean read(LogicalPlan plan, String except, Set known, List out) {
    if (plan instanceof SubqueryAlias && ((SubqueryAlias) plan).alias().equals(except)) return true;
    List children = list(plan.children());
    Integer mine = Integer.valueOf(leaf(plan));
    if (children.isEmpty() && (mine.intValue() < 0 || out.contains(mine))) return false;
    if (children.isEmpty()) out.add(mine);
    for (int i = 0; i < children.size(); i++) if (!read((LogicalPlan) children.get(i), except, known, out)) return false;
    return read(plan.expressions(), except, known, out);
  }

  private static boolean read(scala.collection.Seq expressions, String except, Set known, List out) {
    Iterator it = list(expressions).iterator();
    while (it.hasNext()) {
      Expression e = (Expression) it.next();
      if (e instanceof ScalarSubquery && known.add(((ScalarSubquery) e).exprId())) {
        if (!read((LogicalPlan) ((ScalarSubquery) e).plan(), except, known, out)) return false;
      } else if (e instanceof SubqueryExpression && !(e instanceof ScalarSubquery)) {
        return false;
      }
      if (!read(e.children(), except, known, out)) return false;
    }
    return true;
  }

  /** Whether two lists contain the same items, in any order. */
  public static boolean alike(List some, List others) {
    return others != null && some.size() == others.size() && some.containsAll(others);
  }
}

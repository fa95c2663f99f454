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

/** What nodes of the user's plan are marked with: Spark's copies of a node keep it, and no plan is another for it. */
public class Marks {
  private static final TreeNodeTag SITE = new TreeNodeTag("provspark.site");
  private static final TreeNodeTag NAME = new TreeNodeTag("provspark.name");
  private static final TreeNodeTag MODELS = new TreeNodeTag("provspark.models");
  private static final TreeNodeTag TRANSFORMER = new TreeNodeTag("provspark.transformer");
  private static final Map FUNCTIONS = new WeakHashMap();
  private static final TreeNodeTag LEAF = new TreeNodeTag("provspark.leaf");

  private Marks() {}

  /** Marks the root of a frame's plan with the line that made it and the user's name for it, unless it is marked. */
  public static boolean mark(LogicalPlan root, String site, String name) {
    if (site.length() == 0 || marked(root)) return false;
    root.setTagValue(SITE, site);
    root.setTagValue(NAME, name);
    return true;
  }

  /** Marks it with the transformer that made it: class, uid and parameters. */
  public static void transformer(LogicalPlan root, String described) {
    root.setTagValue(TRANSFORMER, described);
  }

  /** Marks it with the numbers of the reads that the models are which made it, by blanks. */
  public static void models(LogicalPlan root, String numbers) {
    root.setTagValue(MODELS, numbers);
  }

  /** Those numbers of all nodes of a plan, its subqueries included. */
  public static String models(LogicalPlan plan) {
    StringBuilder out = new StringBuilder(text(plan, MODELS));
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) out.append(' ').append(models((LogicalPlan) inside.get(i)));
    return out.toString();
  }

  /** The leaves of a plan that read RDDs, its subqueries included. */
  public static void computed(LogicalPlan plan, List out) {
    if (plan instanceof LogicalRDD) out.add(plan);
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) computed((LogicalPlan) inside.get(i), out);
  }

  /** Gives a node the marks of another, unless it has some. */
  public static void copy(LogicalPlan from, LogicalPlan to) {
    if (!mark(to, site(from), name(from))) return;
    String described = transformer(from);
    if (described.length() > 0) transformer(to, described);
    if (text(from, MODELS).length() > 0) models(to, text(from, MODELS));
  }

  public static boolean marked(LogicalPlan node) {
    return node.getTagValue(SITE).nonEmpty();
  }

  /** The line that made a node, or "". */
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

  /** Remembers the full name of a function of the user's. */
  public static void named(PythonFunction function, String name) {
    synchronized (FUNCTIONS) {
      FUNCTIONS.put(function, name);
    }
  }

  /** The full name of a function, or the one given. */
  public static String function(PythonFunction function, String otherwise) {
    synchronized (FUNCTIONS) {
      Object name = FUNCTIONS.get(function);
      return name == null ? otherwise : (String) name;
    }
  }

  /** The line that made the first node of this class, or the first with a subquery where none is named; or "". */
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

  /** The number of a leaf, or -1. */
  public static int leaf(LogicalPlan node) {
    scala.Option tag = node.getTagValue(LEAF);
    return tag.isEmpty() ? -1 : ((Integer) tag.get()).intValue();
  }

  /** The numbers of the leaves of a plan and of its subqueries, in order, by blanks. */
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
   * The numbers of the leaves of a plan in order, but for those under aliases of this name; null where two are the same, or where
   * there is a subquery, whose place in the order is another's to say.
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
   * The same in the order in which inputs are numbered, with those of scalar subqueries: after a node's children those of
   * its subqueries, each once. Null where two leaves are the same or where there is another kind of subquery.
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

  /** Whether two lists hold the same, in any order. */
  public static boolean alike(List some, List others) {
    return others != null && some.size() == others.size() && some.containsAll(others);
  }
}

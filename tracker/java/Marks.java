package provspark;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import static provspark.Trees.*;

/** What nodes of the user's plan are marked with: Spark's copies of a node keep it, and no plan is another for it. */
public class Marks {
  private static final TreeNodeTag SITE = new TreeNodeTag("provspark.site");
  private static final TreeNodeTag LEAF = new TreeNodeTag("provspark.leaf");

  private Marks() {}

  /** Marks the root of a frame's plan with the line that made it, unless an earlier frame had it already. */
  public static void site(LogicalPlan root, String site) {
    if (site.length() > 0 && site(root).length() == 0) root.setTagValue(SITE, site);
  }

  /** The line that made a node, or "". */
  public static String site(LogicalPlan node) {
    scala.Option tag = node.getTagValue(SITE);
    return tag.isEmpty() ? "" : (String) tag.get();
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
}

package provspark.script;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.Dependency;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.execution.LogicalRDD;
import static provspark.trees.Trees.list;

/** Registry of rows that the script made, with the reason why they are not constant, or "". Raw types, for Janino. */
public class ScriptRows {
  /** Prefix of the reason for rows that derive only from constants and single numbers read (row_constants.py). */
  private static final char OF_NUMBERS = 2;

  private final List rows = new ArrayList();
  private final List whys = new ArrayList();
  private final Map others = new HashMap();

  /** Registers the local rows, RDDs and ranges of a plan; if `why` is "", only the RDDs. */
  public synchronized void note(LogicalPlan plan, String why) {
    if (plan instanceof LocalRelation && why.length() > 0) {
      Object first = first(plan);
      if (first != null && find(first) < 0) {
        rows.add(new WeakReference(first));
        whys.add(why);
      }
    } else if (plan instanceof LogicalRDD) {
      noteRdd(((LogicalRDD) plan).rdd(), why);
    } else if (plan instanceof Range && why.length() > 0) {
      others.put(key((Range) plan), why);
    }
    List below = list(plan.children());
    for (int i = 0; i < below.size(); i++) note((LogicalPlan) below.get(i), why);
  }

  /** Whether a reason is "" or only about numbers, so that another reason replaces it. */
  static boolean weaker(String why) {
    return why.length() == 0 || why.charAt(0) == OF_NUMBERS;
  }

  public synchronized void noteRdd(RDD rdd, String why) {
    others.put(Integer.valueOf(rdd.id()), why);
  }

  /** Returns the reason for the first rows in a plan that are not constant, or ""; reasons about numbers come last. */
  public synchronized String within(LogicalPlan plan) {
    String found = of(plan);
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size() && weaker(found); i++) {
      String other = within((LogicalPlan) inside.get(i));
      if (other.length() > 0) found = other;
    }
    return found;
  }

  /** Whether an RDD is registered. */
  public synchronized boolean knows(RDD rdd) {
    return others.containsKey(Integer.valueOf(rdd.id()));
  }

  /** Returns the reason why a leaf's rows are not constant, or "". */
  public synchronized String of(LogicalPlan leaf) {
    if (leaf instanceof LocalRelation) {
      int i = find(first(leaf));
      return i < 0 ? "" : (String) whys.get(i);
    }
    if (leaf instanceof LogicalRDD) return above(((LogicalRDD) leaf).rdd());
    Object why = leaf instanceof Range ? others.get(key((Range) leaf)) : null;
    return why == null ? "" : (String) why;
  }

  /** Returns the reason why the rows of an RDD, or of one that it derives from, are not constant, or "". */
  public synchronized String above(RDD rdd) {
    Object why = others.get(Integer.valueOf(rdd.id()));
    if (why != null) return (String) why;
    List from = list(rdd.dependencies());
    String found = "";
    for (int i = 0; i < from.size() && found.length() == 0; i++) found = above(((Dependency) from.get(i)).rdd());
    return found;
  }

  private static String key(Range range) {
    return range.start() + " " + range.step() + " " + range.numElements();
  }

  /** Returns the first row, which identifies the relation: copies of a plan share the row objects. */
  private static Object first(LogicalPlan leaf) {
    scala.collection.Seq data = ((LocalRelation) leaf).data();
    return data.isEmpty() ? null : data.apply(0);
  }

  private int find(Object row) {
    for (int i = rows.size() - 1; i >= 0; i--) if (row != null && ((WeakReference) rows.get(i)).get() == row) return i;
    return -1;
  }
}

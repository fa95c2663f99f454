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

/** Rows that the script made, and why they are no constants; "" where they are. Raw types, for Janino. */
public class ScriptRows {
  /** Begins the reason of rows that are made of constants and of numbers that were read. */
  private static final char OF_NUMBERS = 2;

  private final List rows = new ArrayList();
  private final List whys = new ArrayList();
  private final Map others = new HashMap();

  /** Notes the local rows, the RDDs and the ranges of a plan; of constants the RDDs alone. */
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

  /** Whether a reason is none, or of rows of numbers: any other one says more. */
  static boolean weaker(String why) {
    return why.length() == 0 || why.charAt(0) == OF_NUMBERS;
  }

  public synchronized void noteRdd(RDD rdd, String why) {
    others.put(Integer.valueOf(rdd.id()), why);
  }

  /** Why the first of such rows in a plan is no constant, those last that are of numbers; "" where there are none. */
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

  /** Whether the script handed over the rows of an RDD, or it is known how they were made. */
  public synchronized boolean knows(RDD rdd) {
    return others.containsKey(Integer.valueOf(rdd.id()));
  }

  /** The same for a leaf. */
  public synchronized String of(LogicalPlan leaf) {
    if (leaf instanceof LocalRelation) {
      int i = find(first(leaf));
      return i < 0 ? "" : (String) whys.get(i);
    }
    if (leaf instanceof LogicalRDD) return above(((LogicalRDD) leaf).rdd());
    Object why = leaf instanceof Range ? others.get(key((Range) leaf)) : null;
    return why == null ? "" : (String) why;
  }

  /** Why an RDD's rows, or those that it was made of, are no constants. */
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

  /** Copies of a plan share the rows themselves. */
  private static Object first(LogicalPlan leaf) {
    scala.collection.Seq data = ((LocalRelation) leaf).data();
    return data.isEmpty() ? null : data.apply(0);
  }

  private int find(Object row) {
    for (int i = rows.size() - 1; i >= 0; i--) if (row != null && ((WeakReference) rows.get(i)).get() == row) return i;
    return -1;
  }
}

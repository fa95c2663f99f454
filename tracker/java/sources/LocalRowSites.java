package provspark.sources;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.LogicalRDD;

/** Registry of the script's lines that made local rows. */
public class LocalRowSites {
  private final List rows = new ArrayList();
  private final List sites = new ArrayList();
  private final Map handed = new HashMap();

  /** Registers the leaves of a plan that this line made; `local`: its RDD contains rows that the script passed. */
  public synchronized void note(LogicalPlan plan, String site, boolean local) {
    if (plan instanceof LocalRelation && find(first(plan)) < 0) {
      rows.add(new WeakReference(first(plan)));
      sites.add(site);
    }
    if (local && plan instanceof LogicalRDD) handed.put(Integer.valueOf(((LogicalRDD) plan).rdd().id()), site);
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(plan.children()).iterator();
    while (it.hasNext()) note((LogicalPlan) it.next(), site, local);
  }

  /** Returns the line that made a leaf; "" for an unknown local relation, null for an RDD that is not registered. */
  public synchronized String site(LogicalPlan leaf) {
    if (leaf instanceof LogicalRDD) return (String) handed.get(Integer.valueOf(((LogicalRDD) leaf).rdd().id()));
    int i = find(first(leaf));
    return i < 0 ? "" : (String) sites.get(i);
  }

  /** Whether a plan has local rows that no registered line made, such as those made by a library of Spark. */
  public synchronized boolean unknown(LogicalPlan plan) {
    if (plan instanceof LocalRelation && first(plan) != null && find(first(plan)) < 0) return true;
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(plan.children()).iterator();
    while (it.hasNext()) if (unknown((LogicalPlan) it.next())) return true;
    return false;
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

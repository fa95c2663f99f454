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

/** Which line of the script made local rows. */
public class LocalRowSites {
  private final List rows = new ArrayList();
  private final List sites = new ArrayList();
  private final Map handed = new HashMap();

  /** Notes the leaves of a plan that this line made; `local`: its RDD holds rows that the script handed over. */
  public synchronized void note(LogicalPlan plan, String site, boolean local) {
    if (plan instanceof LocalRelation && find(first(plan)) < 0) {
      rows.add(new WeakReference(first(plan)));
      sites.add(site);
    }
    if (local && plan instanceof LogicalRDD) handed.put(Integer.valueOf(((LogicalRDD) plan).rdd().id()), site);
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(plan.children()).iterator();
    while (it.hasNext()) note((LogicalPlan) it.next(), site, local);
  }

  /** The line that made this leaf; "" where a local relation's is not known, null for an RDD that was not handed over. */
  public synchronized String site(LogicalPlan leaf) {
    if (leaf instanceof LogicalRDD) return (String) handed.get(Integer.valueOf(((LogicalRDD) leaf).rdd().id()));
    int i = find(first(leaf));
    return i < 0 ? "" : (String) sites.get(i);
  }

  /** Whether a plan has local rows that no line of the script made: a library of Spark's did. */
  public synchronized boolean unknown(LogicalPlan plan) {
    if (plan instanceof LocalRelation && first(plan) != null && find(first(plan)) < 0) return true;
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(plan.children()).iterator();
    while (it.hasNext()) if (unknown((LogicalPlan) it.next())) return true;
    return false;
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

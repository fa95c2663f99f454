package provspark.session;

import java.math.BigInteger;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.Dependency;
import org.apache.spark.OneToOneDependency;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.LogicalRDD;

/** Origins of RDDs: the DataFrames that they were made from, according to Spark's RDD graph. Uses raw types. */
public class RddAncestors {
  private final Map numbers = new HashMap();

  /** Registers the number of an RDD with rows of a DataFrame or of the script. */
  public synchronized void note(RDD rdd, int number) {
    numbers.put(Integer.valueOf(rdd.id()), Integer.valueOf(number));
  }

  /** Registers one number for the RDDs of all leaves of a DataFrame. */
  public void noteLeaves(LogicalPlan plan, int number) {
    if (plan instanceof LogicalRDD) note(((LogicalRDD) plan).rdd(), number);
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(plan.children()).iterator();
    while (it.hasNext()) noteLeaves((LogicalPlan) it.next(), number);
  }

  /**
   * Returns the numbers of the registered RDDs that an RDD was made from, and the classes of other origins, separated by spaces.
   * The first word is "each" if each partition was made from the one with the same number, else "all".
   */
  public synchronized String origins(RDD rdd) {
    Set found = new TreeSet();
    boolean each = visit(rdd, found, new HashSet());
    StringBuilder out = new StringBuilder(each ? "each" : "all");
    Iterator it = found.iterator();
    while (it.hasNext()) out.append(' ').append((String) it.next());
    return out.toString();
  }

  /** Returns a hash of the pickled rows of an RDD, in order. */
  public String digest(JavaRDD rows) throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    Iterator it = rows.collect().iterator();
    while (it.hasNext()) digest.update((byte[]) it.next());
    return new BigInteger(1, digest.digest()).toString(16);
  }

  private boolean visit(RDD rdd, Set found, Set seen) {
    if (!seen.add(Integer.valueOf(rdd.id()))) return true;
    Object number = numbers.get(Integer.valueOf(rdd.id()));
    if (number != null) {
      found.add(number.toString());
      return true;
    }
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(rdd.dependencies()).iterator();
    if (!it.hasNext()) found.add(rdd.getClass().getSimpleName());
    boolean each = true;
    while (it.hasNext()) {
      Dependency dependency = (Dependency) it.next();
      each &= dependency instanceof OneToOneDependency;
      each &= visit(dependency.rdd(), found, seen);
    }
    return each;
  }
}

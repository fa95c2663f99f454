package provspark.plan;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** Finds the `Operator` of each node, by the name of its class. Raw types, for Janino. */
public class Operators {
  private final Map names = new HashMap();
  private final Map made = new HashMap();

  /** lines: a node's name, a space and the full name of its family's class. Other nodes get a plain `Operator`. */
  public Operators(String lines) {
    String[] all = lines.split("\n");
    for (int i = 0; i < all.length; i++) {
      String[] line = all[i].split(" ");
      names.put(line[0], line[1]);
    }
  }

  public synchronized Operator of(LogicalPlan plan) {
    String node = plan.getClass().getSimpleName();
    if (!made.containsKey(node)) made.put(node, make((String) names.get(node)));
    return (Operator) made.get(node);
  }

  private static Operator make(String name) {
    if (name == null) return new Operator();
    try {
      Class found = Operators.class.getClassLoader().loadClass(name);
      return (Operator) found.getConstructor(new Class[0]).newInstance(new Object[0]);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e.toString(), e);
    }
  }
}

package provspark.families.window;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import provspark.plan.Rewrite;
import provspark.taps.Keys;
import static provspark.trees.Trees.*;

/** Rewrites windows, over taps by their partitions. Raw types, for Janino. */
public class WindowCapture {
  private final Rewrite rewrite;

  public WindowCapture(Rewrite rewrite) {
    this.rewrite = rewrite;
  }

  /** Returns how many windows at the top of a chain (their numbers, from the top down) use no result of each other. */
  public int together(String chain) {
    String[] numbers = chain.split(" ");
    for (int i = 1; i < numbers.length; i++) {
      Window lower = (Window) rewrite.node(Integer.parseInt(numbers[i]));
      for (int j = 0; j < i; j++) {
        List all = list(rewrite.node(Integer.parseInt(numbers[j])).expressions());
        for (int k = 0; k < all.size(); k++) {
          if (((Expression) all.get(k)).references().intersect(lower.windowOutputSet()).nonEmpty()) return i;
        }
      }
    }
    return numbers.length;
  }

  /** Whether two windows have the same partitions. */
  public boolean samePartitions(int a, int b) {
    return partitions(a).equals(partitions(b));
  }

  private List partitions(int window) {
    return list(((Window) rewrite.node(window)).partitionSpec());
  }

  public int tapPartitions(int window, int t) {
    return rewrite.tapKeyed(t, partitions(window));
  }

  /** Adds the hashes of a window's partition keys as a provenance column. */
  public int partitioned(int window, int t) {
    return rewrite.with(rewrite.plan(t), rewrite.provenance(t), Keys.hashes(partitions(window), "__window"));
  }

  /** Returns the first type of a window's keys that can't be hashed, or ""; "none" if there is no key. */
  public String unhashable(int window) {
    return rewrite.unhashableOrNone(partitions(window));
  }
}

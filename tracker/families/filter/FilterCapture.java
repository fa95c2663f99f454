package provspark.families.filter;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import provspark.plan.Rewrite;
import provspark.taps.Keys;

/** Splits filters' conditions for the scans below them. Raw types, for Janino. */
public class FilterCapture {
  private final Rewrite rewrite;

  public FilterCapture(Rewrite rewrite) {
    this.rewrite = rewrite;
  }

  /** Returns the conjuncts of a filter's condition. */
  public List conjuncts(int node) {
    List out = new ArrayList();
    Keys.split(((Filter) rewrite.node(node)).condition(), out);
    return out;
  }
}

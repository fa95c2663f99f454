package provspark.families.expand;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import provspark.plan.Rewrite;
import static provspark.trees.Trees.*;

/** Rewrites Expand, which copies rows. Raw types, for Janino. */
public class ExpandCapture {
  private final Rewrite rewrite;

  public ExpandCapture(Rewrite rewrite) {
    this.rewrite = rewrite;
  }

  /** Adds an Expand in which each projection passes the provenance columns on. */
  public int expand(int node, int t) {
    Expand e = (Expand) rewrite.node(node);
    List provenance = rewrite.provenance(t);
    List projections = list(e.projections());
    for (int i = 0; i < projections.size(); i++) {
      List one = list((scala.collection.Seq) projections.get(i));
      one.addAll(provenance);
      projections.set(i, seq(one));
    }
    List output = list(e.output());
    output.addAll(provenance);
    return rewrite.put(new Expand(seq(projections), seq(output), rewrite.plan(t)), provenance);
  }
}

package provspark.families.expand;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import provspark.plan.Rewrite;
import static provspark.trees.Trees.*;

/** Copies of rows with provenance columns. Raw types, for Janino. */
public class ExpandCapture {
  private final Rewrite rewrite;

  public ExpandCapture(Rewrite rewrite) {
    this.rewrite = rewrite;
  }

  /** An Expand whose every projection hands the provenance columns on as they are. */
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

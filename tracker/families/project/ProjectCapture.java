package provspark.families.project;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import provspark.plan.Rewrite;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/** Rewrites projections. Raw types, for Janino. */
public class ProjectCapture {
  private final Rewrite rewrite;

  public ProjectCapture(Rewrite rewrite) {
    this.rewrite = rewrite;
  }

  /** Projects the user's columns and the provenance columns. */
  public int project(int node, int t) {
    List all = list(((Project) rewrite.node(node)).projectList());
    all.addAll(rewrite.provenance(t));
    return rewrite.traced(projection(all, rewrite.plan(t)), rewrite.provenance(t));
  }
}

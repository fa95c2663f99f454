package provspark.families.scan;

import java.util.List;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import provspark.plan.Expressions;
import provspark.plan.Operator;

/** The `Operator` of scans. Raw types, for Janino. */
public class ScanOperator extends Operator {
  public void tell(LogicalPlan plan, Expressions to, List sides) {
    if (!(plan instanceof LogicalRelation)) return;
    LogicalRelation r = (LogicalRelation) plan;
    if (r.catalogTable().nonEmpty()) to.detail("table", ((CatalogTable) r.catalogTable().get()).identifier().unquotedString());
    if (r.relation() instanceof HadoopFsRelation) to.detail("format", ((HadoopFsRelation) r.relation()).fileFormat().toString());
  }
}

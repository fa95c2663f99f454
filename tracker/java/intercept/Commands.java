package provspark.intercept;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** List of the commands that write no rows. Any other command may, including unknown ones. Uses raw types. */
public class Commands {
  private static final Set QUIET = set(
      // definitions of tables, views, functions and namespaces
      "AddCheckConstraint AddColumns AddConstraint AddPartitions AlterColumns AlterDatabasePropertiesCommand"
      + " AlterDatabaseSetLocationCommand AlterTableAddColumnsCommand AlterTableAddPartitionCommand"
      + " AlterTableChangeColumnCommand AlterTableClusterBy AlterTableCollation AlterTableRenameCommand"
      + " AlterTableSerDePropertiesCommand AlterTableSetLocationCommand AlterTableSetPropertiesCommand"
      + " AlterTableUnsetPropertiesCommand AlterViewAs AlterViewAsCommand AlterViewSchemaBinding"
      + " AlterViewSchemaBindingCommand CommentOnColumn CommentOnNamespace CommentOnTable CreateDataSourceTableCommand"
      + " CreateDatabaseCommand CreateFunction CreateFunctionCommand CreateIndex CreateNamespace CreateSQLFunctionCommand"
      + " CreateTable CreateTableCommand CreateTableLike CreateTableLikeCommand CreateTempViewUsing"
      + " CreateUserDefinedFunction CreateUserDefinedFunctionCommand CreateVariable CreateView CreateViewCommand"
      + " CreateV2Table DropColumns DropConstraint DropDatabaseCommand DropFunction DropFunctionCommand DropIndex"
      + " DropNamespace DropTable DropTableCommand DropTempViewCommand DropVariable DropView RenameColumn RenameTable"
      + " SetNamespaceCollationCommand SetNamespaceLocation SetNamespaceProperties SetTableLocation SetTableProperties"
      + " SetTableSerDeProperties SetViewProperties UnsetNamespacePropertiesCommand UnsetTableProperties"
      + " UnsetViewProperties"
      // descriptions, statistics and caches
      + " AnalyzeColumn AnalyzeColumnCommand AnalyzePartitionCommand AnalyzeTable AnalyzeTableCommand AnalyzeTables"
      + " AnalyzeTablesCommand CacheTable CacheTableAsSelect ClearCacheCommand DescribeColumn DescribeColumnCommand"
      + " DescribeDatabaseCommand DescribeFunction DescribeFunctionCommand DescribeNamespace DescribeProcedure"
      + " DescribeProcedureCommand DescribeQueryCommand DescribeRelation DescribeRelationJsonCommand DescribeTableCommand"
      + " DescribeTablePartition ExplainCommand ListArchivesCommand ListFilesCommand ListJarsCommand RecoverPartitions"
      + " RefreshFunction RefreshFunctionCommand RefreshResource RefreshTable RefreshTableCommand RepairTable"
      + " RepairTableCommand ShowCatalogsCommand ShowCollationsCommand ShowColumns ShowColumnsCommand ShowCreateTable"
      + " ShowCreateTableAsSerdeCommand ShowCreateTableCommand ShowCurrentNamespaceCommand ShowFunctions"
      + " ShowFunctionsCommand ShowNamespaces ShowNamespacesCommand ShowPartitions ShowPartitionsCommand ShowProcedures"
      + " ShowProceduresCommand ShowTableExtended ShowTablePartition ShowTableProperties ShowTablePropertiesCommand"
      + " ShowTables ShowTablesCommand ShowTablesExtended ShowTablesUtils ShowViews ShowViewsCommand"
      + " StreamingExplainCommand UncacheTable"
      // settings, resources, and commands that run others, which the listener sees
      + " AddArchivesCommand AddFileCommand AddFilesCommand AddJarCommand AddJarsCommand CompoundBody NoopCommand"
      + " ResetCommand SaveAsV1TableCommand SetCatalogAndNamespace SetCatalogCommand SetCommand SetNamespaceCommand"
      + " SetVariable UseNamespace"
      // of Delta Lake
      + " DescribeDeltaDetailCommand DescribeDeltaHistory DescribeDeltaHistoryCommand VacuumTableCommand");

  private static Set set(String names) {
    return new HashSet(Arrays.asList(names.split(" ")));
  }

  /** Whether a plan is a command that may change rows of a table or write new ones. */
  public static boolean changes(LogicalPlan plan) {
    String name = plan.getClass().getSimpleName();
    return (plan instanceof Command || name.endsWith("Statement")) && !QUIET.contains(name);
  }

  /** Returns the names of the commands that write no rows. */
  public String quiet() {
    return String.join(" ", QUIET);
  }
}

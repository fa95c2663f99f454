package provspark.intercept;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier;
import org.apache.spark.sql.catalyst.plans.logical.CreateTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.command.CreateDataSourceTableAsSelectCommand;
import org.apache.spark.sql.execution.command.InsertIntoDataSourceDirCommand;
import org.apache.spark.sql.execution.datasources.DataSource$;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.v2.FileDataSourceV2;
import org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog;
import org.apache.spark.sql.internal.SQLConf$;

/** List of the commands that capture leaves to Spark. It runs any other command, including unknown ones. Uses raw types. */
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
      + " CreateUserDefinedFunction CreateUserDefinedFunctionCommand CreateView CreateViewCommand"
      + " CreateV2Table DropColumns DropConstraint DropFunction DropFunctionCommand DropIndex"
      + " DropTempViewCommand DropVariable DropView RenameColumn RenameTable"
      + " SetNamespaceCollationCommand SetNamespaceLocation SetNamespaceProperties SetTableLocation SetTableProperties"
      + " SetTableSerDeProperties SetViewProperties UnsetNamespacePropertiesCommand UnsetTableProperties"
      + " UnsetViewProperties"
      // descriptions, statistics and caches
      + " AnalyzeColumn AnalyzeColumnCommand AnalyzePartitionCommand AnalyzeTable AnalyzeTableCommand AnalyzeTables"
      + " AnalyzeTablesCommand ClearCacheCommand DescribeColumn DescribeColumnCommand"
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
      + " UseNamespace"
      // of Delta Lake
      + " DescribeDeltaDetailCommand DescribeDeltaHistory DescribeDeltaHistoryCommand VacuumTableCommand");

  /** Commands that assign values of rows to session variables. */
  private static final Set READING = set("CreateVariable SetVariable");

  /** Commands that remove tables. */
  private static final Set DROPPING = set("DropDatabaseCommand DropNamespace DropTable DropTableCommand");

  /** Commands that write rows, change them, or remove some. Capture also takes those for such that no list has. */
  private static final Set WRITING = set(
      "AlterTableDropPartitionCommand AlterTableRenamePartitionCommand AppendData CreateDataSourceTableAsSelectCommand"
      + " CreateFlowCommand CreateHiveTableAsSelectCommand CreateMaterializedViewAsSelect CreateStreamingTable"
      + " CreateStreamingTableAsSelect CreateTableAsSelect DeleteFromTable DeleteFromTableWithFilters DropPartitions"
      + " ExternalCommandExecutor InsertIntoDataSourceCommand InsertIntoDataSourceDirCommand InsertIntoDir"
      + " InsertIntoHadoopFsRelationCommand InsertIntoHiveDirCommand InsertIntoHiveTable LoadData LoadDataCommand"
      + " MergeIntoTable OverwriteByExpression OverwritePartitionsDynamic RenamePartitions ReplaceColumns ReplaceData"
      + " ReplaceTable ReplaceTableAsSelect SaveIntoDataSourceCommand TruncatePartition TruncateTable"
      + " TruncateTableCommand UpdateTable WriteDelta");

  /** Commands that put a plan into Spark's cache. */
  private static final Set CACHING = set("CacheTable CacheTableAsSelect");

  private static Set set(String names) {
    return new HashSet(Arrays.asList(names.split(" ")));
  }

  /** Whether capture runs a command: it may change or write rows, or read them on the driver. */
  public static boolean intercepted(LogicalPlan plan) {
    return !QUIET.contains(plan.getClass().getSimpleName()) && !delegates(plan);
  }

  /** Whether a command only reads rows on the driver. */
  static boolean reads(LogicalPlan plan) {
    return READING.contains(plan.getClass().getSimpleName());
  }

  static boolean caches(LogicalPlan plan) {
    return CACHING.contains(plan.getClass().getSimpleName());
  }

  /** Whether a command runs its write as a command of its own, which is intercepted. */
  private static boolean delegates(LogicalPlan plan) {
    if (plan instanceof CreateTableAsSelect) {
      Object name = ((CreateTableAsSelect) plan).name();
      return name instanceof ResolvedIdentifier && ((ResolvedIdentifier) name).catalog() instanceof JDBCTableCatalog;
    }
    String provider = "";
    if (plan instanceof CreateDataSourceTableAsSelectCommand) {
      scala.Option named = ((CreateDataSourceTableAsSelectCommand) plan).table().provider();
      if (named.isDefined()) provider = (String) named.get();
    }
    if (plan instanceof InsertIntoDataSourceDirCommand) provider = ((InsertIntoDataSourceDirCommand) plan).provider();
    if (provider.length() == 0) return false;
    try {
      Class found = DataSource$.MODULE$.lookupDataSource(provider, SQLConf$.MODULE$.get());
      return FileFormat.class.isAssignableFrom(found) || FileDataSourceV2.class.isAssignableFrom(found);
    } catch (Exception e) {
      return false; // Spark itself reports a provider that it does not find
    }
  }

  static boolean drops(LogicalPlan plan) {
    return DROPPING.contains(plan.getClass().getSimpleName());
  }

  /** Returns all lists, each as names separated by spaces. */
  public String[] lists() {
    Set[] all = new Set[] {QUIET, READING, CACHING, DROPPING, WRITING};
    String[] out = new String[all.length];
    for (int i = 0; i < all.length; i++) out[i] = String.join(" ", all[i]);
    return out;
  }
}

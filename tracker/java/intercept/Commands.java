package provspark.intercept;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType;
import org.apache.spark.sql.catalyst.plans.logical.CreateTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.command.AlterTableRenameCommand;
import org.apache.spark.sql.execution.command.CreateDataSourceTableAsSelectCommand;
import org.apache.spark.sql.execution.command.InsertIntoDataSourceDirCommand;
import org.apache.spark.sql.execution.datasources.DataSource$;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.v2.FileDataSourceV2;
import org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog;
import org.apache.spark.sql.internal.SQLConf$;

/** Lists of commands by what they do to rows. A command that no list has counts as a write. Uses raw types. */
public class Commands {
  /** Commands that change no rows. Capture leaves them to Spark. */
  private static final Set QUIET = set(
      // definitions of tables, views, functions and namespaces
      "AddCheckConstraint AddColumns AddConstraint AddPartitions AlterColumns AlterDatabasePropertiesCommand"
      + " AlterDatabaseSetLocationCommand AlterTableAddColumnsCommand AlterTableAddPartitionCommand"
      + " AlterTableChangeColumnCommand AlterTableChangeColumnCommentsCommand AlterTableClusterBy"
      + " AlterTableCollation AlterTableSerDePropertiesCommand AlterTableSetLocationCommand"
      + " AlterTableSetPropertiesCommand AlterTableUnsetPropertiesCommand AlterViewAs AlterViewAsCommand"
      + " AlterViewSchemaBinding AlterViewSchemaBindingCommand CommentOnNamespace CommentOnTable"
      + " CreateDataSourceTableCommand CreateDatabaseCommand CreateFunction CreateFunctionCommand CreateIndex"
      + " CreateMetricView CreateMetricViewCommand CreateNamespace CreateSQLFunctionCommand CreateTable"
      + " CreateTableCommand CreateTableLike CreateTableLikeCommand CreateTempViewUsing CreateUserDefinedFunction"
      + " CreateView CreateViewCommand DropColumns DropConstraint DropFunction DropFunctionCommand DropIndex"
      + " DropTempViewCommand DropVariable DropView RenameColumn RenameTable SetNamespaceCollationCommand"
      + " SetNamespaceLocation SetNamespaceProperties SetTableLocation SetTableProperties SetTableSerDeProperties"
      + " SetViewProperties UnsetNamespacePropertiesCommand UnsetTableProperties UnsetViewProperties"
      // descriptions, statistics and caches
      + " AnalyzeColumn AnalyzeColumnCommand AnalyzePartitionCommand AnalyzeTable AnalyzeTableCommand AnalyzeTables"
      + " AnalyzeTablesCommand ClearCacheCommand DescribeColumn DescribeColumnCommand DescribeDatabaseCommand"
      + " DescribeFunction DescribeFunctionCommand DescribeNamespace DescribeProcedureCommand DescribeQueryCommand"
      + " DescribeRelation DescribeRelationJsonCommand DescribeTableCommand DescribeTablePartition ExplainCommand"
      + " ListArchivesCommand ListFilesCommand ListJarsCommand RecoverPartitions RefreshFunction"
      + " RefreshFunctionCommand RefreshResource RefreshTable RefreshTableCommand RepairTable RepairTableCommand"
      + " ShowCatalogsCommand ShowCollationsCommand ShowColumns ShowColumnsCommand ShowCreateTable"
      + " ShowCreateTableAsSerdeCommand ShowCreateTableCommand ShowCurrentNamespaceCommand ShowFunctions"
      + " ShowFunctionsCommand ShowNamespaces ShowNamespacesCommand ShowPartitions ShowPartitionsCommand"
      + " ShowPartitionsJsonCommand ShowProceduresCommand ShowTablePartition ShowTableProperties"
      + " ShowTablePropertiesCommand ShowTables ShowTablesCommand ShowTablesExtended ShowTablesJsonCommand"
      + " ShowViews ShowViewsCommand StreamingExplainCommand UncacheTable"
      // settings, resources, cursors, and commands that run others, which are intercepted
      + " AddArchivesCommand AddFilesCommand AddJarsCommand CloseCursor CompoundBody DeclareCursor FetchCursor"
      + " NoopCommand ResetCommand SaveAsV1TableCommand SetCatalogAndNamespace SetCatalogCommand SetCommand"
      + " SetNamespaceCommand SetPathCommand"
      // Delta Lake: descriptions
      + " DescribeDeltaDetailCommand DescribeDeltaHistoryCommand ShowDeltaPartitionsCommand"
      + " ShowDeltaTableColumnsCommand"
      // Delta Lake: definitions, row ids and lists of files, and files that no row is in any more
      + " AlterColumnSyncIdentity AlterTableAddColumnsDeltaCommand AlterTableAddConstraint"
      + " AlterTableAddConstraintDeltaCommand AlterTableChangeColumnDeltaCommand AlterTableClusterByDeltaCommand"
      + " AlterTableDropColumnsDeltaCommand AlterTableDropConstraint AlterTableDropConstraintDeltaCommand"
      + " AlterTableSetLocationDeltaCommand AlterTableSetPropertiesDeltaCommand"
      + " AlterTableUnsetPropertiesDeltaCommand DeltaGenerateCommand RowTrackingBackfillCommand"
      + " RowTrackingUnBackfillCommand VacuumTableCommand"
      // Iceberg: how later rows are written, names of snapshots, views
      + " AddPartitionField CreateIcebergView CreateOrReplaceTag DropBranch DropIcebergView DropIdentifierFields"
      + " DropPartitionField DropTag ReplacePartitionField SetIdentifierFields SetWriteDistributionAndOrdering"
      + " ShowIcebergViews");

  /** Commands that assign values of rows to session variables. */
  private static final Set READING = set("CreateVariable SetVariable");

  /** Commands that remove tables. */
  private static final Set DROPPING = set("DropDatabaseCommand DropNamespace DropTable DropTableCommand");

  /**
   * Commands that write rows, change them, remove some, move them to other files, or give them to a script where capture does
   * not see them. Capture also takes those for such that no list has.
   */
  private static final Set WRITING = set(
      // Spark
      "AlterTableDropPartitionCommand AlterTableRenameCommand AlterTableRenamePartitionCommand AppendData"
      + " CreateDataSourceTableAsSelectCommand CreateFlowCommand CreateHiveTableAsSelectCommand"
      + " CreateMaterializedViewAsSelect CreateStreamingTable CreateStreamingTableAsSelect"
      + " CreateStreamingTableAutoCdc CreateTableAsSelect DeleteFromTable DeleteFromTableWithFilters DropPartitions"
      + " ExternalCommandExecutor InsertIntoDataSourceCommand InsertIntoDataSourceDirCommand"
      + " InsertIntoHadoopFsRelationCommand InsertIntoHiveDirCommand InsertIntoHiveTable InsertOnlyMerge LoadData"
      + " LoadDataCommand MergeIntoTable OverwriteByExpression OverwritePartitionsDynamic RenamePartitions"
      + " ReplaceColumns ReplaceData ReplaceTable ReplaceTableAsSelect SaveIntoDataSourceCommand TruncatePartition"
      + " TruncateTable TruncateTableCommand UpdateTable WriteDelta"
      // cursors of SQL scripts, whose rows go to variables
      + " OpenCursor"
      // Delta Lake
      + " AlterTableDropFeature AlterTableDropFeatureDeltaCommand AlterTableReplaceColumnsDeltaCommand"
      + " CloneTableCommand ConvertToDeltaCommand CreateDeltaTableCommand DeleteCommand"
      + " DeltaDynamicPartitionOverwriteCommand DeltaInsertReplaceOnOrUsingCommand DeltaMergeInto DeltaReorgTable"
      + " DeltaReorgTableCommand MergeIntoCommand OptimizeTableCommand RestoreTableCommand"
      + " TruncateDeltaTableCommand UpdateCommand WriteIntoDelta"
      // Iceberg: sets the rows of a branch, which may be the main one
      + " CreateOrReplaceBranch");

  /** Commands that put a plan into Spark's cache. */
  private static final Set CACHING = set("CacheTable CacheTableAsSelect");

  private static Set set(String names) {
    return new HashSet(Arrays.asList(names.split(" ")));
  }

  /** Returns the simple name of a command's class. The class of a Scala object has a `$` after it. */
  public static String name(LogicalPlan plan) {
    String name = plan.getClass().getSimpleName();
    return name.endsWith("$") ? name.substring(0, name.length() - 1) : name;
  }

  /** Whether capture runs a command: it may change or write rows, or read them on the driver. */
  public static boolean intercepted(LogicalPlan plan) {
    return !QUIET.contains(name(plan)) && !delegates(plan) && !renames(plan);
  }

  /** Whether a command only reads rows on the driver. */
  static boolean reads(LogicalPlan plan) {
    return READING.contains(name(plan));
  }

  static boolean caches(LogicalPlan plan) {
    return CACHING.contains(name(plan));
  }

  /** Whether a command gives a view, or a table whose files stay where they are, another name. */
  private static boolean renames(LogicalPlan plan) {
    if (!(plan instanceof AlterTableRenameCommand)) return false;
    AlterTableRenameCommand command = (AlterTableRenameCommand) plan;
    if (command.isView()) return true;
    try {
      SparkSession session = (SparkSession) SparkSession.active();
      return session.sessionState().catalog().getTableMetadata(command.oldName()).tableType() != CatalogTableType.MANAGED();
    } catch (Exception e) {
      return true; // there is no such table
    }
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
    return DROPPING.contains(name(plan));
  }
}

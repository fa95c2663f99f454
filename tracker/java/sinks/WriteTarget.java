package provspark.sinks;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Field;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.BucketSpec;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTablePartition;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.command.CreateDataSourceTableAsSelectCommand;
import org.apache.spark.sql.execution.command.InsertIntoDataSourceDirCommand;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitioningUtils$;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.internal.SessionState;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import static provspark.trees.Trees.*;

/** Describes the target of a DataFrameWriter or command as JSON, in one call from Python. Raw types, for Janino. */
public class WriteTarget {
  private static final String CHAR_VARCHAR = "__CHAR_VARCHAR_TYPE_STRING";

  public SparkSession session(Object writer) throws Exception {
    Field field = writer.getClass().getDeclaredField("df");
    field.setAccessible(true);
    return (SparkSession) ((Dataset) field.get(writer)).sparkSession();
  }

  /** Returns all options of a write to a database. `url`, `table` and `properties`, those of jdbc(), may be null. */
  public Map database(Object writer, String url, String table, Object properties) {
    Map out = map(((org.apache.spark.sql.DataFrameWriter) writer).extraOptions());
    if (properties != null) out.putAll((Map) properties);
    if (url != null) out.put("url", url);
    if (table != null) out.put("dbtable", table);
    return out;
  }

  /** Describes the target of a DataFrameWriter. `path` or `table` is "" if the writer's method has none. */
  public String read(Object writer, LogicalPlan plan, String path, String table) throws Exception {
    org.apache.spark.sql.DataFrameWriter w = (org.apache.spark.sql.DataFrameWriter) writer;
    SparkSession session = session(writer);
    SessionState state = session.sessionState();
    SQLConf conf = state.conf();
    Map out = new HashMap();
    Map options = map(w.extraOptions());
    out.put("source", w.source());
    out.put("mode", w.curmode().name());
    out.put("options", options);
    out.put("partitions", w.partitioningColumns().isDefined() ? strings((scala.collection.Iterable) w.partitioningColumns().get()) : new ArrayList());
    out.put("bucket", bucket(w));
    out.put("clustered", Boolean.valueOf(w.clusteringColumns().isDefined()));
    out.put("fields", fields(plan.schema()));
    settings(conf, out);
    if (table.length() > 0) {
      readTable(session, table, out);
    } else {
      String given = path;
      if (given.length() == 0) given = (String) option(options, "path");
      if (given != null) qualify(session, new Path(given), options, out);
    }
    return new ObjectMapper().writeValueAsString(out);
  }

  /**
   * Whether Spark considers that a plan that overwrites an existing table also reads it. Spark compares folders for
   * insertInto and relations for saveAsTable, and checks neither subqueries nor cached plans.
   */
  public boolean readsItself(Object writer, String end, String table, LogicalPlan plan) throws Exception {
    SparkSession session = session(writer);
    boolean over = ((org.apache.spark.sql.DataFrameWriter) writer).curmode().name().equals("Overwrite");
    if (!over || !session.catalog().tableExists(table)) return false;
    LogicalPlan read = ((Dataset) session.table(table)).queryExecution().analyzed();
    Object itself = relation(byRule(ANALYSER + "EliminateSubqueryAliases", read));
    boolean files = end.equals("insertInto") && itself instanceof HadoopFsRelation;
    return reads(plan, itself, files ? list(((HadoopFsRelation) itself).location().rootPaths()) : null);
  }

  private static boolean reads(LogicalPlan plan, Object relation, List folders) {
    Object found = relation(plan);
    if (found != null && folders == null && found.equals(relation)) return true;
    if (found instanceof HadoopFsRelation && folders != null) {
      return !java.util.Collections.disjoint(list(((HadoopFsRelation) found).location().rootPaths()), folders);
    }
    Iterator children = list(plan.children()).iterator();
    while (children.hasNext()) if (reads((LogicalPlan) children.next(), relation, folders)) return true;
    return false;
  }

  private static Object relation(LogicalPlan plan) {
    return plan instanceof LogicalRelation ? ((LogicalRelation) plan).relation() : null;
  }

  private static void settings(SQLConf conf, Map out) {
    out.put("maxRecords", Long.valueOf(conf.maxRecordsPerFile()));
    out.put("overwrite", conf.partitionOverwriteMode().toString());
    out.put("timeZone", conf.sessionLocalTimeZone());
    out.put("concurrent", Integer.valueOf(conf.maxConcurrentOutputFileWriters()));
    out.put("planned", Boolean.valueOf(conf.plannedWriteEnabled()));
  }

  /** Describes the target of an analysed write command. */
  public String readCommand(SparkSession session, LogicalPlan command) throws Exception {
    Map out = new HashMap();
    settings(session.sessionState().conf(), out);
    out.put("statics", Integer.valueOf(0));
    out.put("tableExists", Boolean.FALSE);
    if (command instanceof InsertIntoHadoopFsRelationCommand) insertion(session, (InsertIntoHadoopFsRelationCommand) command, out);
    else if (command instanceof CreateDataSourceTableAsSelectCommand) {
      creation(session, (CreateDataSourceTableAsSelectCommand) command, out);
    } else directory(session, (InsertIntoDataSourceDirCommand) command, out);
    return new ObjectMapper().writeValueAsString(out);
  }

  private void insertion(SparkSession session, InsertIntoHadoopFsRelationCommand c, Map out) throws Exception {
    FileFormat format = c.fileFormat();
    out.put("source", format instanceof DataSourceRegister ? ((DataSourceRegister) format).shortName() : format.getClass().getName());
    out.put("mode", c.mode().name());
    out.put("options", map(c.options()));
    List names = new ArrayList();
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(c.partitionColumns()).iterator();
    while (it.hasNext()) names.add(((Attribute) it.next()).name());
    out.put("partitions", names);
    out.put("bucket", bucket(c.bucketSpec()));
    out.put("fields", named(c.query().schema(), c.outputColumnNames()));
    out.put("statics", Integer.valueOf(c.staticPartitions().size()));
    out.put("kept", Boolean.FALSE);
    qualify(session, c.outputPath(), (Map) out.get("options"), out);
    if (!c.catalogTable().isDefined()) return;
    CatalogTable t = (CatalogTable) c.catalogTable().get();
    out.put("table", t.identifier().unquotedString());
    Path location = new Path((String) out.get("path"));
    out.put("movedPartitions", Boolean.valueOf(moved(session, t, location)));
    boolean there = c.ifPartitionNotExists()
        && !session.sessionState().catalog().listPartitions(t.identifier(), scala.Option.apply(c.staticPartitions())).isEmpty();
    out.put("kept", Boolean.valueOf(there));
  }

  private void creation(SparkSession session, CreateDataSourceTableAsSelectCommand c, Map out) throws Exception {
    CatalogTable t = c.table();
    SessionCatalog catalog = session.sessionState().catalog();
    Map options = map(t.storage().properties());
    out.put("source", t.provider().isDefined() ? t.provider().get() : "hive");
    out.put("options", options);
    out.put("partitions", strings(t.partitionColumnNames()));
    out.put("bucket", bucket(t.bucketSpec()));
    out.put("fields", named(c.query().schema(), c.outputColumnNames()));
    TableIdentifier id = catalog.qualifyIdentifier(t.identifier());
    boolean exists = catalog.tableExists(id);
    out.put("tableExists", Boolean.valueOf(exists));
    out.put("mode", exists ? c.mode().name() : "Overwrite"); // a new table's folder may be there and empty: Spark writes to it
    Path path = t.storage().locationUri().isDefined() ? new Path((URI) t.storage().locationUri().get()) : new Path(catalog.defaultTablePath(id));
    qualify(session, path, options, out);
  }

  private void directory(SparkSession session, InsertIntoDataSourceDirCommand c, Map out) throws Exception {
    Map options = map(c.storage().properties());
    out.put("source", c.provider());
    out.put("mode", c.overwrite() ? "Overwrite" : "ErrorIfExists");
    out.put("options", options);
    out.put("partitions", new ArrayList());
    out.put("bucket", null);
    out.put("fields", fields(c.query().schema()));
    qualify(session, new Path((URI) c.storage().locationUri().get()), options, out);
  }

  private static Map bucket(org.apache.spark.sql.DataFrameWriter w) {
    if (!w.numBuckets().isDefined() && !w.sortColumnNames().isDefined()) return null;
    Map out = new HashMap();
    out.put("n", w.numBuckets().isDefined() ? w.numBuckets().get() : Integer.valueOf(0));
    out.put("columns", w.bucketColumnNames().isDefined() ? strings((scala.collection.Iterable) w.bucketColumnNames().get()) : new ArrayList());
    out.put("sorts", w.sortColumnNames().isDefined() ? strings((scala.collection.Iterable) w.sortColumnNames().get()) : new ArrayList());
    return out;
  }

  private static Map bucket(scala.Option spec) {
    if (!spec.isDefined()) return null;
    BucketSpec b = (BucketSpec) spec.get();
    Map out = new HashMap();
    out.put("n", Integer.valueOf(b.numBuckets()));
    out.put("columns", strings(b.bucketColumnNames()));
    out.put("sorts", strings(b.sortColumnNames()));
    return out;
  }

  private void readTable(SparkSession session, String name, Map out) throws Exception {
    SessionState state = session.sessionState();
    SessionCatalog catalog = state.catalog();
    List parts = strings(state.sqlParser().parseMultipartIdentifier(name));
    String first = (String) parts.get(0);
    boolean named = parts.size() > 1 && !catalog.databaseExists(first) && state.catalogManager().isCatalogRegistered(first);
    if (named) parts = parts.subList(1, parts.size());
    String owner = named ? first : state.catalogManager().currentCatalog().name();
    boolean builtin = state.conf().getConfString("spark.sql.catalog.spark_catalog", "builtin").equals("builtin");
    out.put("sessionCatalog", Boolean.valueOf(owner.equalsIgnoreCase("spark_catalog") && builtin && parts.size() <= 2));
    if (!Boolean.TRUE.equals(out.get("sessionCatalog"))) return;
    boolean view = parts.size() == 1 && !named && catalog.getTempView((String) parts.get(0)).isDefined();
    out.put("tempView", Boolean.valueOf(view));
    scala.Option database = parts.size() == 2 ? scala.Option.apply(parts.get(0)) : scala.Option.empty();
    TableIdentifier id = catalog.qualifyIdentifier(new TableIdentifier((String) parts.get(parts.size() - 1), database));
    boolean exists = catalog.tableExists(id);
    out.put("tableExists", Boolean.valueOf(exists));
    out.put("table", id.unquotedString());
    Map options = (Map) out.get("options");
    if (!exists) {
      newTablePath(session, id, options, out);
      return;
    }
    CatalogTable t = catalog.getTableMetadata(id);
    out.put("provider", t.provider().isDefined() ? t.provider().get() : "hive");
    out.put("tableType", t.tableType().name());
    out.put("tableBucket", bucket(t.bucketSpec()));
    out.put("tablePartitions", strings(t.partitionColumnNames()));
    out.put("tableFields", fields(t.schema()));
    Map stored = map(t.storage().properties());
    out.put("tableOptions", stored);
    if (!t.storage().locationUri().isDefined()) return;
    Configuration hadoop = hadoop(session, stored);
    Path location = new Path(t.location());
    FileSystem fs = location.getFileSystem(hadoop);
    location = location.makeQualified(fs.getUri(), fs.getWorkingDirectory());
    out.put("movedPartitions", Boolean.valueOf(moved(session, t, location)));
    put(location, fs, out);
    newTablePath(session, id, options, out);
  }

  /** Whether a partition's location differs from the folder of its name. */
  private static boolean moved(SparkSession session, CatalogTable t, Path location) throws Exception {
    SessionState state = session.sessionState();
    if (!t.tracksPartitionsInCatalog() || !state.conf().manageFilesourcePartitions() || t.partitionColumnNames().isEmpty()) return false;
    StructType schema = t.partitionSchema();
    scala.collection.Seq all = state.catalog().listPartitions(t.identifier(), scala.Option.empty());
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(all).iterator();
    while (it.hasNext()) {
      CatalogTablePartition p = (CatalogTablePartition) it.next();
      Path usual = location.suffix("/" + PartitioningUtils$.MODULE$.getPathFragment(p.spec(), schema));
      Path is = new Path(p.location());
      if (is.toUri().getScheme() == null) is = new Path(location.toUri().getScheme(), location.toUri().getAuthority(), is.toUri().getPath());
      if (!is.toString().equals(usual.toString())) return true;
    }
    return false;
  }

  /** Adds the folder in which saveAsTable would create a new table. */
  private void newTablePath(SparkSession session, TableIdentifier id, Map options, Map out) throws Exception {
    String given = (String) option(options, "path");
    URI usual = session.sessionState().catalog().defaultTablePath(id);
    Path path = given == null ? new Path(usual) : new Path(given);
    Map place = new HashMap();
    qualify(session, path, options, place);
    out.put("newPath", place);
  }

  private static void qualify(SparkSession session, Path path, Map options, Map out) throws Exception {
    FileSystem fs = path.getFileSystem(hadoop(session, options));
    put(path.makeQualified(fs.getUri(), fs.getWorkingDirectory()), fs, out);
  }

  private static void put(Path path, FileSystem fs, Map out) throws Exception {
    URI uri = path.toUri();
    out.put("path", path.toString());
    out.put("scheme", uri.getScheme());
    out.put("authority", uri.getAuthority() == null ? "" : uri.getAuthority());
    out.put("place", uri.getPath());
    out.put("exists", Boolean.valueOf(fs.exists(path)));
  }

  static Configuration hadoop(SparkSession session, Map options) {
    Configuration conf = session.sessionState().newHadoopConf();
    Iterator it = options.entrySet().iterator();
    while (it.hasNext()) {
      Map.Entry e = (Map.Entry) it.next();
      String key = (String) e.getKey();
      if (e.getValue() != null && !key.equalsIgnoreCase("path") && !key.equalsIgnoreCase("paths")) {
        conf.set(key, (String) e.getValue());
      }
    }
    return conf;
  }

  private static Object option(Map options, String name) {
    Iterator it = options.entrySet().iterator();
    while (it.hasNext()) {
      Map.Entry e = (Map.Entry) it.next();
      if (((String) e.getKey()).toLowerCase(Locale.ROOT).equals(name)) return e.getValue();
    }
    return null;
  }

  private static List fields(StructType type) {
    List out = new ArrayList();
    StructField[] fields = type.fields();
    for (int i = 0; i < fields.length; i++) {
      List one = new ArrayList();
      one.add(fields[i].name());
      one.add(fields[i].dataType().catalogString());
      one.add(fields[i].metadata().contains(CHAR_VARCHAR) ? fields[i].metadata().getString(CHAR_VARCHAR) : "");
      out.add(one);
    }
    return out;
  }

  private static List named(StructType type, scala.collection.Seq names) {
    List out = fields(type);
    for (int i = 0; i < out.size(); i++) ((List) out.get(i)).set(0, names.apply(i));
    return out;
  }

  private static List strings(scala.collection.Iterable items) {
    List out = new ArrayList();
    scala.collection.Iterator it = items.iterator();
    while (it.hasNext()) out.add(it.next());
    return out;
  }

  private static Map map(scala.collection.immutable.Map items) {
    return new HashMap(scala.jdk.javaapi.CollectionConverters.asJava((scala.collection.Map) items));
  }
}

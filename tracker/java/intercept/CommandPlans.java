package provspark.intercept;

import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.ResolvedNamespace;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.CacheTable;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.V1Table;
import org.apache.spark.sql.execution.CommandExecutionMode$;
import org.apache.spark.sql.execution.command.DropDatabaseCommand;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.SaveIntoDataSourceCommand;
import org.apache.spark.sql.execution.datasources.jdbc.JdbcRelationProvider;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.sources.DataSourceRegister;
import provspark.sinks.CatalogTable;
import provspark.trees.Trees;

/** Queries and target of a command, by the fields of its class. Uses raw types, because Janino has no generics. */
public class CommandPlans {
  private static final Set TARGETS =
      new HashSet(Arrays.asList("target targetTable table tableName tableIdent catalogTable child sourceTable namespace newName".split(" ")));
  private static final int DEEPEST = 8;

  // -- the query of a write

  /** Returns the plan of the rows that a command writes, or null if it has no single one. */
  public LogicalPlan query(LogicalPlan command) {
    for (int i = 0; i < command.productArity(); i++) {
      if (command.productElementName(i).equals("query")) return (LogicalPlan) command.productElement(i);
    }
    return null;
  }

  /** Returns the command with another plan of rows, which must output the same columns. */
  public LogicalPlan replaced(LogicalPlan command, LogicalPlan plan) {
    LogicalPlan query = query(command);
    List was = Trees.list(query.output());
    List is = Trees.list(plan.output());
    Map now = new HashMap();
    for (int i = 0; i < was.size(); i++) now.put(((Attribute) was.get(i)).exprId(), is.get(i));
    List values = Trees.values(command);
    for (int i = 0; i < values.size(); i++) {
      if (values.get(i) == query) values.set(i, plan);
      else if (values.get(i) instanceof scala.collection.Seq) values.set(i, bound((scala.collection.Seq) values.get(i), now));
    }
    return (LogicalPlan) command.makeCopy(values.toArray());
  }

  /** Returns partition columns as attributes of the new plan, with the names that folders get, and anything else unchanged. */
  private static Object bound(scala.collection.Seq items, Map now) {
    List all = Trees.list(items);
    for (int i = 0; i < all.size(); i++) {
      if (!(all.get(i) instanceof Attribute)) return items;
      Attribute column = (Attribute) all.get(i);
      all.set(i, ((Attribute) now.get(column.exprId())).withName(column.name()));
    }
    return Trees.seq(all);
  }

  /** Returns the JDBC options of the table that a command writes to, or null if it writes elsewhere. */
  public Map database(SparkSession session, LogicalPlan command) {
    if (command instanceof SaveIntoDataSourceCommand) {
      SaveIntoDataSourceCommand save = (SaveIntoDataSourceCommand) command;
      if (!(save.dataSource() instanceof JdbcRelationProvider)) return null;
      return new HashMap(scala.jdk.javaapi.CollectionConverters.asJava((scala.collection.Map) save.options()));
    }
    return CatalogTable.options(session, command);
  }

  /** Returns the name of a SaveIntoDataSourceCommand's SaveMode, or "" for other commands. */
  public String mode(LogicalPlan command) {
    return command instanceof SaveIntoDataSourceCommand ? ((SaveIntoDataSourceCommand) command).mode().name() : "";
  }

  /** Returns the name of the format that a SaveIntoDataSourceCommand writes, or "" for other commands. */
  public String format(LogicalPlan command) {
    if (!(command instanceof SaveIntoDataSourceCommand)) return "";
    Object source = ((SaveIntoDataSourceCommand) command).dataSource();
    return source instanceof DataSourceRegister ? ((DataSourceRegister) source).shortName() : source.getClass().getName();
  }

  /**
   * Returns what a plan does: "query", "reads" (assigns to variables), "caches", "drops" (a table), "discards"
   * (computes rows for nothing) or "writes".
   */
  public String kind(LogicalPlan plan) {
    if (!(plan instanceof Command)) return "query";
    if (Commands.reads(plan)) return "reads";
    if (Commands.caches(plan)) return "caches";
    if (Commands.drops(plan)) return "drops";
    Object table = plan instanceof V2WriteCommand ? ((V2WriteCommand) plan).table() : null;
    boolean nowhere = table instanceof DataSourceV2Relation
        && ((DataSourceV2Relation) table).table().getClass().getSimpleName().startsWith("NoopTable");
    return nowhere ? "discards" : "writes";
  }

  // -- CACHE TABLE

  /** Returns a CACHE TABLE that computes at once as a lazy one, or null if it is lazy. */
  public LogicalPlan lazily(LogicalPlan command) {
    List values = Trees.values(command);
    for (int i = 0; i < values.size(); i++) {
      if (!command.productElementName(i).equals("isLazy")) continue;
      if (Boolean.TRUE.equals(values.get(i))) return null;
      values.set(i, Boolean.TRUE);
    }
    return (LogicalPlan) command.makeCopy(values.toArray());
  }

  /** Returns the plan that Spark counts after a CACHE TABLE that is not lazy. */
  public LogicalPlan cached(SparkSession session, LogicalPlan command) {
    if (command instanceof CacheTable) return ((CacheTable) command).table();
    Object name = command.productElement(0); // a string, or an expression from Spark 4.2 on
    String view = name instanceof Expression ? ((Expression) name).eval(null).toString() : (String) name;
    return ((Dataset) session.table("`" + view.replace("`", "``") + "`")).queryExecution().analyzed();
  }

  // -- the table that any command changes

  /** Returns the folder of the table that a command changes: scheme, authority and path, separated by NUL. "" if unknown. */
  public String folder(SparkSession session, LogicalPlan command) {
    try {
      URI found = path(session, command);
      return whole(session, found == null ? target(session, command, 0) : found);
    } catch (Exception e) {
      return ""; // the table was dropped, or its file system does not respond
    }
  }

  /** Returns the folder of a table in the same form, or "" if there is no such table. */
  public String table(SparkSession session, String name) {
    try {
      // No Dataset, because listeners would see the query of a table that does not exist fail.
      LogicalPlan table = session.sessionState().sqlParser().parsePlan("TABLE " + name);
      LogicalPlan found = session.sessionState().executePlan(table, CommandExecutionMode$.MODULE$.SKIP()).analyzed();
      return whole(session, target(session, found, 0));
    } catch (Exception e) {
      return "";
    }
  }

  private static String whole(SparkSession session, URI found) throws Exception {
    if (found == null) return "";
    boolean whole = found.getAuthority() != null || "file".equals(found.getScheme());
    if (!whole) return Reads.qualified(session, found.toString()); // creates a file system, so only if needed
    return found.getScheme() + '\0' + (found.getAuthority() == null ? "" : found.getAuthority()) + '\0' + found.getPath();
  }

  /** Returns the plans in a command, except for the table that it changes. Null if it reads files by name. */
  public List rows(LogicalPlan command) {
    if (command.getClass().getSimpleName().startsWith("LoadData")) return null;
    List out = new ArrayList();
    for (int i = 0; i < command.productArity(); i++) {
      Object value = command.productElement(i);
      if (value instanceof LogicalPlan && !TARGETS.contains(command.productElementName(i))) out.add(value);
    }
    return out;
  }

  private static URI path(SparkSession session, LogicalPlan command) {
    if (command instanceof InsertIntoHadoopFsRelationCommand) {
      return ((InsertIntoHadoopFsRelationCommand) command).outputPath().toUri();
    }
    if (command instanceof DropDatabaseCommand) {
      return session.sessionState().catalog().getDatabaseMetadata(((DropDatabaseCommand) command).databaseName()).locationUri();
    }
    for (int i = 0; i < command.productArity(); i++) {
      if (!(command.productElement(i) instanceof CatalogStorageFormat)) continue;
      scala.Option location = ((CatalogStorageFormat) command.productElement(i)).locationUri();
      return location.isDefined() ? (URI) location.get() : null;
    }
    if (!(command instanceof SaveIntoDataSourceCommand)) return null;
    scala.Option path = ((SaveIntoDataSourceCommand) command).options().get("path");
    return path.isDefined() ? new Path((String) path.get()).toUri() : null;
  }

  private static URI target(SparkSession session, Object holder, int depth) throws Exception {
    if (depth > DEEPEST || !(holder instanceof scala.Product)) return null;
    scala.Product fields = (scala.Product) holder;
    for (int i = 0; i < fields.productArity(); i++) {
      if (!TARGETS.contains(fields.productElementName(i))) continue;
      URI found = place(session, fields.productElement(i), depth);
      if (found != null) return found;
    }
    return null;
  }

  private static URI place(SparkSession session, Object value, int depth) throws Exception {
    if (value instanceof scala.Some) return place(session, ((scala.Some) value).value(), depth);
    if (value instanceof TableIdentifier) {
      return session.sessionState().catalog().getTableMetadata((TableIdentifier) value).location();
    }
    if (value instanceof org.apache.spark.sql.catalyst.catalog.CatalogTable) {
      return ((org.apache.spark.sql.catalyst.catalog.CatalogTable) value).location();
    }
    if (value instanceof ResolvedIdentifier) {
      ResolvedIdentifier name = (ResolvedIdentifier) value;
      if (!(name.catalog() instanceof TableCatalog)) return null;
      return place(session, ((TableCatalog) name.catalog()).loadTable(name.identifier()), depth);
    }
    if (value instanceof ResolvedNamespace) {
      ResolvedNamespace name = (ResolvedNamespace) value;
      if (!(name.catalog() instanceof SupportsNamespaces)) return null;
      String[] parts = (String[]) Trees.list(name.namespace()).toArray(new String[0]);
      String location = (String) ((SupportsNamespaces) name.catalog()).loadNamespaceMetadata(parts).get("location");
      return location == null ? null : new Path(location).toUri();
    }
    if (value instanceof V1Table) return ((V1Table) value).v1Table().location();
    if (value instanceof Table) {
      String location = (String) ((Table) value).properties().get("location");
      return location == null ? null : new Path(location).toUri();
    }
    if (value instanceof LogicalRelation && ((LogicalRelation) value).relation() instanceof HadoopFsRelation) {
      Iterator roots = Trees.list(((HadoopFsRelation) ((LogicalRelation) value).relation()).location().rootPaths()).iterator();
      return roots.hasNext() ? ((Path) roots.next()).toUri() : null;
    }
    return value instanceof LogicalPlan && !(value instanceof Command) ? target(session, value, depth + 1) : null;
  }
}

package provspark.intercept;

import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.V1Table;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.SaveIntoDataSourceCommand;
import provspark.trees.Trees;

/** Location of the table that a command changes, and the plans that it reads, by the fields of its class. Uses raw types. */
public class TableChanges {
  private static final Set TARGETS =
      new HashSet(Arrays.asList("target targetTable table tableName tableIdent catalogTable child sourceTable".split(" ")));
  private static final int DEEPEST = 8;

  private TableChanges() {}

  /** Returns the folder of the table that a command changes: scheme, authority and path, separated by NUL. "" if unknown. */
  public static String folder(SparkSession session, LogicalPlan command) {
    try {
      URI found = path(command);
      if (found == null) found = target(session, command, 0);
      if (found == null) return "";
      boolean whole = found.getAuthority() != null || "file".equals(found.getScheme());
      if (!whole) return Reads.qualified(session, found.toString()); // creates a file system, so only if needed
      return found.getScheme() + '\0' + (found.getAuthority() == null ? "" : found.getAuthority()) + '\0' + found.getPath();
    } catch (Exception e) {
      return ""; // the table was dropped, or its file system does not respond
    }
  }

  /** Returns the plans in a command, except for the table that it changes. Null if it reads files by name. */
  public static List rows(LogicalPlan command) {
    if (command.getClass().getSimpleName().startsWith("LoadData")) return null;
    List out = new ArrayList();
    for (int i = 0; i < command.productArity(); i++) {
      Object value = command.productElement(i);
      if (value instanceof LogicalPlan && !TARGETS.contains(command.productElementName(i))) out.add(value);
    }
    return out;
  }

  private static URI path(LogicalPlan command) {
    if (command instanceof InsertIntoHadoopFsRelationCommand) {
      return ((InsertIntoHadoopFsRelationCommand) command).outputPath().toUri();
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
    if (value instanceof CatalogTable) return ((CatalogTable) value).location();
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

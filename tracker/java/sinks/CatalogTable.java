package provspark.sinks;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.catalyst.plans.logical.AppendData;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OverwriteByExpression;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTable;
import org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog;
import org.apache.spark.sql.jdbc.JdbcDialect;
import org.apache.spark.sql.jdbc.JdbcDialects;

/** JDBC options of tables of a JDBCTableCatalog. Raw types, for Janino. */
public class CatalogTable {
  private static final String KEYS = "provsparkkeys";
  private static final String SETTING = "spark.provspark.keys.";

  private CatalogTable() {}

  /** Returns the JDBC options of the table that a command writes to; null if no JDBCTableCatalog contains it. */
  public static Map options(SparkSession session, LogicalPlan command) {
    if (!(command instanceof AppendData) && !(command instanceof OverwriteByExpression)) return null;
    return of(session, part(command, "table"), (scala.collection.immutable.Map) part(command, "writeOptions"));
  }

  private static Map of(SparkSession session, Object table, scala.collection.immutable.Map written) {
    if (!(table instanceof DataSourceV2Relation) || !(((DataSourceV2Relation) table).table() instanceof JDBCTable)) return null;
    DataSourceV2Relation relation = (DataSourceV2Relation) table;
    JDBCTable at = (JDBCTable) relation.table();
    String catalog = relation.catalog().isEmpty() ? "" : ((JDBCTableCatalog) relation.catalog().get()).name();
    return keyed(session, catalog, at.ident(), parameters(at.jdbcOptions()), written);
  }

  /** Returns a field of a command by name, or null: the types of accessors differ between versions of Spark. */
  private static Object part(LogicalPlan command, String name) {
    for (int i = 0; i < command.productArity(); i++) {
      if (command.productElementName(i).equals(name)) return command.productElement(i);
    }
    return null;
  }

  private static Map parameters(JDBCOptions options) {
    return new HashMap(scala.jdk.javaapi.CollectionConverters.asJava((scala.collection.Map) options.parameters()));
  }

  /** Adds the table's quoted name and the key columns, from the writer's option or the setting for its full name. */
  private static Map keyed(
      SparkSession session, String catalog, Identifier table, Map given, scala.collection.immutable.Map written) {
    Map out = new HashMap();
    java.util.Iterator it = given.entrySet().iterator();
    while (it.hasNext()) {
      Map.Entry e = (Map.Entry) it.next();
      out.put(((String) e.getKey()).toLowerCase(Locale.ROOT), e.getValue());
    }
    JdbcDialect dialect = JdbcDialects.get((String) out.get("url"));
    StringBuilder full = new StringBuilder(catalog);
    StringBuilder quoted = new StringBuilder();
    String[] spaces = table.namespace();
    for (int i = 0; i <= spaces.length; i++) {
      String part = i < spaces.length ? spaces[i] : table.name();
      full.append('.').append(part);
      quoted.append(quoted.length() > 0 ? "." : "").append(dialect.quoteIdentifier(part));
    }
    out.put("dbtable", quoted.toString());
    String keys = session.sessionState().conf().getConfString(SETTING + full.toString(), "");
    scala.collection.Iterator options = written.iterator();
    while (options.hasNext()) {
      scala.Tuple2 pair = (scala.Tuple2) options.next();
      if (((String) pair._1()).equalsIgnoreCase(KEYS)) keys = (String) pair._2();
    }
    if (keys.length() > 0) out.put(KEYS, keys);
    return out;
  }
}

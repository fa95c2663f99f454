package provspark.sources;

import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NullsFirst$;
import org.apache.spark.sql.catalyst.expressions.ShiftRightUnsigned;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.XxHash64;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions;
import org.apache.spark.sql.execution.datasources.jdbc.JDBCRelation;
import org.apache.spark.sql.jdbc.JdbcDialects;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import provspark.trees.Trees;
import static provspark.spark.LogicalPlans.*;

/** Database table read or written by JDBC, whose rows are identified by key columns. Raw types, for Janino. */
public class JdbcTable {
  private static final Pattern PART = Pattern.compile("\"((?:[^\"]|\"\")*)\"|([^\".\\s(]+)");
  private static final String OPTION = "provsparkkeys";
  private static final String SETTING = "spark.provspark.keys.";
  private static final long SEED = 42L;

  private final SparkSession session;
  private final Map options = new HashMap();
  private final String url;
  private final String table;
  private String digest = "";
  private long size;

  /** `source`: the options of a writer, or a LogicalRelation over a JDBC relation. */
  public JdbcTable(SparkSession session, Object source) {
    this.session = session;
    Map given = source instanceof Map ? (Map) source : parameters((LogicalRelation) source);
    Iterator it = given.entrySet().iterator();
    while (it.hasNext()) {
      Map.Entry e = (Map.Entry) it.next();
      options.put(((String) e.getKey()).toLowerCase(Locale.ROOT), e.getValue());
    }
    String[] cuts = new String[] {"partitioncolumn", "lowerbound", "upperbound", "numpartitions"};
    for (int i = 0; i < cuts.length; i++) options.remove(cuts[i]);
    url = text("url");
    table = options.containsKey("query") ? "" : text("dbtable").trim();
  }

  private static Map parameters(LogicalRelation node) {
    JDBCOptions all = ((JDBCRelation) node.relation()).jdbcOptions();
    return new HashMap(scala.jdk.javaapi.CollectionConverters.asJava((scala.collection.Map) all.parameters()));
  }

  private String text(String name) {
    return options.containsKey(name) ? (String) options.get(name) : "";
  }

  /** Returns the declared key columns, from the option or the table's setting, separated by commas; "" without any. */
  public String keys() {
    String given = text(OPTION);
    return given.length() > 0 ? given : session.sessionState().conf().getConfString(SETTING + table, "");
  }

  /** Returns OpenLineage's namespace and name, separated by NUL; "" for queries and unsupported databases. */
  public String dataset() throws Exception {
    boolean derby = url.startsWith("jdbc:derby:");
    List parts = new ArrayList();
    Matcher m = PART.matcher(table);
    int at = 0;
    while (m.find() && m.start() == at) {
      String bare = m.group(2);
      if (bare != null) bare = derby ? bare.toUpperCase(Locale.ROOT) : bare.toLowerCase(Locale.ROOT);
      parts.add(bare == null ? m.group(1).replace("\"\"", "\"") : bare);
      at = m.end();
      if (at == table.length() || table.charAt(at) != '.') break;
      at++;
    }
    if (parts.isEmpty() || at != table.length() || parts.size() > (derby ? 2 : 3)) return "";
    if (!derby && !url.startsWith("jdbc:postgresql://")) return "";
    URI uri = derby ? null : URI.create(url.substring("jdbc:".length()));
    if (!derby && uri.getHost() == null) return "";
    Connection connection = connection();
    try {
      if (parts.size() == 1) parts.add(0, connection.getSchema());
      if (parts.size() == 2 && !derby) parts.add(0, connection.getCatalog());
    } finally {
      connection.close();
    }
    if (derby) return "derby://" + url.substring("jdbc:derby:".length()).split(";")[0] + "\u0000" + parts.get(0) + "." + parts.get(1);
    int port = uri.getPort() < 0 ? 5432 : uri.getPort();
    return "postgres://" + uri.getHost() + ":" + port + "\u0000" + parts.get(0) + "." + parts.get(1) + "." + parts.get(2);
  }

  private JDBCOptions jdbc() {
    return new JDBCOptions(scala.collection.immutable.Map$.MODULE$.from(scala.jdk.javaapi.CollectionConverters.asScala(options)));
  }

  private Connection connection() {
    return (Connection) JdbcDialects.get(url).createConnectionFactory(jdbc()).apply(Integer.valueOf(-1));
  }

  public boolean exists() throws Exception {
    Connection connection = connection();
    try {
      Statement statement = connection.createStatement();
      try {
        statement.executeQuery(JdbcDialects.get(url).getTableExistsQuery(table));
        return true;
      } catch (SQLException e) {
        return false;
      } finally {
        statement.close();
      }
    } finally {
      connection.close();
    }
  }

  private Dataset whole() {
    return (Dataset) session.read().format("jdbc").options(options).load();
  }

  /** Returns names and types of the columns, each followed by NUL. */
  public String fields() {
    StringBuilder out = new StringBuilder();
    StructField[] all = whole().schema().fields();
    for (int i = 0; i < all.length; i++) {
      out.append(all[i].name()).append('\u0000').append(all[i].dataType().catalogString()).append('\u0000');
    }
    return out.toString();
  }

  /** Reads the keys of all rows, sorted, and returns the address of each as little-endian longs. */
  public byte[] addresses() throws Exception {
    LogicalPlan read = whole().queryExecution().analyzed();
    List keys = columns(read);
    List shown = new ArrayList();
    List order = new ArrayList();
    shown.add(Trees.alias(address(keys), "__provspark_address"));
    for (int i = 0; i < keys.size(); i++) {
      shown.add(Trees.alias(asText((Expression) keys.get(i)), "__provspark_address"));
      order.add(new SortOrder((Expression) keys.get(i), Ascending$.MODULE$, NullsFirst$.MODULE$, Trees.seq(new ArrayList())));
    }
    LogicalPlan plan = projection(shown, ordered(order, true, read));
    InternalRow[] rows = Dataset.ofRows(session, plan).queryExecution().executedPlan().executeCollect();
    MessageDigest hash = MessageDigest.getInstance("SHA-256");
    ByteBuffer out = ByteBuffer.allocate(8 * rows.length).order(ByteOrder.LITTLE_ENDIAN);
    Set seen = new HashSet();
    size = 0L;
    for (int i = 0; i < rows.length; i++) {
      for (int k = 0; k < keys.size(); k++) {
        String name = ((Attribute) keys.get(k)).name();
        if (rows[i].isNullAt(k + 1)) throw new IllegalStateException("key column " + name + " is null in a row");
        byte[] text = rows[i].getUTF8String(k + 1).getBytes();
        hash.update(ByteBuffer.allocate(8).putLong(text.length).array());
        hash.update(text);
        size += text.length;
      }
      long address = rows[i].getLong(0);
      if (!seen.add(Long.valueOf(address))) {
        throw new IllegalStateException("two rows have the key " + shownKey(rows[i], keys.size()) + ", or keys with the same hash");
      }
      out.putLong(address);
    }
    StringBuilder hex = new StringBuilder();
    byte[] bytes = hash.digest();
    for (int i = 0; i < 16; i++) hex.append(String.format("%02x", new Object[] {Byte.valueOf(bytes[i])}));
    digest = hex.toString();
    return out.array();
  }

  private static String shownKey(InternalRow row, int keys) {
    StringBuilder out = new StringBuilder();
    for (int k = 0; k < keys; k++) out.append(k > 0 ? ", " : "").append(row.getUTF8String(k + 1).toString());
    return out.toString();
  }

  /** Returns the hash of the keys last read; `size` returns the total bytes of their texts. */
  public String digest() {
    return digest;
  }

  public long size() {
    return size;
  }

  /** Returns a plan with the address after its columns. */
  public LogicalPlan addressed(LogicalPlan plan) {
    List shown = Trees.list(plan.output());
    shown.add(Trees.alias(address(columns(plan)), "__provspark_address"));
    return projection(shown, plan);
  }

  /** Returns the expression of a row's address, as a string. */
  public Expression mark(LogicalPlan plan) {
    return asText(address(columns(plan)));
  }

  private List columns(LogicalPlan plan) {
    List out = new ArrayList();
    String[] names = keys().split(",");
    boolean exact = session.sessionState().conf().caseSensitiveAnalysis();
    for (int i = 0; i < names.length; i++) {
      String name = names[i].trim();
      Attribute found = null;
      Iterator it = Trees.list(plan.output()).iterator();
      while (it.hasNext() && found == null) {
        Attribute a = (Attribute) it.next();
        if (exact ? a.name().equals(name) : a.name().equalsIgnoreCase(name)) found = a;
      }
      if (found == null) throw new IllegalArgumentException("there is no key column " + name);
      out.add(found);
    }
    return out;
  }

  /** Returns the upper 63 bits of a 64-bit hash of the keys as texts, so that addresses are not negative. */
  private Expression address(List keys) {
    List texts = new ArrayList();
    for (int i = 0; i < keys.size(); i++) texts.add(asText((Expression) keys.get(i)));
    return new ShiftRightUnsigned(new XxHash64(Trees.seq(texts), SEED), Literal$.MODULE$.apply(Integer.valueOf(1)));
  }

  private Expression asText(Expression e) {
    if (e.dataType().equals(DataTypes.StringType)) return e;
    return new Cast(e, DataTypes.StringType, scala.Option.apply(session.sessionState().conf().sessionLocalTimeZone()));
  }
}

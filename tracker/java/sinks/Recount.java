package provspark.sinks;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.DataFrameReader;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.functions$;
import org.apache.spark.sql.types.StructType;

/** Counts the rows of files without a footer in one Spark job. Raw types, for Janino. */
public class Recount {
  private final SparkSession session;

  public Recount(SparkSession session) {
    this.session = session;
  }

  /** Returns row counts, separated by spaces, in the order of `files` (relative to `folder`, separated by NUL). */
  public String rows(String folder, String files, String format, String options, String schema) throws Exception {
    Map given = (Map) new ObjectMapper().readValue(options, Map.class);
    String[] names = files.split("\0", -1);
    String[] paths = new String[names.length];
    for (int i = 0; i < names.length; i++) paths[i] = literal(folder + "/" + names[i]);
    DataFrameReader reader = session.read().format(format).schema(StructType.fromDDL(schema));
    reader = reader.options(given).option("recursiveFileLookup", "true").option("mode", "PERMISSIVE");
    Column[] by = new Column[] {functions$.MODULE$.col("_metadata.file_path")};
    List rows = reader.load(paths).groupBy(by).count().collectAsList();
    Map found = new HashMap();
    Iterator it = rows.iterator();
    while (it.hasNext()) {
      Row row = (Row) it.next();
      found.put(new Path(new URI(row.getString(0))).toUri().getPath(), Long.valueOf(row.getLong(1)));
    }
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < names.length; i++) {
      Object n = found.get(new Path(folder + "/" + names[i]).toUri().getPath());
      if (i > 0) out.append(' ');
      out.append(n == null ? Long.valueOf(0) : n);
    }
    return out.toString();
  }

  /** Escapes a path's glob characters. */
  private static String literal(String path) {
    return path.replaceAll("([\\\\{}\\[\\]*?])", "\\\\$1");
  }
}

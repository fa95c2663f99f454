package provspark.sinks;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.catalog.BucketSpec;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTablePartition;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand;
import org.apache.spark.sql.execution.datasources.PartitioningUtils$;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.internal.SessionState;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Describes the target of a write to files as JSON, in one call from Python. Raw types, for Janino. */
public class WriteTarget {
  private static void settings(SQLConf conf, Map out) {
    out.put("maxRecords", Long.valueOf(conf.maxRecordsPerFile()));
    out.put("overwrite", conf.partitionOverwriteMode().toString());
    out.put("timeZone", conf.sessionLocalTimeZone());
    out.put("concurrent", Integer.valueOf(conf.maxConcurrentOutputFileWriters()));
    out.put("planned", Boolean.valueOf(conf.plannedWriteEnabled()));
  }

  /** Describes the target of an analysed command. */
  public String read(SparkSession session, InsertIntoHadoopFsRelationCommand c) throws Exception {
    Map out = new HashMap();
    settings(session.sessionState().conf(), out);
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
    if (c.catalogTable().isDefined()) table(session, c, out);
    return new ObjectMapper().writeValueAsString(out);
  }

  private static void table(SparkSession session, InsertIntoHadoopFsRelationCommand c, Map out) throws Exception {
    CatalogTable t = (CatalogTable) c.catalogTable().get();
    out.put("table", t.identifier().unquotedString());
    Path location = new Path((String) out.get("path"));
    out.put("movedPartitions", Boolean.valueOf(moved(session, t, location)));
    boolean there = c.ifPartitionNotExists()
        && !session.sessionState().catalog().listPartitions(t.identifier(), scala.Option.apply(c.staticPartitions())).isEmpty();
    out.put("kept", Boolean.valueOf(there));
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

  private static Configuration hadoop(SparkSession session, Map options) {
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

  private static List fields(StructType type) {
    List out = new ArrayList();
    StructField[] fields = type.fields();
    for (int i = 0; i < fields.length; i++) {
      List one = new ArrayList();
      one.add(fields[i].name());
      one.add(fields[i].dataType().catalogString());
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

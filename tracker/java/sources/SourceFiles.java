package provspark.sources;

import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.HadoopReadOptions;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.Unevaluable;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import provspark.trees.Trees;

/** The files of a LogicalRelation in path order, with queries about them that take one call from Python each. */
public class SourceFiles {
  private static final int THREADS = 16;

  private final LogicalRelation node;
  private final HadoopFsRelation relation;
  private final Configuration conf;
  private FileStatus[] files;
  private FutureTask footers;
  /** Predicates of the last listing that only use partition columns and may be evaluated directly above the leaf. */
  private List pruning = new ArrayList();

  public SourceFiles(LogicalRelation node) {
    this.node = node;
    this.relation = (HadoopFsRelation) node.relation();
    this.conf = session().sessionState().newHadoopConfWithOptions(relation.options());
  }

  private org.apache.spark.sql.classic.SparkSession session() {
    return (org.apache.spark.sql.classic.SparkSession) relation.sparkSession();
  }

  /** Returns format and settings, options, fields and partition columns: groups separated by \1, items ended by \0. */
  public String describe() {
    SQLConf sql = session().sessionState().conf();
    StringBuilder out = new StringBuilder();
    item(out, relation.fileFormat().getClass().getName());
    item(out, String.valueOf(node.isStreaming()));
    item(out, String.valueOf(sql.ignoreCorruptFiles()));
    item(out, String.valueOf(sql.ignoreMissingFiles()));
    item(out, String.valueOf(sql.csvFilterPushDown()));
    item(out, String.valueOf(sql.jsonFilterPushDown()));
    item(out, sql.sessionLocalTimeZone());
    out.append('\u0001');
    Iterator options = scala.jdk.javaapi.CollectionConverters.asJava(relation.options()).entrySet().iterator();
    while (options.hasNext()) {
      java.util.Map.Entry e = (java.util.Map.Entry) options.next();
      item(out, (String) e.getKey());
      item(out, (String) e.getValue());
    }
    out.append('\u0001');
    fields(out, relation.dataSchema());
    out.append('\u0001');
    fields(out, relation.partitionSchema());
    return out.toString();
  }

  private static void item(StringBuilder out, String text) {
    out.append(text).append('\u0000');
  }

  private static void fields(StringBuilder out, StructType schema) {
    StructField[] all = schema.fields();
    for (int i = 0; i < all.length; i++) {
      item(out, all[i].name());
      item(out, all[i].dataType().catalogString());
    }
  }

  /** Lists the files that Spark would read with these predicates: namespace, name, then path, size, time of each. */
  public String list(List predicates) throws Exception {
    pruning = partitionOnly(predicates);
    scala.collection.immutable.Seq filters = Trees.seq(pruning);
    if (!pruning.isEmpty()) {
      filters = normalised(filters);
    }
    TreeMap sorted = new TreeMap(new ByCodePoint());
    Iterator folders = Trees.list(relation.location().listFiles(filters, Trees.seq(new ArrayList()))).iterator();
    while (folders.hasNext()) {
      Iterator its = Trees.list(((PartitionDirectory) folders.next()).files()).iterator();
      while (its.hasNext()) {
        FileStatus status = ((FileStatusWithMetadata) its.next()).fileStatus();
        sorted.put(status.getPath().toString(), status);
      }
    }
    files = (FileStatus[]) sorted.values().toArray(new FileStatus[0]);
    String root = root();
    URI uri = new Path(root).toUri();
    boolean local = uri.getScheme() == null || uri.getScheme().equals("file");
    StringBuilder out = new StringBuilder();
    item(out, local ? "file" : uri.getScheme() + "://" + (uri.getAuthority() == null ? "" : uri.getAuthority()));
    item(out, uri.getPath());
    String prefix = root.endsWith("/") ? root : root + "/";
    for (int i = 0; i < files.length; i++) {
      String path = files[i].getPath().toString();
      item(out, path.equals(root) ? "" : path.substring(prefix.length()));
      item(out, String.valueOf(files[i].getLen()));
      item(out, String.valueOf(files[i].getModificationTime()));
    }
    return out.toString();
  }

  private scala.collection.immutable.Seq normalised(scala.collection.immutable.Seq filters) {
    scala.collection.immutable.Seq output = node.output();
    return org.apache.spark.sql.execution.datasources.DataSourceStrategy$.MODULE$.normalizeExprs(filters, output);
  }

  private List partitionOnly(List predicates) {
    List names = new ArrayList();
    StructField[] columns = relation.partitionSchema().fields();
    for (int i = 0; i < columns.length; i++) names.add(columns[i].name().toLowerCase(java.util.Locale.ROOT));
    List out = new ArrayList();
    for (int i = 0; i < predicates.size(); i++) {
      Expression e = (Expression) predicates.get(i);
      List used = Trees.list(e.references().toSeq());
      boolean all = !used.isEmpty() && e.deterministic() && evaluable(e);
      for (int k = 0; all && k < used.size(); k++) all = isColumn((Attribute) used.get(k), names);
      if (all) out.add(e);
    }
    return out;
  }

  private boolean isColumn(Attribute a, List names) {
    return node.outputSet().contains(a) && names.contains(a.name().toLowerCase(java.util.Locale.ROOT));
  }

  private static boolean evaluable(Expression e) {
    if (e instanceof PlanExpression) return false;
    if (e instanceof Unevaluable && !(e instanceof Attribute)) return false;
    Iterator it = Trees.list(e.children()).iterator();
    while (it.hasNext()) if (!evaluable((Expression) it.next())) return false;
    return true;
  }

  /** Returns the only root path, or the deepest folder that contains all roots and files. */
  private String root() throws Exception {
    List all = new ArrayList();
    Iterator it = Trees.list(relation.location().rootPaths()).iterator();
    while (it.hasNext()) {
      Path p = (Path) it.next();
      all.add(p.getFileSystem(conf).makeQualified(p).toString());
    }
    for (int i = 0; i < files.length; i++) all.add(files[i].getPath().toString());
    if (all.isEmpty()) throw new IllegalArgumentException("the relation has no paths");
    String root = (String) all.get(0);
    for (int i = 1; i < all.size(); i++) {
      while (!within((String) all.get(i), root)) {
        Path parent = new Path(root).getParent();
        if (parent == null) throw new IllegalArgumentException("paths on several file systems: " + all.get(0) + ", " + all.get(i));
        root = parent.toString();
      }
    }
    return root;
  }

  private static boolean within(String path, String root) {
    return path.equals(root) || path.startsWith(root.endsWith("/") ? root : root + "/");
  }

  /** Returns the scan with addresses for the predicates of the last listing; see AddressedFormats. */
  public AddressedScan scan(byte[] firstAddresses, String key) {
    return new AddressedScan(node, pruning, new AddressedFormats(node, paths(), firstAddresses, key));
  }

  /** Returns the files' paths as Hadoop formats them (decoded), in path order. */
  private String[] paths() {
    String[] out = new String[files.length];
    for (int i = 0; i < files.length; i++) out[i] = files[i].getPath().toString();
    return out;
  }

  /** Returns the files at these positions in path order (little-endian longs). */
  public Object[] some(byte[] places) {
    ByteBuffer at = ByteBuffer.wrap(places).order(ByteOrder.LITTLE_ENDIAN);
    Object[] out = new Object[places.length / 8];
    for (int i = 0; i < out.length; i++) out[i] = files[(int) at.getLong()];
    return out;
  }

  /** Returns the files whose size or time has changed since the listing, or that are missing, each followed by \0. */
  public String changed() throws Exception {
    Object[] found = parallel(new Look() {
      public Object at(FileStatus was) throws Exception {
        try {
          FileStatus is = was.getPath().getFileSystem(conf).getFileStatus(was.getPath());
          boolean same = is.getLen() == was.getLen() && is.getModificationTime() == was.getModificationTime();
          return same ? null : was.getPath().toString();
        } catch (java.io.FileNotFoundException e) {
          return was.getPath().toString();
        }
      }
    });
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < found.length; i++) if (found[i] != null) item(out, (String) found[i]);
    return out.toString();
  }

  /** Starts to read the footers in a background thread. */
  public void readFooters() {
    footers = new FutureTask(new Callable() {
      public Object call() throws Exception {
        return readRows();
      }
    });
    Thread reader = new Thread(footers, "provspark-footers");
    reader.setDaemon(true);
    reader.start();
  }

  /** Returns the row counts in the footers of Parquet files, as little-endian longs in path order. */
  public byte[] footerRows() throws Exception {
    if (footers == null) readFooters();
    try {
      return (byte[]) footers.get();
    } catch (ExecutionException e) {
      throw (Exception) e.getCause();
    }
  }

  private byte[] readRows() throws Exception {
    Object[] found = parallel(new Look() {
      public Object at(FileStatus status) throws Exception {
        ParquetFileReader reader =
            ParquetFileReader.open(HadoopInputFile.fromStatus(status, conf), HadoopReadOptions.builder(conf).build());
        try {
          return Long.valueOf(reader.getRecordCount());
        } finally {
          reader.close();
        }
      }
    });
    ByteBuffer out = ByteBuffer.allocate(8 * found.length).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < found.length; i++) out.putLong(((Long) found[i]).longValue());
    return out.array();
  }

  /** Function of a file. */
  interface Look {
    Object at(FileStatus status) throws Exception;
  }

  private Object[] parallel(final Look look) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(Math.max(1, Math.min(THREADS, files.length)));
    try {
      Future[] futures = new Future[files.length];
      for (int i = 0; i < files.length; i++) {
        final FileStatus status = files[i];
        futures[i] = pool.submit(new Callable() {
          public Object call() throws Exception {
            return look.at(status);
          }
        });
      }
      Object[] out = new Object[files.length];
      for (int i = 0; i < files.length; i++) out[i] = futures[i].get();
      return out;
    } finally {
      pool.shutdownNow();
    }
  }

  /** Sorts strings by code point, as Python does, by their UTF-8 bytes. Java's own order is by UTF-16 unit. */
  static class ByCodePoint implements Comparator {
    public int compare(Object a, Object b) {
      return UTF8String.fromString((String) a).compareTo(UTF8String.fromString((String) b));
    }
  }
}

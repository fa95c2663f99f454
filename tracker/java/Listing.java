package provspark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileNotFoundException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.orc.OrcFile;
import org.apache.orc.Reader;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.spark.sql.classic.SparkSession;

/** Lists the data files of a folder, and reads how many rows their footers tell, each in one call. Raw types, for Janino. */
public class Listing {
  private final Configuration conf;

  /** `options`: the writer's, as JSON. */
  public Listing(SparkSession session, String options) throws Exception {
    conf = session.sessionState().newHadoopConf();
    Iterator it = ((Map) new ObjectMapper().readValue(options, Map.class)).entrySet().iterator();
    while (it.hasNext()) {
      Map.Entry e = (Map.Entry) it.next();
      String key = (String) e.getKey();
      if (!key.equalsIgnoreCase("path") && !key.equalsIgnoreCase("paths")) conf.set(key, (String) e.getValue());
    }
  }

  /** Every data file below `folder`: "size mtime relative path", split by NUL; empty where there is no such folder. */
  public String files(String folder) throws Exception {
    Path root = new Path(folder);
    FileSystem fs = root.getFileSystem(conf);
    StringBuilder out = new StringBuilder();
    try {
      if (fs.getScheme().equals("file")) walk(fs, root, out);
      else flat(fs, root, out);
    } catch (FileNotFoundException e) {
      if (fs.exists(root)) throw e;
      return "";
    }
    return out.toString();
  }

  private static void walk(FileSystem fs, Path root, StringBuilder out) throws Exception {
    String base = fs.makeQualified(root).toUri().getPath();
    ArrayDeque todo = new ArrayDeque();
    todo.add(root);
    while (!todo.isEmpty()) {
      FileStatus[] found = fs.listStatus((Path) todo.poll());
      for (int i = 0; i < found.length; i++) {
        Path path = found[i].getPath();
        if (hidden(path.getName())) continue;
        if (found[i].isDirectory()) todo.add(path);
        else add(found[i], base, out);
      }
    }
  }

  /** One listing for the whole tree: what object stores answer fastest. */
  private static void flat(FileSystem fs, Path root, StringBuilder out) throws Exception {
    String base = fs.makeQualified(root).toUri().getPath();
    RemoteIterator it = fs.listFiles(root, true);
    while (it.hasNext()) {
      FileStatus file = (FileStatus) it.next();
      String[] parts = relative(file.getPath(), base).split("/");
      boolean skip = false;
      for (int i = 0; i < parts.length; i++) skip = skip || hidden(parts[i]);
      if (!skip) add(file, base, out);
    }
  }

  private static void add(FileStatus file, String base, StringBuilder out) {
    if (out.length() > 0) out.append('\0');
    out.append(file.getLen()).append(' ').append(file.getModificationTime()).append(' ');
    out.append(relative(file.getPath(), base));
  }

  private static String relative(Path path, String base) {
    String full = path.toUri().getPath();
    if (full.equals(base)) return "";
    return full.substring(base.endsWith("/") ? base.length() : base.length() + 1);
  }

  /** Spark's rule for names that are no data. */
  private static boolean hidden(String name) {
    return (name.startsWith("_") && name.indexOf('=') < 0) || name.startsWith(".") || name.endsWith("._COPYING_");
  }

  /** Row counts from the footers of Parquet or ORC files below `folder`, split by spaces; `files` are split by NUL. */
  public String rows(String folder, String files, final String format, int threads) throws Exception {
    String[] names = files.split("\0", -1);
    ExecutorService pool = Executors.newFixedThreadPool(Math.min(threads, names.length));
    try {
      List pending = new ArrayList();
      Path root = new Path(folder);
      for (int i = 0; i < names.length; i++) {
        final Path path = names[i].length() == 0 ? root : new Path(root + "/" + names[i]);
        pending.add(pool.submit(new Callable() {
          public Object call() throws Exception {
            try {
              return Long.valueOf(count(path, format));
            } catch (Exception e) {
              String why = e.getMessage() == null ? e.toString() : e.getMessage();
              throw new IllegalStateException(path + " has no " + format + " footer that can be read: " + why);
            }
          }
        }));
      }
      StringBuilder out = new StringBuilder();
      for (int i = 0; i < pending.size(); i++) {
        if (i > 0) out.append(' ');
        out.append(((Future) pending.get(i)).get());
      }
      return out.toString();
    } finally {
      pool.shutdownNow();
    }
  }

  private long count(Path path, String format) throws Exception {
    if (format.equals("parquet")) {
      ParquetFileReader reader = ParquetFileReader.open(HadoopInputFile.fromPath(path, conf));
      try {
        return reader.getRecordCount();
      } finally {
        reader.close();
      }
    }
    Reader reader = OrcFile.createReader(path, OrcFile.readerOptions(conf));
    try {
      return reader.getNumberOfRows();
    } finally {
      reader.close();
    }
  }
}

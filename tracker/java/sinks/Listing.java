package provspark.sinks;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
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
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.orc.OrcFile;
import org.apache.orc.Reader;
import org.apache.parquet.format.Util;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.spark.sql.classic.SparkSession;

/** Lists a folder's data files, and reads row counts from their footers, in one call each. Raw types, for Janino. */
public class Listing {
  private static final int TAIL = 1 << 15;

  private final Configuration conf;

  /** `options`: the writer's options as JSON. */
  public Listing(SparkSession session, String options) throws Exception {
    conf = session.sessionState().newHadoopConf();
    Iterator it = ((Map) new ObjectMapper().readValue(options, Map.class)).entrySet().iterator();
    while (it.hasNext()) {
      Map.Entry e = (Map.Entry) it.next();
      String key = (String) e.getKey();
      if (!key.equalsIgnoreCase("path") && !key.equalsIgnoreCase("paths")) conf.set(key, (String) e.getValue());
    }
  }

  /** Lists all data files below `folder` as "size mtime relative path", separated by NUL; "" if it does not exist. */
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

  /** Removes a folder if it is empty; returns whether it no longer exists. */
  public boolean cleared(String folder) throws Exception {
    Path root = new Path(folder);
    FileSystem fs = root.getFileSystem(conf);
    return !fs.exists(root) || fs.listStatus(root).length == 0 && fs.delete(root, false);
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

  /** Lists the whole tree with one call, which is fastest on object stores. */
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

  /** Whether Spark treats files with this name as hidden. */
  private static boolean hidden(String name) {
    return (name.startsWith("_") && name.indexOf('=') < 0) || name.startsWith(".") || name.endsWith("._COPYING_");
  }

  /**
   * Returns row counts from the footers of Parquet or ORC files below `folder`, separated by spaces. `files` contains
   * "size relative path" of each file, separated by NUL.
   */
  public String rows(String folder, String files, final String format, int threads) throws Exception {
    String[] names = files.split("\0", -1);
    ExecutorService pool = Executors.newFixedThreadPool(Math.min(threads, names.length));
    try {
      List pending = new ArrayList();
      Path root = new Path(folder);
      for (int i = 0; i < names.length; i++) {
        int space = names[i].indexOf(' ');
        String name = names[i].substring(space + 1);
        final long size = Long.parseLong(names[i].substring(0, space));
        final Path path = name.length() == 0 ? root : new Path(root + "/" + name);
        pending.add(pool.submit(new Callable() {
          public Object call() throws Exception {
            try {
              return Long.valueOf(format.equals("parquet") ? parquet(path, size) : orc(path, size));
            } catch (Exception e) {
              String why = e.getMessage() == null ? e.toString() : e.getMessage();
              throw new IllegalStateException("the " + format + " footer of " + path + " can't be read: " + why);
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

  /** Reads the file's row count without its row groups, which is many times cheaper than opening a reader. */
  private long parquet(Path path, long size) throws Exception {
    byte[] tail = new byte[(int) Math.min(size, TAIL)];
    FSDataInputStream in = path.getFileSystem(conf).open(path);
    try {
      in.readFully(size - tail.length, tail);
      String magic = tail.length < 8 ? "" : new String(tail, tail.length - 4, 4, StandardCharsets.ISO_8859_1);
      if (magic.equals("PARE")) return encrypted(path);
      if (!magic.equals("PAR1")) throw new IOException("the file does not end with Parquet's magic number");
      long length = ByteBuffer.wrap(tail, tail.length - 8, 4).order(ByteOrder.LITTLE_ENDIAN).getInt();
      if (length < 0 || length > size - 8) throw new IOException("its footer has an invalid length, " + length + " bytes");
      if (length > tail.length - 8) {
        tail = new byte[(int) length + 8];
        in.readFully(size - tail.length, tail);
      }
      int start = (int) (tail.length - 8 - length);
      return Util.readFileMetaData(new ByteArrayInputStream(tail, start, (int) length), true).getNum_rows();
    } finally {
      in.close();
    }
  }

  private long encrypted(Path path) throws Exception {
    ParquetFileReader reader = ParquetFileReader.open(HadoopInputFile.fromPath(path, conf));
    try {
      return reader.getRecordCount();
    } finally {
      reader.close();
    }
  }

  private long orc(Path path, long size) throws Exception {
    Reader reader = OrcFile.createReader(path, OrcFile.readerOptions(conf).maxLength(size));
    try {
      return reader.getNumberOfRows();
    } finally {
      reader.close();
    }
  }
}

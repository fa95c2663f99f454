package provspark.taps;

import com.github.luben.zstd.Zstd;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Serializable;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.api.java.UDF10;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.api.java.UDF3;
import org.apache.spark.sql.api.java.UDF4;
import org.apache.spark.sql.api.java.UDF5;
import org.apache.spark.sql.api.java.UDF6;
import org.apache.spark.sql.api.java.UDF7;
import org.apache.spark.sql.api.java.UDF8;
import org.apache.spark.sql.api.java.UDF9;
import org.apache.spark.util.CollectionAccumulator;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.UninterruptibleThread;

/**
 * A condition that is always true and records its arguments: the provenance columns of a row and, for a keyed tap, the
 * two hashes of its key. A tap without keys keeps the order of rows; a keyed one groups them by key within a bounded
 * buffer. A task's records go to one sidecar file, or into the receipt itself if they are small; the receipt reaches
 * the driver only if the task succeeds. An exception here doesn't fail the task: the receipt reports it.
 *
 * A sidecar is a sequence of blocks; all numbers are little-endian. A block: int rows, int keys; for a keyed tap the
 * columns key 1, key 2, counts (`keys` longs each); then one column for each provenance column (`rows` longs). A
 * column: byte codec, int packed bytes, int raw bytes, payload. Codecs: 0 runs (zstd of pairs: first value, length;
 * values increase by one within a run), 1 deltas (zstd of the first value as a long, then int differences), 2 plain
 * longs (zstd).
 */
public class Tap implements UDF1, UDF2, UDF3, UDF4, UDF5, UDF6, UDF7, UDF8, UDF9, UDF10, Serializable {
  private static final long serialVersionUID = 1L;

  /**
   * A null provenance column. Addresses and row numbers are greater; a hash has this value once in 2^64, and is then
   * lost.
   */
  public static final long NULL = Long.MIN_VALUE;

  /** Every row passes. */
  public static final int ALL = 0;
  /** Of consecutive rows with equal first keys, the first one with a second key passes. */
  public static final int MATCHED = 1;
  /** Of consecutive rows with equal first keys, the first one passes. */
  public static final int FIRST = 2;

  /** A task's buffer, which takes less than 32 MB with what packs it (docs/performance.md, "An executor's memory"). */
  static final int BUFFER_BYTES = 12 << 20;
  static final int MAX_ROWS = 1 << 20;
  /** Keys of a block: a group's number must fit into the bits below Notes.BLOCK. */
  static final int MAX_KEYS = 1 << 18;
  /** Rows whose groups are looked up together: see settle. */
  static final int BATCH = 256;
  /** Larger records go to a file, because each task's receipt stays in the driver's memory, in the accumulator. */
  static final int INLINE_BYTES = 4096;

  private final String folder;
  private final int tap;
  private final int provenance;
  private final boolean keyed;
  private final int keeps;
  private final boolean marked;
  private final CollectionAccumulator receipts;
  /**
   * One task's writer: each task deserialises its own plan. The driver evaluates no tap (see LogicalPlans.apart): it
   * has no TaskContext.
   */
  private transient Writer writer;

  /**
   * provenance: number of a row's provenance columns; keyed: two numbers of a key follow; keeps: which rows pass
   * (MATCHED and FIRST don't record rows whose second number is null); marked: a string that names the output folder
   * comes first.
   */
  public Tap(String folder, int tap, int provenance, boolean keyed, int keeps, boolean marked, CollectionAccumulator receipts) {
    this.folder = folder;
    this.tap = tap;
    this.provenance = provenance;
    this.keyed = keyed;
    this.keeps = keeps;
    this.marked = marked;
    this.receipts = receipts;
  }

  private static long number(Object o) {
    return o == null ? NULL : ((Long) o).longValue();
  }

  private Writer writer() {
    if (writer == null) {
      writer = new Writer(folder, tap, provenance, keyed, keeps, receipts);
      // Listeners run, the last added first, before Executor's TaskRunner collects the accumulators, so the receipt is sent.
      TaskContext.get().addTaskCompletionListener(writer);
    }
    return writer;
  }

  /** Records a row with more arguments than a UDF takes, as an array, after the mark if there is one. */
  private Object callMany(String mark, scala.collection.Seq all) {
    Writer w = writer();
    if (w.own()) return noteMany(w, mark, all);
    synchronized (w) {
      return noteMany(w, mark, all);
    }
  }

  private Object noteMany(Writer w, String mark, scala.collection.Seq all) {
    if (mark != null) w.mark(mark);
    int n = all.size();
    w.begin();
    for (int i = 0; i < n; i++) w.put(i, number(all.apply(i)));
    return w.end();
  }

  private Object note(int n, Object a0, Object a1, Object a2, Object a3, Object a4, Object a5, Object a6, Object a7,
      Object a8, Object a9) {
    Writer w = writer();
    if (w.own()) return noteIn(w, n, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9);
    synchronized (w) {
      return noteIn(w, n, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9);
    }
  }

  private Object noteIn(Writer w, int n, Object a0, Object a1, Object a2, Object a3, Object a4, Object a5, Object a6,
      Object a7, Object a8, Object a9) {
    w.begin();
    int k = 0;
    if (marked) w.mark((String) a0); else if (n > 0) w.put(k++, number(a0));
    if (n > 1) w.put(k++, number(a1));
    if (n > 2) w.put(k++, number(a2));
    if (n > 3) w.put(k++, number(a3));
    if (n > 4) w.put(k++, number(a4));
    if (n > 5) w.put(k++, number(a5));
    if (n > 6) w.put(k++, number(a6));
    if (n > 7) w.put(k++, number(a7));
    if (n > 8) w.put(k++, number(a8));
    if (n > 9) w.put(k++, number(a9));
    return w.end();
  }

  public Object call(Object a) {
    if (a instanceof scala.collection.Seq) return callMany(null, (scala.collection.Seq) a);
    return note(1, a, null, null, null, null, null, null, null, null, null);
  }

  public Object call(Object a, Object b) {
    if (b instanceof scala.collection.Seq) return callMany((String) a, (scala.collection.Seq) b);
    return note(2, a, b, null, null, null, null, null, null, null, null);
  }

  public Object call(Object a, Object b, Object c) { return note(3, a, b, c, null, null, null, null, null, null, null); }
  public Object call(Object a, Object b, Object c, Object d) { return note(4, a, b, c, d, null, null, null, null, null, null); }
  public Object call(Object a, Object b, Object c, Object d, Object e) { return note(5, a, b, c, d, e, null, null, null, null, null); }
  public Object call(Object a, Object b, Object c, Object d, Object e, Object f) { return note(6, a, b, c, d, e, f, null, null, null, null); }
  public Object call(Object a, Object b, Object c, Object d, Object e, Object f, Object g) {
    return note(7, a, b, c, d, e, f, g, null, null, null);
  }
  public Object call(Object a, Object b, Object c, Object d, Object e, Object f, Object g, Object h) {
    return note(8, a, b, c, d, e, f, g, h, null, null);
  }
  public Object call(Object a, Object b, Object c, Object d, Object e, Object f, Object g, Object h, Object i) {
    return note(9, a, b, c, d, e, f, g, h, i, null);
  }
  public Object call(Object a, Object b, Object c, Object d, Object e, Object f, Object g, Object h, Object i, Object j) {
    return note(10, a, b, c, d, e, f, g, h, i, j);
  }

  /**
   * Two taps are equal if they record the same thing at the same place: Spark may then reuse an exchange above them.
   */
  public boolean equals(Object other) {
    return other instanceof Tap && ((Tap) other).tap == tap && ((Tap) other).folder.equals(folder);
  }

  public int hashCode() {
    return folder.hashCode() * 31 + tap;
  }

  /** Buffer and sidecar of one task. */
  static class Writer implements TaskCompletionListener {
    final String folder;
    final int tap;
    final int provenance;
    final boolean keyed;
    final int keeps;
    final CollectionAccumulator receipts;
    final int limit;
    final long[][] columns;
    final long[] key = new long[2];
    long before = NULL;
    int[] group = new int[0];
    /** The two numbers of each group's key, side by side. */
    long[] known = new long[0];
    int[] table = new int[0];
    /** Keys of the last rows, whose groups are not looked up yet; consecutive rows with the same key share one. */
    final long[] asked = new long[2 * BATCH];
    final int[] place = new int[BATCH];
    final int[] found = new int[BATCH];
    int waiting = 0;
    /** The first of those rows; until then `group` has a position in `asked` for each of them. */
    int unsettled = 0;
    int rows = 0;
    int keys = 0;
    long total = 0;
    String failed = null;
    String last = null;
    long since = 0;
    final StringBuilder marks = new StringBuilder();
    ByteBuffer pending = ByteBuffer.allocate(INLINE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    OutputStream out = null;
    String path = null;
    String task = TaskContext.get().stageId() + " " + TaskContext.get().stageAttemptNumber() + " "
        + TaskContext.get().partitionId() + " " + TaskContext.get().taskAttemptId();

    /**
     * Spark's thread of the task, on which the task also ends: Executor makes UninterruptibleThreads for tasks. Null if
     * another thread records rows: a plain Thread that feeds a script (TRANSFORM) or R.
     */
    final Thread owner = Thread.currentThread() instanceof UninterruptibleThread ? Thread.currentThread() : null;

    Writer(String folder, int tap, int provenance, boolean keyed, int keeps, CollectionAccumulator receipts) {
      this.folder = folder;
      this.tap = tap;
      this.provenance = provenance;
      this.keyed = keyed;
      this.keeps = keeps;
      this.receipts = receipts;
      limit = Math.min(MAX_ROWS, BUFFER_BYTES / (8 * provenance + (keyed ? 8 : 0) + 8));
      columns = new long[provenance][];
      for (int i = 0; i < provenance; i++) columns[i] = new long[256];
      if (keyed) {
        group = new int[256];
        growKeys(64);
      }
    }

    private void growKeys(int size) {
      known = Arrays.copyOf(known, 2 * size);
      table = new int[size * 2];
      Arrays.fill(table, -1);
      for (int g = 0; g < keys; g++) table[slot(known[2 * g], known[2 * g + 1], home(known[2 * g]))] = g;
    }

    private int home(long a) {
      return (int) (a ^ (a >>> 32)) & (table.length - 1);
    }

    private int slot(long a, long b, int from) {
      int mask = table.length - 1;
      int at = from;
      while (table[at] >= 0 && (known[2 * table[at]] != a || known[2 * table[at] + 1] != b)) at = (at + 1) & mask;
      return at;
    }

    /**
     * Looks up the groups of the last rows. With many groups most look-ups wait for memory: the first loops request it
     * for all rows, so that no row waits for another.
     */
    private void settle() {
      int n = waiting;
      for (int i = 0; i < n; i++) place[i] = home(asked[2 * i]);
      for (int i = 0; i < n; i++) found[i] = table[place[i]];
      for (int i = 0; i < n; i++) {
        int g = found[i];
        if (g >= 0 && (known[2 * g] != asked[2 * i] || known[2 * g + 1] != asked[2 * i + 1])) found[i] = -1;
      }
      for (int i = 0; i < n; i++) if (found[i] < 0) found[i] = grouped(asked[2 * i], asked[2 * i + 1]);
      for (int i = unsettled; i < rows; i++) group[i] = found[group[i]];
      waiting = 0;
      unsettled = rows;
    }

    private int grouped(long a, long b) {
      int at = slot(a, b, home(a));
      if (table[at] >= 0) return table[at];
      if (2 * keys == known.length) {
        growKeys(keys * 2);
        at = slot(a, b, home(a));
      }
      known[2 * keys] = a;
      known[2 * keys + 1] = b;
      table[at] = keys;
      return keys++;
    }

    /**
     * Whether no other thread can be here meanwhile: a lock for each row would take longer than all the rest. The
     * thread that pulls the first row through a tap pulls all of them, because one operator above reads its iterator.
     */
    boolean own() {
      return Thread.currentThread() == owner;
    }

    void begin() {
      if (failed != null) return;
      int room = provenance > 0 ? columns[0].length : (keyed ? group.length : Integer.MAX_VALUE);
      if (rows == room) {
        int size = Math.min(limit, room * 4);
        for (int i = 0; i < provenance; i++) columns[i] = Arrays.copyOf(columns[i], size);
        if (keyed) group = Arrays.copyOf(group, size);
      }
    }

    void mark(String folder) {
      if (!folder.equals(last)) {
        closeMark();
        last = folder;
        since = total;
      }
    }

    private void closeMark() {
      if (last == null) return;
      byte[] name = last.getBytes(StandardCharsets.UTF_8);
      marks.append(Base64.getEncoder().encodeToString(name)).append(':').append(total - since).append(' ');
    }

    void put(int i, long value) {
      if (i >= provenance) {
        if (keyed && i < provenance + 2) key[i - provenance] = value;
      } else if (failed == null) {
        columns[i][rows] = value;
      }
    }

    /** Records the row; returns whether it passes. */
    Boolean end() {
      if (failed == null && (keeps == ALL || key[1] != NULL)) {
        try {
          record();
        } catch (Exception e) { // an Error, such as OutOfMemoryError, does fail the task
          fail(e);
        }
      }
      if (keeps == ALL) return Boolean.TRUE;
      if (keeps == MATCHED && key[1] == NULL) return Boolean.FALSE;
      boolean first = key[0] != before;
      before = key[0];
      return Boolean.valueOf(first);
    }

    private void record() throws IOException {
      if (keyed) {
        int last = 2 * waiting - 2;
        if (last < 0 || asked[last] != key[0] || asked[last + 1] != key[1]) {
          if (waiting == BATCH) settle();
          asked[2 * waiting] = key[0];
          asked[2 * waiting + 1] = key[1];
          waiting++;
        }
        group[rows] = waiting - 1;
      }
      rows++;
      total++;
      if (rows >= limit || keys > MAX_KEYS - BATCH) flush();
    }

    /** Writes the buffer as one block. */
    private void flush() throws IOException {
      if (rows == 0) return;
      if (keyed) settle();
      ByteBuffer head = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
      head.putInt(rows);
      head.putInt(keys);
      write(head.array(), 8);
      int[] order = null;
      if (keyed) {
        long[] counts = new long[keys];
        for (int i = 0; i < rows; i++) counts[group[i]]++;
        int[] at = new int[keys];
        for (int g = 1; g < keys; g++) at[g] = at[g - 1] + (int) counts[g - 1];
        order = new int[rows];
        for (int i = 0; i < rows; i++) order[at[group[i]]++] = i;
        column(half(0), keys, null);
        column(half(1), keys, null);
        column(counts, keys, null);
      }
      for (int i = 0; i < provenance; i++) column(columns[i], rows, order);
      rows = 0;
      keys = 0;
      unsettled = 0;
      if (keyed) Arrays.fill(table, -1);
    }

    private long[] half(int which) {
      long[] out = new long[keys];
      for (int g = 0; g < keys; g++) out[g] = known[2 * g + which];
      return out;
    }

    private void column(long[] values, int n, int[] order) throws IOException {
      int runs = 1;
      boolean small = true;
      long before = values[order == null ? 0 : order[0]];
      for (int i = 1; i < n; i++) {
        long v = values[order == null ? i : order[i]];
        long d = v - before;
        if (d != 1) runs++;
        if (d != (int) d) small = false; // d may overflow at NULL; so do the sums of readers, back to the value
        before = v;
      }
      byte codec = (byte) (runs <= n / 4 ? 0 : (small ? 1 : 2));
      int size = codec == 0 ? runs * 16 : (codec == 1 ? 8 + 4 * n : 8 * n);
      ByteBuffer raw = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
      if (codec == 0) {
        long start = values[order == null ? 0 : order[0]];
        long length = 1;
        for (int i = 1; i < n; i++) {
          long v = values[order == null ? i : order[i]];
          if (v == start + length) {
            length++;
          } else {
            raw.putLong(start);
            raw.putLong(length);
            start = v;
            length = 1;
          }
        }
        raw.putLong(start);
        raw.putLong(length);
      } else if (codec == 1) {
        before = values[order == null ? 0 : order[0]];
        raw.putLong(before);
        for (int i = 1; i < n; i++) {
          long v = values[order == null ? i : order[i]];
          raw.putInt((int) (v - before));
          before = v;
        }
      } else {
        for (int i = 0; i < n; i++) raw.putLong(values[order == null ? i : order[i]]);
      }
      byte[] packed = new byte[(int) Zstd.compressBound(raw.position())];
      long length = Zstd.compressByteArray(packed, 0, packed.length, raw.array(), 0, raw.position(), 1);
      if (Zstd.isError(length)) throw new IOException(Zstd.getErrorName(length));
      ByteBuffer head = ByteBuffer.allocate(9).order(ByteOrder.LITTLE_ENDIAN);
      head.put(codec);
      head.putInt((int) length);
      head.putInt(raw.position());
      write(head.array(), 9);
      write(packed, (int) length);
    }

    private void write(byte[] bytes, int n) throws IOException {
      if (out == null && pending.remaining() >= n) {
        pending.put(bytes, 0, n);
        return;
      }
      if (out == null) {
        open();
        out.write(pending.array(), 0, pending.position());
      }
      out.write(bytes, 0, n);
    }

    private void open() throws IOException {
      String name = "t" + tap + "-" + task.replace(' ', '-') + ".tap";
      if (folder.startsWith("file:")) { // without Hadoop's file system, which writes a .crc file beside each
        File parent = new File(URI.create(folder));
        parent.mkdirs();
        out = new FileOutputStream(new File(parent, name));
      } else {
        Path at = new Path(new Path(URI.create(folder)), name);
        // The application's settings (spark.hadoop.*), not what a script sets in its session or in hadoopConfiguration.
        FileSystem fs = at.getFileSystem(SparkHadoopUtil.get().conf());
        out = fs.create(at, true);
      }
      path = name;
    }

    void fail(Exception e) {
      failed = e.toString();
    }

    public void onTaskCompletion(TaskContext context) {
      synchronized (this) { // a row that a script's thread reads later is in no receipt, and is ignored
        String place = "";
        try {
          if (failed == null) {
            flush();
            closeMark();
            if (out != null) out.close();
            place = path != null ? "file " + path
                : "inline " + Base64.getEncoder().encodeToString(Arrays.copyOf(pending.array(), pending.position()));
          }
        } catch (Exception e) {
          fail(e);
        }
        // U+0003 separates receipts (Taps.receipts), line breaks their three parts (Receipt.parse in tracker/taps/taps.py).
        if (failed != null) place = "failed " + failed.replace('\n', ' ').replace('\u0003', ' ');
        receipts.add(tap + " " + task + " " + total + "\n" + place + "\n" + marks);
      }
    }
  }
}

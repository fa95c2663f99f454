package provspark.seal;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import java.util.Iterator;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.TaskCompletionListener;
import provspark.taps.Tap;

/**
 * Reads the notes of a tap on executors (Tap defines the layout).
 *
 * A place is a long of task, block and group (bit offsets: TASK and BLOCK). A task has the place with block 0, and its blocks
 * count from 1, so the places of a task's groups come after its own. The input is rows (place, noted, where, ids), sorted by
 * place. Each task has one row: how many rows it noted, where its notes are, and ids. For the rows of a keyed tap, a row for each
 * kept group follows. `ids` are longs: for an ordered tap, pairs of a first id and the number of consecutive rows; for a keyed
 * tap, the id of the first kept row of each block.
 */
public class Notes implements MapPartitionsFunction, Serializable {
  private static final long serialVersionUID = 1L;
  public static final int TASK = 40;
  public static final int BLOCK = 20;

  private final String folder;
  private final int width;
  private final boolean keyed;

  /** Provenance columns to return; null to return groups. */
  private int[] columns = null;

  /** `folder` is the URL of the sidecar files; `width` is the number of columns of a row besides the keys. */
  public Notes(String folder, int width, boolean keyed) {
    this.folder = folder;
    this.width = width;
    this.keyed = keyed;
  }

  /** Returns the groups of all blocks: place, key (k1, k2), and number of rows (n). */
  public Dataset groups(Dataset tasks) {
    StructType type = new StructType().add("place", DataTypes.LongType, false).add("k1", DataTypes.LongType, false);
    type = type.add("k2", DataTypes.LongType, false).add("n", DataTypes.LongType, false);
    return tasks.mapPartitions(this, Encoders.row(type));
  }

  /** Returns each row whose column `first` is not null: its id as `row`, and `count` columns (at most three) as a, b and c. */
  public Dataset rows(Dataset asked, int first, int count) {
    columns = new int[count];
    for (int i = 0; i < count; i++) columns[i] = first + i;
    StructType type = new StructType().add("row", DataTypes.LongType, false).add("a", DataTypes.LongType, false);
    type = type.add("b", DataTypes.LongType, false).add("c", DataTypes.LongType, false);
    return asked.mapPartitions(this, Encoders.row(type));
  }

  public Iterator call(Iterator asked) {
    NotesReading reading = new NotesReading(this, asked);
    TaskContext.get().addTaskCompletionListener(reading);
    return reading;
  }

  private InputStream open(String place) throws IOException {
    if (place.startsWith("inline ")) return new ByteArrayInputStream(Base64.getDecoder().decode(place.substring(7)));
    String name = place.substring(place.indexOf(' ') + 1);
    if (folder.startsWith("file:")) {
      return new BufferedInputStream(new FileInputStream(new File(new File(URI.create(folder)), name)), 1 << 16);
    }
    Path at = new Path(new Path(URI.create(folder)), name);
    FileSystem fs = at.getFileSystem(SparkHadoopUtil.get().conf());
    return fs.open(at);
  }

  /** Reader of a task's sidecar file, block by block. Columns of a block can be skipped, but are read once and in order. */
  static class Sidecar {
    final InputStream in;
    final String place;
    final int columns;
    final boolean keyed;
    int block = -1;
    int rows = 0;
    int keys = 0;
    int read;

    Sidecar(InputStream in, String place, int width, boolean keyed) {
      this.in = in;
      this.place = place;
      this.keyed = keyed;
      columns = width + (keyed ? 3 : 0);
      read = columns;
    }

    boolean next() throws IOException {
      skipTo(columns);
      int first = in.read();
      if (first < 0) return false;
      byte[] head = new byte[8];
      head[0] = (byte) first;
      fill(head, 1);
      ByteBuffer numbers = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN);
      rows = numbers.getInt();
      keys = numbers.getInt();
      read = 0;
      block++;
      return true;
    }

    void skipTo(int column) throws IOException {
      while (read < column) {
        long left = head().getInt(1);
        while (left > 0) {
          long skipped = in.skip(left);
          if (skipped == 0) {
            if (in.read() < 0) throw cutShort();
            skipped = 1;
          }
          left -= skipped;
        }
      }
    }

    private ByteBuffer head() throws IOException {
      byte[] head = new byte[9];
      fill(head, 0);
      read++;
      return ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN);
    }

    long[] column() throws IOException {
      int n = keyed && read < 3 ? keys : rows;
      ByteBuffer head = head();
      byte codec = head.get();
      byte[] packed = new byte[head.getInt()];
      int size = head.getInt();
      fill(packed, 0);
      ByteBuffer raw = ByteBuffer.wrap(com.github.luben.zstd.Zstd.decompress(packed, size)).order(ByteOrder.LITTLE_ENDIAN);
      long[] out = new long[n];
      if (codec == 0) {
        int i = 0;
        while (raw.hasRemaining()) {
          long value = raw.getLong();
          for (long left = raw.getLong(); left > 0; left--) out[i++] = value++;
        }
      } else if (codec == 1) {
        out[0] = raw.getLong();
        for (int i = 1; i < n; i++) out[i] = out[i - 1] + raw.getInt();
      } else {
        for (int i = 0; i < n; i++) out[i] = raw.getLong();
      }
      return out;
    }

    private void fill(byte[] bytes, int at) throws IOException {
      int i = at;
      while (i < bytes.length) {
        int n = in.read(bytes, i, bytes.length - i);
        if (n < 0) throw cutShort();
        i += n;
      }
    }

    private IOException cutShort() {
      return new EOFException("the notes end too early: " + (place.startsWith("inline ") ? "inline" : place));
    }
  }

  /** Iterator over the groups or rows of some tasks. */
  static class NotesReading implements Iterator, TaskCompletionListener {
    final Notes notes;
    final Iterator asked;
    Sidecar sidecar = null;
    String where = null;
    long noted = 0;
    long seen = 0;
    long[] ids = null;
    long task = 0;
    long[][] told = null;
    int[] begins = null;
    int loaded = -1;
    /** For a keyed tap: id of the next kept row. */
    long next = 0;
    /** Positions in the block that are to be returned, and the id of the first one. */
    int i = 0;
    int stop = 0;
    long id = 0;
    /** For an ordered tap: the current pair of ids, and how many of its rows are already read. */
    int piece = 0;
    long gone = 0;
    int at = 0;

    NotesReading(Notes notes, Iterator asked) {
      this.notes = notes;
      this.asked = asked;
    }

    public boolean hasNext() {
      try {
        while (true) {
          if (notes.columns == null && i < stop) return true;
          while (i < stop) {
            if (told[0][i] != Tap.NULL) return true;
            i++;
            id++;
          }
          boolean more = notes.columns == null ? nextGroups() : (notes.keyed ? nextKept() : nextRun());
          if (!more) return false;
        }
      } catch (IOException e) {
        throw new IllegalStateException("ProvSpark can't read the notes of a tap: " + e, e);
      }
    }

    public Object next() {
      if (!hasNext()) throw new java.util.NoSuchElementException();
      Row row;
      if (notes.columns == null) {
        long place = (task << TASK) + ((sidecar.block + 1L) << BLOCK) + i;
        row = RowFactory.create(new Object[] {
            Long.valueOf(place), Long.valueOf(told[0][i]), Long.valueOf(told[1][i]), Long.valueOf(told[2][i])});
      } else {
        row = RowFactory.create(new Object[] {
            Long.valueOf(id), Long.valueOf(told[0][i]), Long.valueOf(told.length > 1 ? told[1][i] : 0L),
            Long.valueOf(told.length > 2 ? told[2][i] : 0L)});
        id++;
      }
      i++;
      return row;
    }

    /** Starts a task with its row of the input. */
    private void begin(Row row) throws IOException {
      close();
      task = row.getLong(0) >> TASK;
      noted = row.getLong(1);
      where = row.getString(2);
      byte[] raw = (byte[]) row.get(3);
      ids = new long[raw.length / 8];
      ByteBuffer.wrap(raw).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(ids);
      loaded = -1;
      piece = 0;
      gone = 0;
      seen = 0;
      at = 0;
    }

    private void open() throws IOException {
      sidecar = new Sidecar(notes.open(where), where, notes.width, notes.keyed);
    }

    /** Moves to the next block, of this task or the next one. Returns whether there is one. */
    private boolean nextBlock() throws IOException {
      while (true) {
        if (sidecar != null && sidecar.next()) {
          seen += sidecar.rows;
          return true;
        }
        if (sidecar != null && seen != noted) {
          throw new IOException("a task noted " + noted + " rows, but its notes have " + seen + " rows");
        }
        if (!asked.hasNext()) {
          close();
          return false;
        }
        begin((Row) asked.next());
        open();
      }
    }

    private void load() throws IOException {
      told = new long[notes.columns.length][];
      sidecar.skipTo((notes.keyed ? 3 : 0) + notes.columns[0]);
      for (int c = 0; c < told.length; c++) told[c] = sidecar.column();
    }

    private boolean nextGroups() throws IOException {
      if (!nextBlock()) return false;
      told = new long[][] {sidecar.column(), sidecar.column(), sidecar.column()};
      i = 0;
      stop = sidecar.keys;
      return true;
    }

    private boolean nextKept() throws IOException {
      while (asked.hasNext()) {
        Row row = (Row) asked.next();
        long place = row.getLong(0);
        int block = (int) (place >> BLOCK & (1L << TASK - BLOCK) - 1) - 1;
        if (block < 0) {
          begin(row);
          continue;
        }
        if (place >> TASK != task || where == null) throw new IOException("the input has a group without its task");
        if (sidecar == null) open();
        while (sidecar.block < block) {
          if (!sidecar.next()) throw new IOException("the notes of a task lack a group");
        }
        if (loaded != block) {
          sidecar.skipTo(2);
          long[] counts = sidecar.column();
          begins = new int[counts.length + 1];
          for (int g = 0; g < counts.length; g++) begins[g + 1] = begins[g] + (int) counts[g];
          load();
          loaded = block;
          next = ids[block];
        }
        int group = (int) (place & (1L << BLOCK) - 1);
        i = begins[group];
        stop = begins[group + 1];
        id = next;
        next += stop - i;
        return true;
      }
      close();
      return false;
    }

    private boolean nextRun() throws IOException {
      while (sidecar == null || at == sidecar.rows) {
        if (!nextBlock()) return false;
        load();
        at = 0;
      }
      while (gone == ids[2 * piece + 1]) {
        piece++;
        gone = 0;
      }
      int n = (int) Math.min(ids[2 * piece + 1] - gone, sidecar.rows - at);
      i = at;
      stop = at + n;
      id = ids[2 * piece] + gone;
      gone += n;
      at += n;
      return true;
    }

    private void close() throws IOException {
      if (sidecar != null) sidecar.in.close();
      sidecar = null;
    }

    public void onTaskCompletion(TaskContext context) {
      try {
        close();
      } catch (IOException e) {
        sidecar = null;
      }
    }
  }
}

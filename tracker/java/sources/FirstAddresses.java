package provspark.sources;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Comparator;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.SparkSession;

/**
 * Map from a file's path to its first address: a sorted byte array with 16 bytes of the path's SHA-256 and 8 of the
 * address per entry, which needs no registration with Kryo. A small array is serialised with each task, a larger one is
 * broadcast to the executors.
 */
public class FirstAddresses implements Serializable {
  private static final long serialVersionUID = 1L;
  static final long UNLISTED = -1L;
  private static final int SMALL = 4096;
  private static final int HASH = 16;
  private static final int ENTRY = HASH + 8;

  private final Serializable table;

  private FirstAddresses(Serializable table) { this.table = table; }

  /** `firstAddresses`: little-endian longs in the order of the paths. */
  static FirstAddresses of(SparkSession session, String[] paths, byte[] firstAddresses) {
    byte[] table = table(paths, ByteBuffer.wrap(firstAddresses).order(ByteOrder.LITTLE_ENDIAN));
    if (table.length <= SMALL) return new FirstAddresses(table);
    return new FirstAddresses(new JavaSparkContext(session.sparkContext()).broadcast(table));
  }

  private static byte[] table(String[] paths, ByteBuffer firstAddresses) {
    byte[][] entries = new byte[paths.length][];
    for (int i = 0; i < paths.length; i++) {
      entries[i] = ByteBuffer.allocate(ENTRY).put(hash(paths[i])).putLong(firstAddresses.getLong()).array();
    }
    Arrays.sort(entries, new Unsigned());
    ByteBuffer out = ByteBuffer.allocate(ENTRY * paths.length);
    for (int i = 0; i < entries.length; i++) out.put(entries[i]);
    return out.array();
  }

  private static byte[] hash(String path) {
    try {
      byte[] all = MessageDigest.getInstance("SHA-256").digest(path.getBytes(StandardCharsets.UTF_8));
      return Arrays.copyOf(all, HASH);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns the file's first address, or UNLISTED. */
  long of(String path) {
    byte[] all = (byte[]) (table instanceof Broadcast ? ((Broadcast) table).value() : table);
    byte[] wanted = hash(path);
    int low = 0;
    int high = all.length / ENTRY - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int at = middle * ENTRY;
      int order = Arrays.compareUnsigned(all, at, at + HASH, wanted, 0, HASH);
      if (order == 0) return ByteBuffer.wrap(all, at + HASH, 8).getLong();
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return UNLISTED;
  }

  static class Unsigned implements Comparator {
    public int compare(Object a, Object b) {
      return Arrays.compareUnsigned((byte[]) a, (byte[]) b);
    }
  }
}

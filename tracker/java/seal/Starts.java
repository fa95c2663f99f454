package provspark.seal;

import java.io.Serializable;
import java.util.Iterator;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Counts, for each group (place, k1, k2, n) in the order of places (see Notes), the rows before it in its block. */
public class Starts implements MapPartitionsFunction, Serializable {
  private static final long serialVersionUID = 1L;

  /** Returns the groups with a column `at`, the number of rows before. Groups without a place have 0. */
  public Dataset over(Dataset groups) {
    StructType type = new StructType().add("place", DataTypes.LongType, true).add("k1", DataTypes.LongType, false);
    type = type.add("k2", DataTypes.LongType, false).add("n", DataTypes.LongType, true);
    return groups.mapPartitions(this, Encoders.row(type.add("at", DataTypes.LongType, false)));
  }

  public Iterator call(Iterator groups) {
    return new Counting(groups);
  }

  static class Counting implements Iterator {
    final Iterator groups;
    long block = -1L;
    long at = 0L;

    Counting(Iterator groups) {
      this.groups = groups;
    }

    public boolean hasNext() {
      return groups.hasNext();
    }

    public Object next() {
      Row row = (Row) groups.next();
      boolean placed = !row.isNullAt(0);
      long here = placed ? row.getLong(0) >> Notes.BLOCK : -1L;
      if (here != block) at = 0L;
      block = here;
      Row out = RowFactory.create(new Object[] {row.get(0), row.get(1), row.get(2), row.get(3), Long.valueOf(at)});
      if (placed) at += row.getLong(3);
      return out;
    }
  }
}

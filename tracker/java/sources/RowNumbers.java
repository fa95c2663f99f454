package provspark.sources;

import java.lang.reflect.Field;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.spark.sql.execution.datasources.RecordReaderIterator;
import org.apache.spark.sql.execution.datasources.parquet.ParquetRowIndexUtil;
import org.apache.spark.sql.execution.datasources.parquet.VectorizedParquetRecordReader;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;

/**
 * Numbers the rows of a Parquet file's batches as Spark does, without an object for each row.
 *
 * Spark takes each number from an iterator of boxed ones, a fifth of what reading takes. Where no page of a row group is
 * left out they count up, and are written so; else Spark's own way stays.
 */
public class RowNumbers extends ParquetRowIndexUtil.RowIndexGenerator {
  private boolean all;
  private long next;

  public RowNumbers(int column) { super(column); }

  /** Number a reader's rows so, if it is one of batches; Spark's own way stays wherever it is made otherwise. */
  static void into(Object rows, int column) {
    if (!(rows instanceof RecordReaderIterator)) return;
    try {
      Object reader = field(RecordReaderIterator.class, RecordReader.class).get(rows);
      if (!(reader instanceof VectorizedParquetRecordReader)) return;
      Field numbers = field(VectorizedParquetRecordReader.class, ParquetRowIndexUtil.RowIndexGenerator.class);
      if (numbers.get(reader) != null) numbers.set(reader, new RowNumbers(column));
    } catch (ReflectiveOperationException e) {
      return;
    } catch (RuntimeException e) {
      return;
    }
  }

  private static Field field(Class owner, Class type) throws NoSuchFieldException {
    Field[] all = owner.getDeclaredFields();
    for (int i = 0; i < all.length; i++) {
      if (all[i].getType() == type) {
        all[i].setAccessible(true);
        return all[i];
      }
    }
    throw new NoSuchFieldException(type.getName());
  }

  public void initFromPageReadStore(PageReadStore pages) {
    all = !pages.getRowIndexes().isPresent() && pages.getRowIndexOffset().isPresent();
    if (all) next = ((Long) pages.getRowIndexOffset().get()).longValue();
    else super.initFromPageReadStore(pages);
  }

  public void populateRowIndex(WritableColumnVector column, int rows) {
    if (!all) {
      super.populateRowIndex(column, rows);
      return;
    }
    for (int i = 0; i < rows; i++) column.putLong(i, next + i);
    next += rows;
  }
}

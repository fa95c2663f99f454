package provspark.sources;

import java.io.Closeable;
import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowJoiner;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.csv.CSVFileFormat;
import org.apache.spark.sql.execution.datasources.json.JsonFileFormat;
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.execution.datasources.text.TextFileFormat;
import org.apache.spark.sql.execution.datasources.xml.XmlFileFormat;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.CollectionAccumulator;
import org.apache.spark.util.NextIterator;

/**
 * Spark's own file formats with one more column, the row's address, after the partition columns.
 *
 * Parquet's reader numbers the rows of a file, whatever filters skip: the address is the file's first address plus that
 * number. The other formats are read without filters, and their rows are counted as they leave the reader: the address
 * is the file's first address + (offset of the block << 16) + position in the block. A block adds a report when it is
 * opened, and another one with its row count after its last row: long[] {first address, length, rows}, where rows is
 * OPENED in the first report and OVERFLOWED if there are too many.
 */
public class AddressedFormats {
  /** 65,536 addresses per (compressed) byte: 2^46 bytes fit in a long. Larger inputs are refused (counted.py). */
  static final int SHIFT = 16;
  /** Row count of a block that was not read to its end: its file is counted after the job (CountedScan.finish). */
  static final long OPENED = -1L;
  /** Row count of a block whose addresses run into the next block's: the write has no lineage (Blocks.distinct). */
  static final long OVERFLOWED = -2L;

  static final scala.collection.immutable.Seq NO_FILTERS =
      scala.jdk.javaapi.CollectionConverters.asScala(new ArrayList()).toSeq();
  private static final StructType ADDRESS = new StructType().add("address", DataTypes.LongType);

  private final SparkSession session;
  private final FileFormat base;
  private final FormatColumns columns;

  /**
   * `key` is equal for scans that give equal rows equal addresses, so that Spark may reuse one for the other. If it is
   * empty, blocks are counted, and the reports belong to this scan only. Only Parquet has a key, and makes no reports.
   */
  public AddressedFormats(LogicalRelation node, String[] paths, byte[] firstAddresses, String key) {
    session = ((HadoopFsRelation) node.relation()).sparkSession();
    base = ((HadoopFsRelation) node.relation()).fileFormat();
    FirstAddresses starts = FirstAddresses.of(session, paths, firstAddresses);
    columns = key.isEmpty() ? counting(starts) : new FormatColumns(starts, null, key);
  }

  private AddressedFormats(AddressedFormats was) {
    session = was.session;
    base = was.base;
    columns = counting(was.columns.starts);
  }

  /** Returns a format with the same addresses and separate reports. */
  public AddressedFormats again() {
    return new AddressedFormats(this);
  }

  private FormatColumns counting(FirstAddresses starts) {
    CollectionAccumulator reports = new CollectionAccumulator();
    session.sparkContext().register(reports);
    return new FormatColumns(starts, reports, "counted by " + reports.id());
  }

  /**
   * Returns the blocks' reports so far, three little-endian longs each. They are complete after the job. If two tasks
   * read one block, Blocks.distinct compares their reports and keeps one.
   */
  public byte[] reports() {
    List all = columns.reports.value();
    ByteBuffer out = ByteBuffer.allocate(24 * all.size()).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < all.size(); i++) {
      long[] report = (long[]) all.get(i);
      for (int k = 0; k < 3; k++) out.putLong(report[k]);
    }
    return out.array();
  }

  public FileFormat format() throws Exception {
    if (base instanceof ParquetFileFormat) return new Parquet(columns);
    if (base instanceof OrcFileFormat) return new Orc(columns);
    if (base instanceof CSVFileFormat) return new Csv(columns);
    if (base instanceof JsonFileFormat) return new JsonLines(columns);
    if (base instanceof TextFileFormat) return new Text(columns);
    if (base instanceof XmlFileFormat) return new AddressedXml(columns);
    throw new IllegalArgumentException(base.getClass().getName());
  }

  /** Fields common to all formats: the files' first addresses, and the accumulator of reports. */
  static class FormatColumns implements Serializable {
    private static final long serialVersionUID = 1L;

    final FirstAddresses starts;
    final CollectionAccumulator reports;
    final String key;

    FormatColumns(FirstAddresses starts, CollectionAccumulator reports, String key) {
      this.starts = starts;
      this.reports = reports;
      this.key = key;
    }

    ReadFunction reader(Object read, StructType required, StructType partition, int rowIndex) {
      return new ReadFunction(this, (scala.Function1) read, required, partition, rowIndex);
    }
  }

  static StructType without(StructType partition) {
    StructField[] all = partition.fields();
    return new StructType((StructField[]) Arrays.copyOf(all, all.length - 1));
  }

  static scala.Option withAddress(scala.Option types) {
    if (types.isEmpty()) return types;
    List all = new ArrayList(scala.jdk.javaapi.CollectionConverters.asJava((scala.collection.Seq) types.get()));
    all.add(ColumnVector.class.getName());
    return scala.Option.apply(scala.jdk.javaapi.CollectionConverters.asScala(all).toSeq());
  }

  /** Parquet: requests the reader's row index and converts it to the address. Filters are pushed to the reader. */
  static class Parquet extends ParquetFileFormat {
    private static final long serialVersionUID = 1L;
    private final FormatColumns columns;
    Parquet(FormatColumns columns) { this.columns = columns; }

    public scala.Function1 buildReaderWithPartitionValues(
        SparkSession session, StructType data, StructType partition, StructType required,
        scala.collection.immutable.Seq filters, scala.collection.immutable.Map options, Configuration conf) {
      String index = ParquetFileFormat.ROW_INDEX_TEMPORARY_COLUMN_NAME();
      scala.Option asked = required.getFieldIndex(index);
      // The row index takes the place of the address, so the number of columns is the one for which the scan chose
      // batches or rows (FileSourceScanExec.supportsColumnar), as the reader asserts.
      StructType read = asked.isDefined() ? required : required.add(index, DataTypes.LongType);
      int at = asked.isDefined() ? ((Integer) asked.get()).intValue() : required.length();
      // A PartitionedFile's partitionValues come from the FileIndex and have no address: `without` removes it here too.
      Object base = super.buildReaderWithPartitionValues(session, data, without(partition), read, filters, options, conf);
      return columns.reader(base, required, partition, at);
    }

    public scala.Option vectorTypes(StructType required, StructType partition, SQLConf conf) {
      return withAddress(super.vectorTypes(required, without(partition), conf));
    }
    public boolean equals(Object o) { return o instanceof Parquet && ((Parquet) o).columns.key.equals(columns.key); }
    public int hashCode() { return columns.key.hashCode(); }
  }

  /** ORC: counts rows, read in batches or one by one. */
  static class Orc extends OrcFileFormat {
    private static final long serialVersionUID = 1L;
    private final FormatColumns columns;
    Orc(FormatColumns columns) { this.columns = columns; }

    public scala.Function1 buildReaderWithPartitionValues(
        SparkSession session, StructType data, StructType partition, StructType required,
        scala.collection.immutable.Seq filters, scala.collection.immutable.Map options, Configuration conf) {
      Object base = super.buildReaderWithPartitionValues(
          session, data, without(partition), required, NO_FILTERS, options, conf);
      return columns.reader(base, required, partition, -1);
    }

    public scala.Option vectorTypes(StructType required, StructType partition, SQLConf conf) {
      return withAddress(super.vectorTypes(required, without(partition), conf));
    }
    public boolean equals(Object o) { return o instanceof Orc && ((Orc) o).columns.key.equals(columns.key); }
    public int hashCode() { return columns.key.hashCode(); }
  }

  /** CSV: counts rows. Modes in which the rows depend on the columns that are read are refused (relation.py). */
  static class Csv extends CSVFileFormat {
    private static final long serialVersionUID = 1L;
    private final FormatColumns columns;
    Csv(FormatColumns columns) { this.columns = columns; }

    public scala.Function1 buildReaderWithPartitionValues(
        SparkSession session, StructType data, StructType partition, StructType required,
        scala.collection.immutable.Seq filters, scala.collection.immutable.Map options, Configuration conf) {
      Object base = super.buildReaderWithPartitionValues(
          session, data, without(partition), required, NO_FILTERS, options, conf);
      return columns.reader(base, required, partition, -1);
    }
    public boolean equals(Object o) { return o instanceof Csv && ((Csv) o).columns.key.equals(columns.key); }
    public int hashCode() { return columns.key.hashCode(); }
  }

  /** JSON: counts rows. */
  static class JsonLines extends JsonFileFormat {
    private static final long serialVersionUID = 1L;
    private final FormatColumns columns;
    JsonLines(FormatColumns columns) { this.columns = columns; }

    public scala.Function1 buildReaderWithPartitionValues(
        SparkSession session, StructType data, StructType partition, StructType required,
        scala.collection.immutable.Seq filters, scala.collection.immutable.Map options, Configuration conf) {
      Object base = super.buildReaderWithPartitionValues(
          session, data, without(partition), required, NO_FILTERS, options, conf);
      return columns.reader(base, required, partition, -1);
    }
    public boolean equals(Object o) { return o instanceof JsonLines && ((JsonLines) o).columns.key.equals(columns.key); }
    public int hashCode() { return columns.key.hashCode(); }
  }

  /** Text: counts rows. */
  static class Text extends TextFileFormat {
    private static final long serialVersionUID = 1L;
    private final FormatColumns columns;
    Text(FormatColumns columns) { this.columns = columns; }

    public scala.Function1 buildReaderWithPartitionValues(
        SparkSession session, StructType data, StructType partition, StructType required,
        scala.collection.immutable.Seq filters, scala.collection.immutable.Map options, Configuration conf) {
      Object base = super.buildReaderWithPartitionValues(
          session, data, without(partition), required, NO_FILTERS, options, conf);
      return columns.reader(base, required, partition, -1);
    }
    public boolean equals(Object o) { return o instanceof Text && ((Text) o).columns.key.equals(columns.key); }
    public int hashCode() { return columns.key.hashCode(); }
  }

  /** Function from a block of a file to its rows, called by FileScanRDD. */
  static class ReadFunction extends scala.runtime.AbstractFunction1 implements Serializable {
    private static final long serialVersionUID = 1L;
    private final FormatColumns columns;
    @SuppressWarnings("serial") // the type of Spark's function does not declare it serialisable
    private final scala.Function1 base;
    private final StructType required;
    private final StructType partition;
    private final int rowIndex;

    ReadFunction(FormatColumns columns, scala.Function1 base, StructType required, StructType partition, int rowIndex) {
      this.columns = columns;
      this.base = base;
      this.required = required;
      this.partition = partition;
      this.rowIndex = rowIndex;
    }

    public Object apply(Object block) {
      PartitionedFile file = (PartitionedFile) block;
      // The path in the form of SourceFiles.paths: Hadoop's Path as a string, decoded. A file added after the listing
      // is UNLISTED: its address, -1, is in no segment, which makes sealing fail.
      long first = columns.starts.of(file.toPath().toString());
      if (rowIndex < 0 && first != FirstAddresses.UNLISTED) first += file.start() << SHIFT;
      scala.collection.Iterator rows = (scala.collection.Iterator) base.apply(file);
      int width = required.length() + partition.length();
      boolean extra = rowIndex == required.length();
      if (rowIndex >= 0) return new Indexed(rows, first, width, rowIndex, extra, this);
      return new Counted(rows, first, width, file.length(), columns.reports, this);
    }

    StructType plain() {
      StructType out = required;
      StructField[] more = without(partition).fields();
      for (int i = 0; i < more.length; i++) out = out.add(more[i]);
      return out;
    }

    /** Returns a projection from the base's row and the address to the output, without an extra row index. */
    UnsafeProjection projection(boolean extra) {
      int width = required.length() + partition.length();
      List out = new ArrayList();
      for (int i = 0; i < width; i++) {
        StructField f = i < required.length() ? required.fields()[i] : partition.fields()[i - required.length()];
        int at = i >= required.length() && extra ? i + 1 : i;
        out.add(new BoundReference(at, f.dataType(), f.nullable()));
      }
      scala.collection.immutable.Seq places = scala.jdk.javaapi.CollectionConverters.asScala(out).toSeq();
      return UnsafeProjection.create(places);
    }
  }

  /** Iterator over a block's rows or batches with their addresses. */
  abstract static class Rows extends scala.collection.AbstractIterator implements Closeable {
    protected final scala.collection.Iterator rows;
    protected final long first;
    private final int width;
    private final boolean extra;
    private final ReadFunction read;
    private UnsafeRow address;
    private UnsafeRowJoiner joiner;
    private UnsafeProjection projection;
    private JoinedRow joined;

    Rows(scala.collection.Iterator rows, long first, int width, boolean extra, ReadFunction read) {
      this.rows = rows;
      this.first = first;
      this.width = width;
      this.extra = extra;
      this.read = read;
    }

    /** Returns the base's row with the address appended. */
    protected InternalRow row(InternalRow row, long value) {
      if (address == null) {
        address = new UnsafeRow(1);
        address.pointTo(new byte[16], 16);
        joiner = GenerateUnsafeRowJoiner.create(read.plain(), ADDRESS);
        projection = read.projection(extra);
        joined = new JoinedRow();
      }
      address.setLong(0, value);
      if (row instanceof UnsafeRow && !extra) return joiner.join((UnsafeRow) row, address);
      return projection.apply(joined.apply(row, address));
    }

    /** Returns the base's batch with the address appended, without a row index that Spark did not request. */
    protected ColumnarBatch batch(ColumnarBatch batch, int rowIndex, ColumnVector address) {
      ColumnVector[] out = new ColumnVector[width];
      for (int i = 0; i < width - 1; i++) out[i] = batch.column(extra && i >= rowIndex ? i + 1 : i);
      out[width - 1] = address;
      return new ColumnarBatch(out, batch.numRows());
    }

    public void close() throws IOException {
      if (rows instanceof NextIterator) ((NextIterator) rows).closeIfNeeded();
      else if (rows instanceof Closeable) ((Closeable) rows).close();
    }
  }

  /** Rows of Parquet, whose addresses come from their row index. */
  static class Indexed extends Rows {
    private final int rowIndex;

    Indexed(scala.collection.Iterator rows, long first, int width, int rowIndex, boolean extra, ReadFunction read) {
      super(rows, first, width, extra, read);
      this.rowIndex = rowIndex;
      RowNumbers.into(rows, rowIndex); // only for speed: without it, Spark computes the same numbers
    }

    public boolean hasNext() { return rows.hasNext(); }

    public Object next() {
      Object next = rows.next();
      if (next instanceof ColumnarBatch) {
        ColumnarBatch batch = (ColumnarBatch) next;
        return batch(batch, rowIndex, new Addresses(first, batch.column(rowIndex)));
      }
      InternalRow row = (InternalRow) next;
      return row(row, first == FirstAddresses.UNLISTED ? FirstAddresses.UNLISTED : first + row.getLong(rowIndex));
    }
  }

  /** Rows that are counted as they are read. */
  static class Counted extends Rows {
    private final long length;
    private final long room;
    private final CollectionAccumulator reports;
    private long n;
    private boolean ended;

    Counted(
        scala.collection.Iterator rows, long first, int width, long length, CollectionAccumulator reports, ReadFunction read) {
      super(rows, first, width, false, read);
      this.length = length;
      this.room = Math.max(length, 1L) << SHIFT;
      this.reports = reports;
      report(OPENED);
    }

    private void report(long rows) { reports.add(new long[] {first, length, rows}); }

    public boolean hasNext() {
      if (rows.hasNext()) return true;
      if (!ended) {
        ended = true;
        report(n);
      }
      return false;
    }

    public Object next() {
      Object next = rows.next();
      long at = first == FirstAddresses.UNLISTED ? FirstAddresses.UNLISTED : first + n;
      boolean batch = next instanceof ColumnarBatch;
      long before = n;
      n += batch ? ((ColumnarBatch) next).numRows() : 1L;
      if (n > room && before <= room) report(OVERFLOWED);
      if (batch) return batch((ColumnarBatch) next, -1, new Addresses(at, null));
      return row((InternalRow) next, at);
    }
  }

  /** Addresses of a batch: first + row, or first + row index; UNLISTED for all rows if first is. */
  static class Addresses extends ColumnVector {
    private final long first;
    private final ColumnVector index;

    Addresses(long first, ColumnVector index) {
      super(DataTypes.LongType);
      this.first = first;
      this.index = index;
    }

    public long getLong(int row) {
      if (first == FirstAddresses.UNLISTED) return FirstAddresses.UNLISTED;
      return first + (index == null ? (long) row : index.getLong(row));
    }
    public boolean hasNull() { return false; }
    public int numNulls() { return 0; }
    public boolean isNullAt(int row) { return false; }
    public void close() {}

    private static UnsupportedOperationException no() { return new UnsupportedOperationException("an address is a long"); }
    public boolean getBoolean(int row) { throw no(); }
    public byte getByte(int row) { throw no(); }
    public short getShort(int row) { throw no(); }
    public int getInt(int row) { throw no(); }
    public float getFloat(int row) { throw no(); }
    public double getDouble(int row) { throw no(); }
    public ColumnarArray getArray(int row) { throw no(); }
    public ColumnarMap getMap(int row) { throw no(); }
    public Decimal getDecimal(int row, int precision, int scale) { throw no(); }
    public UTF8String getUTF8String(int row) { throw no(); }
    public byte[] getBinary(int row) { throw no(); }
    public ColumnVector getChild(int at) { throw no(); }
  }
}

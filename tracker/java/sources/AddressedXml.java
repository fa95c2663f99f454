package provspark.sources;

import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.datasources.xml.XmlFileFormat;
import org.apache.spark.sql.types.StructType;

/** XML: counts rows; see AddressedFormats. */
public class AddressedXml extends XmlFileFormat {
  private static final long serialVersionUID = 1L;
  private final AddressedFormats.FormatColumns columns;

  public AddressedXml(AddressedFormats.FormatColumns columns) {
    this.columns = columns;
  }

  public scala.Function1 buildReaderWithPartitionValues(
      SparkSession session, StructType data, StructType partition, StructType required,
      scala.collection.immutable.Seq filters, scala.collection.immutable.Map options, Configuration conf) {
    StructType plain = AddressedFormats.without(partition);
    Object base = super.buildReaderWithPartitionValues(
        session, data, plain, required, AddressedFormats.NO_FILTERS, options, conf);
    return columns.reader(base, required, partition, -1);
  }

  public boolean equals(Object o) {
    return o instanceof AddressedXml && ((AddressedXml) o).columns.key.equals(columns.key);
  }

  public int hashCode() {
    return columns.key.hashCode();
  }
}

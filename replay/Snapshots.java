package provspark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.python.PythonSQLUtils;
import org.apache.spark.sql.catalyst.expressions.GenericRowWithSchema;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Computes a frame and keeps its rows in the driver, numbered, so that what is built on them needs no job. */
public class Snapshots {
    private final String number;
    private final int most;
    private int size;
    private StructType schema;
    private List rows = new ArrayList();

    public Snapshots(String number, int most) {
        this.number = number;
        this.most = most;
    }

    /** Returns the frame's rows, at most as many as there may be, with one more column that numbers them. */
    public Object keep(Object made) {
        Dataset frame = (Dataset) made;
        int width = frame.schema().length();
        List all = frame.limit(most + 1).collectAsList();
        size = all.size();
        rows = new ArrayList();
        for (int i = 0; i < size && i < most; i++) {
            Row row = (Row) all.get(i);
            Object[] values = new Object[width + 1];
            for (int j = 0; j < width; j++) {
                values[j] = row.get(j);
            }
            values[width] = Integer.valueOf(i);
            rows.add(RowFactory.create(values));
        }
        schema = frame.schema().add(number, DataTypes.IntegerType, false);
        return frame.sparkSession().createDataFrame(rows, schema);
    }

    /** How many rows the last frame had; one more than may be kept stands for any number above it. */
    public int size() {
        return size;
    }

    /** The rows kept last, as Python's pickle of a row that holds them as an array: this takes no query of Spark's. */
    public byte[] pickled() {
        StructType one = new StructType().add("rows", DataTypes.createArrayType(schema));
        return PythonSQLUtils.toPyRow(new GenericRowWithSchema(new Object[] {rows.toArray()}, one));
    }

    /** Selects expressions, given as one text with a zero between two: a list would take a round trip for each. */
    public Object select(Object frame, String expressions) {
        return ((Dataset) frame).selectExpr(expressions.split("\u0000"));
    }
}

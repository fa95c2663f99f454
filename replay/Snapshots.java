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

/** Computes a DataFrame and keeps its rows, numbered, on the driver, so that queries of them need no Spark job. */
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

    /** Returns a local DataFrame of at most `most` rows of a DataFrame, with one more column that numbers them. */
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

    /** Returns the number of rows of the last DataFrame; `most` + 1 means more than `most`. */
    public int size() {
        return size;
    }

    /** Returns the rows kept last as a Python pickle of one row that contains them as an array; this runs no query. */
    public byte[] pickled() {
        StructType one = new StructType().add("rows", DataTypes.createArrayType(schema));
        return PythonSQLUtils.toPyRow(new GenericRowWithSchema(new Object[] {rows.toArray()}, one));
    }

    /** Selects expressions, joined by NUL characters: a list would need a py4j round trip for each. */
    public Object select(Object frame, String expressions) {
        return ((Dataset) frame).selectExpr(expressions.split("\u0000"));
    }
}

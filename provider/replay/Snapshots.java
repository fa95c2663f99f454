package provspark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Computes a frame and keeps its rows in the driver, numbered, so that what is built on them needs no job. */
public class Snapshots {
    private final String number;
    private final int most;
    private int found;

    public Snapshots(String number, int most) {
        this.number = number;
        this.most = most;
    }

    /** Returns the frame's rows, at most as many as there may be, with one more column that numbers them. */
    public Object keep(Object made) {
        Dataset frame = (Dataset) made;
        StructType schema = frame.schema();
        List found = frame.limit(most + 1).collectAsList();
        this.found = found.size();
        List rows = new ArrayList();
        for (int i = 0; i < found.size() && i < most; i++) {
            Row row = (Row) found.get(i);
            Object[] values = new Object[schema.length() + 1];
            for (int j = 0; j < schema.length(); j++) {
                values[j] = row.get(j);
            }
            values[schema.length()] = Integer.valueOf(i);
            rows.add(RowFactory.create(values));
        }
        return frame.sparkSession().createDataFrame(rows, schema.add(number, DataTypes.IntegerType, false));
    }

    /** How many rows the last frame had; one more than may be kept stands for any number above it. */
    public int found() {
        return found;
    }
}

package provspark.taps;

import java.io.Serializable;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.api.java.UDF0;

/** Numbers rows uniquely within a run of Spark; a retried task gives other numbers. */
public class RowIds implements UDF0, Serializable {
  private static final long serialVersionUID = 1L;
  static final int ROWS_BITS = 34;

  private transient boolean begun;
  private transient long next;

  public Object call() {
    if (!begun) {
      next = TaskContext.get().taskAttemptId() << ROWS_BITS;
      begun = true;
    }
    return Long.valueOf(next++);
  }
}

package provspark.intercept;

import java.util.Iterator;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.StageInfo;

/** Counts the jobs of RDD.saveAsTextFile and the like, which are no commands. Their stage is named after the writer. */
public class RddSaves extends SparkListener {
  private int seen = 0;

  public synchronized void onJobStart(SparkListenerJobStart start) {
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(start.stageInfos()).iterator();
    while (it.hasNext()) {
      if (((StageInfo) it.next()).name().indexOf("SparkHadoopWriter") >= 0) {
        seen++;
        return;
      }
    }
  }

  /** Returns the number of saves since the last call. */
  public synchronized int take() {
    int out = seen;
    seen = 0;
    return out;
  }
}

package provspark.intercept;

/** Stops a command because its lineage can't be captured and `on_error` is "fail". Its message names the error in Python. */
public class CaptureStop extends RuntimeException {
  static final String MARK = "provspark.stop ";

  public CaptureStop(String answer) {
    super(answer);
  }
}

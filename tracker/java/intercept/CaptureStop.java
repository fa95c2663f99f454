package provspark.intercept;

/** Stops a command because its lineage can't be captured and `on_error` is "fail". Its message names the error in Python. */
public class CaptureStop extends RuntimeException {
  private static final long serialVersionUID = 1L;
  public static final String MARK = "provspark.stop ";

  public CaptureStop(String answer) {
    super(answer);
  }
}

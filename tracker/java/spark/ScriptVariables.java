package provspark.spark;

import java.lang.reflect.Method;
import org.apache.spark.util.LexicalThreadLocal;

/** Thread-local variables of the running SQL script, whose holder has another name in Spark 4.0. Uses raw types for Janino. */
public class ScriptVariables {
  private static final String CATALYST = "org.apache.spark.sql.catalyst.";

  private ScriptVariables() {}

  public static scala.Option get() {
    return ((LexicalThreadLocal) holder()).get();
  }

  public static void set(scala.Option value) {
    try {
      Method set = LexicalThreadLocal.class.getMethod("org$apache$spark$util$LexicalThreadLocal$$set", new Class[] {scala.Option.class});
      set.invoke(holder(), new Object[] {value});
    } catch (Exception e) {
      throw new IllegalStateException(e.toString(), e);
    }
  }

  private static Object holder() {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    try {
      try {
        return Class.forName(CATALYST + "SqlScriptingContextManager$", true, loader).getField("MODULE$").get(null);
      } catch (ClassNotFoundException e) {
        return Class.forName(CATALYST + "SqlScriptingLocalVariableManager$", true, loader).getField("MODULE$").get(null);
      }
    } catch (Exception e) {
      throw new IllegalStateException(e.toString(), e);
    }
  }
}

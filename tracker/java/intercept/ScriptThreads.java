package provspark.intercept;

import java.lang.reflect.Field;
import java.net.Socket;
import org.apache.spark.util.LexicalThreadLocal;
import py4j.ClientServerConnection;
import py4j.GatewayConnection;
import py4j.Py4JPythonClientPerThread;

/** Finds the connection on which the Python script waits for a JVM thread, and SQL scripts that run. Raw types, for Janino. */
public class ScriptThreads {
  private static final String CATALYST = "org.apache.spark.sql.catalyst.";
  private static volatile Object variables = null;

  private final Object client;

  /** `client` is py4j's client for callbacks. With pinned threads, it knows the connections of Spark's own threads. */
  public ScriptThreads(Object client) {
    this.client = client;
  }

  /** Returns the remote and the local port of the connection on which Python waits for this thread, or "". */
  public String connection() {
    try {
      Socket socket = socket();
      return socket == null ? "" : socket.getPort() + " " + socket.getLocalPort();
    } catch (Throwable e) {
      return "";
    }
  }

  private Socket socket() throws Exception {
    Object task = field(Thread.currentThread(), "target");
    if (task == null) task = field(field(Thread.currentThread(), "holder"), "task"); // where Java 21 keeps it
    if (task instanceof GatewayConnection) return ((GatewayConnection) task).getSocket();
    if (task instanceof ClientServerConnection) return ((ClientServerConnection) task).getSocket();
    // A thread of Spark's that calls Python, such as a stream's.
    if (!(client instanceof Py4JPythonClientPerThread)) return null;
    ClientServerConnection own = ((Py4JPythonClientPerThread) client).getPerThreadConnection();
    return own == null ? null : own.getSocket();
  }

  private static Object field(Object owner, String name) throws Exception {
    if (owner == null) return null;
    for (Class c = owner.getClass(); c != null; c = c.getSuperclass()) {
      Field[] all = c.getDeclaredFields();
      for (int i = 0; i < all.length; i++) {
        if (!all[i].getName().equals(name)) continue;
        all[i].setAccessible(true);
        return all[i].get(owner);
      }
    }
    return null;
  }

  /** Whether this thread runs a SQL script. The holder of a script's variables has another name in Spark 4.0. */
  public static boolean inScript() {
    if (variables == null) variables = holder();
    return variables instanceof LexicalThreadLocal && ((LexicalThreadLocal) variables).get().isDefined();
  }

  private static Object holder() {
    String[] names = new String[] {"SqlScriptingContextManager$", "SqlScriptingLocalVariableManager$"};
    for (int i = 0; i < names.length; i++) {
      try {
        return Class.forName(CATALYST + names[i], true, Thread.currentThread().getContextClassLoader()).getField("MODULE$").get(null);
      } catch (Exception e) {
        continue;
      }
    }
    return "";
  }
}

package provspark;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** Makes our objects and looks into Spark's, one round trip a question. */
public class Plans {
  private final Map constructors = new HashMap();

  private Object instance(String name, Object[] arguments) throws Exception {
    if (!constructors.containsKey(name)) {
      constructors.put(name, getClass().getClassLoader().loadClass("provspark." + name).getConstructors()[0]);
    }
    return ((Constructor) constructors.get(name)).newInstance(arguments);
  }

  public Object make(String name) throws Exception {
    return instance(name, new Object[] {});
  }

  public Object make(String name, Object a0) throws Exception {
    return instance(name, new Object[] {a0});
  }

  public Object make(String name, Object a0, Object a1) throws Exception {
    return instance(name, new Object[] {a0, a1});
  }

  public Object make(String name, Object a0, Object a1, Object a2) throws Exception {
    return instance(name, new Object[] {a0, a1, a2});
  }

  public Object make(String name, Object a0, Object a1, Object a2, Object a3) throws Exception {
    return instance(name, new Object[] {a0, a1, a2, a3});
  }

  public Object make(String name, Object a0, Object a1, Object a2, Object a3, Object a4) throws Exception {
    return instance(name, new Object[] {a0, a1, a2, a3, a4});
  }

  public Object make(String name, Object a0, Object a1, Object a2, Object a3, Object a4, Object a5) throws Exception {
    return instance(name, new Object[] {a0, a1, a2, a3, a4, a5});
  }

  /** Whether `plan` holds a node of this class, or with a subquery where none is named, that also stands in `other`. */
  public boolean holds(LogicalPlan plan, String cls, LogicalPlan other) {
    boolean meant = cls.length() == 0 ? plan.subqueries().nonEmpty() : plan.getClass().getSimpleName().equals(cls);
    if (meant && stands(plan, other)) return true;
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(plan.children()).iterator();
    while (it.hasNext()) if (holds((LogicalPlan) it.next(), cls, other)) return true;
    return false;
  }

  private static boolean stands(LogicalPlan node, LogicalPlan plan) {
    if (plan == node) return true;
    Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(plan.children()).iterator();
    while (it.hasNext()) if (stands(node, (LogicalPlan) it.next())) return true;
    return false;
  }

  /** Reads a private field, of the object's class or one above it. */
  public Object field(Object owner, String name) throws Exception {
    return find(owner, name).get(owner);
  }

  public void setField(Object owner, String name, Object value) throws Exception {
    find(owner, name).set(owner, value);
  }

  private static Field find(Object owner, String name) throws NoSuchFieldException {
    for (Class c = owner.getClass(); c != null; c = c.getSuperclass()) {
      Field[] all = c.getDeclaredFields();
      for (int i = 0; i < all.length; i++) {
        if (all[i].getName().equals(name)) {
          all[i].setAccessible(true);
          return all[i];
        }
      }
    }
    throw new NoSuchFieldException(owner.getClass().getName() + "." + name);
  }
}

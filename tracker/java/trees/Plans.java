package provspark.trees;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.python.UserDefinedPythonFunction;

/** Creates our Java objects and inspects Spark's, with one py4j round trip per call. */
public class Plans {
  private final Map constructors = new HashMap();

  /** `name` is the full name of the class. */
  private Object instance(String name, Object[] arguments) throws Exception {
    if (!constructors.containsKey(name)) {
      constructors.put(name, getClass().getClassLoader().loadClass(name).getConstructors()[0]);
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

  /** Marks a DataFrame (see Marks). If it refers to columns of an outer query, it has no analysed plan yet: returns false. */
  public boolean mark(Dataset frame, String site, String name) {
    try {
      return Marks.mark(frame.queryExecution().analyzed(), site, name);
    } catch (Exception e) {
      return false;
    }
  }

  public void transformer(Dataset frame, String described) {
    Marks.transformer(frame.queryExecution().analyzed(), described);
  }

  public void models(Dataset frame, String numbers) {
    Marks.models(frame.queryExecution().analyzed(), numbers);
  }

  public String models(LogicalPlan plan) {
    return Marks.models(plan);
  }

  public LogicalPlan[] computed(LogicalPlan plan) {
    List out = new ArrayList();
    Marks.computed(plan, out);
    return (LogicalPlan[]) out.toArray(new LogicalPlan[0]);
  }

  public void named(UserDefinedPythonFunction function, String name) {
    Marks.named(function.func(), name);
  }

  /** Returns the line of the first node of this class, or, if it is "", of the first node with a subquery. "" if none. */
  public String site(LogicalPlan plan, String cls) {
    return Marks.site(plan, cls, "");
  }

  /** Returns the class name of what a relation reads. */
  public String source(LogicalRelation relation) {
    return relation.relation().getClass().getSimpleName();
  }
}

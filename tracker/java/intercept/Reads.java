package provspark.intercept;

import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.CollectMetrics;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.CommandResult;
import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.catalyst.plans.logical.SetVariable;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.BooleanType$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType$;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.TimestampNTZType$;
import org.apache.spark.sql.types.TimestampType$;
import static provspark.trees.Trees.*;

/** Inputs of the script's actions, and the kind of values that they return. Uses raw types, because Janino has no generics. */
public class Reads {
  /** Aggregate functions whose result is one number computed from all rows. */
  private static final Set NUMBERS = new HashSet(
      Arrays.asList(
          new String[] {
            "Average", "BoolAnd", "BoolOr", "Corr", "Count", "CountIf", "CovPopulation", "CovSample",
            "HyperLogLogPlusPlus", "Kurtosis", "Max", "Min", "RegrAvgX", "RegrAvgY", "RegrCount", "RegrIntercept",
            "RegrR2", "RegrSXX", "RegrSXY", "RegrSYY", "RegrSlope", "Skewness", "StddevPop", "StddevSamp", "Sum",
            "VariancePop", "VarianceSamp"
          }));
  /** Those that count rows, so that their result does not depend on which rows were chosen. */
  private static final Set COUNTS = new HashSet(Arrays.asList(new String[] {"Count", "CountIf", "HyperLogLogPlusPlus"}));
  private static final Set CHOOSING =
      new HashSet(Arrays.asList(new String[] {"GlobalLimit", "LocalLimit", "Offset", "Tail", "Sample"}));

  private final Map numbers = new IdentityHashMap();
  private final List leaves = new ArrayList();
  private final List sizes = new ArrayList();

  /**
   * Returns the values of two settings, "single" or "rows", the numbers of the leaves separated by spaces, and the columns as in
   * LocalRows. The parts are separated by \1.
   */
  public String of(Dataset frame, String setting, String other) {
    SQLConf conf = frame.sparkSession().sessionState().conf();
    String on = conf.getConfString(setting, "true");
    return on + "\1" + conf.getConfString(other, "") + "\1" + of(frame.queryExecution().analyzed());
  }

  /** Returns the same for a plan, without the settings. */
  public synchronized String of(LogicalPlan plan) {
    StringBuilder out = new StringBuilder(single(plan) ? "single" : "rows");
    out.append('\1');
    List found = new ArrayList();
    visit(plan, found);
    for (int i = 0; i < found.size(); i++) out.append(found.get(i)).append(' ');
    out.append('\1');
    StructField[] fields = plan.schema().fields();
    for (int i = 0; i < fields.length; i++) {
      out.append(fields[i].name()).append('\0').append(fields[i].dataType().simpleString()).append('\0');
    }
    return out.toString();
  }

  public synchronized LogicalPlan leaf(int number) {
    return (LogicalPlan) leaves.get(number);
  }

  private void visit(LogicalPlan plan, List out) {
    Iterator inner = list(plan.subqueries()).iterator();
    while (inner.hasNext()) visit((LogicalPlan) inner.next(), out);
    if ((plan instanceof Command && !(plan instanceof SetVariable)) || plan instanceof CommandResult) return;
    if (plan.children().isEmpty()) {
      if (!own(plan)) out.add(Integer.valueOf(number(plan)));
      return;
    }
    Iterator below = list(plan.children()).iterator();
    while (below.hasNext()) visit((LogicalPlan) below.next(), out);
  }

  /** Whether a leaf has rows that the script created, and therefore knows. */
  private static boolean own(LogicalPlan leaf) {
    return leaf instanceof LocalRelation || leaf instanceof Range || leaf instanceof OneRowRelation
        || leaf instanceof CTERelationRef || leaf.getClass().getSimpleName().equals("ResolvedInlineTable");
  }

  /** Numbers a leaf. Leaves with the same files in the same state have the same number. */
  private int number(LogicalPlan leaf) {
    Object key = leaf;
    Long size = Long.valueOf(-1L);
    if (leaf instanceof LogicalRelation && ((LogicalRelation) leaf).relation() instanceof HadoopFsRelation) {
      HadoopFsRelation relation = (HadoopFsRelation) ((LogicalRelation) leaf).relation();
      key = relation.location();
      size = Long.valueOf(relation.location().sizeInBytes());
    }
    Integer known = (Integer) numbers.get(key);
    if (known != null && sizes.get(known.intValue()).equals(size)) return known.intValue();
    numbers.put(key, Integer.valueOf(leaves.size()));
    leaves.add(leaf);
    sizes.add(size);
    return leaves.size() - 1;
  }

  // -- one number

  /**
   * Whether a plan has one row of numbers, booleans, dates or times that aggregate functions computed from all rows, or counts
   * of chosen rows.
   */
  private static boolean single(LogicalPlan plan) {
    if (!plain(list(plan.output()))) return false;
    LogicalPlan p = plan;
    while (p instanceof SubqueryAlias || p instanceof Project || p instanceof GlobalLimit || p instanceof LocalLimit
        || p instanceof Sort || p instanceof CollectMetrics) {
      if (p instanceof Project && !computed(list(((Project) p).projectList()))) return false;
      p = (LogicalPlan) p.children().apply(0);
    }
    if (!(p instanceof Aggregate) || !((Aggregate) p).groupingExpressions().isEmpty()) return false;
    return numbers(list(((Aggregate) p).aggregateExpressions()), chosen(p));
  }

  /** Whether a node below selects a few of the rows, so that an aggregate of the others may be the value of one row. */
  private static boolean chosen(LogicalPlan plan) {
    List below = list(plan.children());
    for (int i = 0; i < below.size(); i++) {
      LogicalPlan child = (LogicalPlan) below.get(i);
      if (CHOOSING.contains(child.getClass().getSimpleName()) || chosen(child)) return true;
    }
    return false;
  }

  /** Whether the Observation of an observed DataFrame returns only such numbers. */
  public boolean observed(Dataset frame) {
    LogicalPlan plan = frame.queryExecution().analyzed();
    return plan instanceof CollectMetrics && numbers(list(((CollectMetrics) plan).metrics()), chosen(plan));
  }

  private static boolean numbers(List expressions, boolean chosen) {
    if (!plain(expressions)) return false;
    for (int i = 0; i < expressions.size(); i++) if (!number((Expression) expressions.get(i), chosen)) return false;
    return true;
  }

  private static boolean number(Expression e, boolean chosen) {
    if (e instanceof AggregateExpression) {
      String name = ((AggregateExpression) e).aggregateFunction().getClass().getSimpleName();
      return (chosen ? COUNTS : NUMBERS).contains(name) && plain(e.dataType());
    }
    if (!computed(e)) return false;
    Iterator it = list(e.children()).iterator();
    while (it.hasNext()) if (!number((Expression) it.next(), chosen)) return false;
    return true;
  }

  private static boolean computed(List expressions) {
    for (int i = 0; i < expressions.size(); i++) {
      Expression e = (Expression) expressions.get(i);
      if (!computed(e) || !computed(list(e.children()))) return false;
    }
    return true;
  }

  private static boolean computed(Expression e) {
    return !(e instanceof PlanExpression) && !e.getClass().getSimpleName().startsWith("Python");
  }

  private static boolean plain(List expressions) {
    for (int i = 0; i < expressions.size(); i++) if (!plain(((Expression) expressions.get(i)).dataType())) return false;
    return true;
  }

  private static boolean plain(DataType type) {
    return type instanceof NumericType || type == BooleanType$.MODULE$ || type == DateType$.MODULE$
        || type == TimestampType$.MODULE$ || type == TimestampNTZType$.MODULE$;
  }

  /** Returns scheme, authority and path of a folder, separated by NUL. */
  public static String qualified(SparkSession session, String folder) throws Exception {
    Path path = new Path(folder);
    URI uri = path.getFileSystem(session.sessionState().newHadoopConf()).makeQualified(path).toUri();
    return uri.getScheme() + '\0' + (uri.getAuthority() == null ? "" : uri.getAuthority()) + '\0' + uri.getPath();
  }

  // -- limits and order

  /** Returns the plan below the limits on top, or null if there are none or if they apply to sorted rows. */
  public LogicalPlan limited(LogicalPlan plan) {
    LogicalPlan p = plan;
    LogicalPlan below = null;
    while (true) {
      if (p instanceof GlobalLimit && ((GlobalLimit) p).child() instanceof LocalLimit) {
        p = ((LocalLimit) ((GlobalLimit) p).child()).child();
        below = p;
      } else if (p instanceof SubqueryAlias || (p instanceof Project && !special((Project) p))) {
        p = (LogicalPlan) p.children().apply(0);
      } else {
        return sorted(p) ? null : below;
      }
    }
  }

  /** Whether the first rows of a plan are the first of sorted rows, which Spark finds without a full sort. */
  public boolean sorted(LogicalPlan plan) {
    LogicalPlan p = plan;
    while (p instanceof SubqueryAlias || p instanceof Project || p instanceof GlobalLimit || p instanceof LocalLimit) {
      p = (LogicalPlan) p.children().apply(0);
    }
    return p instanceof Sort && ((Sort) p).global();
  }

  /** Limits a plan to its first n rows. */
  public LogicalPlan first(LogicalPlan plan, int n) {
    Expression number = Literal$.MODULE$.apply(Integer.valueOf(n));
    return new GlobalLimit(number, new LocalLimit(number, plan));
  }

  private static boolean special(Project project) {
    return !project.deterministic() || project.subqueries().nonEmpty();
  }

  /** Replaces the plan below the limits. */
  public LogicalPlan above(LogicalPlan plan, LogicalPlan below, LogicalPlan instead) {
    if (plan == below) return instead;
    return withChildren(plan, one(above((LogicalPlan) plan.children().apply(0), below, instead)));
  }

  /** Returns the class of the first node or expression with a Python function, or "". */
  public String python(LogicalPlan plan) {
    String name = plan.getClass().getSimpleName();
    if (name.indexOf("Python") >= 0 || name.indexOf("Pandas") >= 0 || name.indexOf("InArrow") >= 0) return name;
    Iterator it = list(plan.expressions()).iterator();
    while (it.hasNext()) {
      String found = within((Expression) it.next());
      if (found.length() > 0) return found;
    }
    List inside = list(plan.children());
    inside.addAll(list(plan.subqueries()));
    for (int i = 0; i < inside.size(); i++) {
      String found = python((LogicalPlan) inside.get(i));
      if (found.length() > 0) return found;
    }
    return "";
  }

  private static String within(Expression e) {
    String name = e.getClass().getSimpleName();
    if (name.startsWith("Python")) return name;
    Iterator it = list(e.children()).iterator();
    while (it.hasNext()) {
      String found = within((Expression) it.next());
      if (found.length() > 0) return found;
    }
    return "";
  }
}

package provspark.plan;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.InSubquery;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.OuterReference;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.expressions.ScalaUDF;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.WindowSpecDefinition;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import provspark.trees.Json;
import provspark.trees.Marks;
import static provspark.trees.Trees.*;

/** Writes the expressions of one operation as JSON. Raw types, for Janino. */
public class Expressions {
  private final SqlCheck check;
  private final StringBuilder json;
  private final StringBuilder details = new StringBuilder();
  private final Map in;
  private final Map out;
  private final Map queries;
  private boolean any = false;

  /**
   * in, out: labels of the columns in reach and of those that it makes, by ExprId; queries: numbers of its subqueries.
   */
  public Expressions(SqlCheck check, StringBuilder json, Map in, Map out, Map queries) {
    this.check = check;
    this.json = json;
    this.in = in;
    this.out = out;
    this.queries = queries;
  }

  /** sides: labels of the columns of each child. */
  void of(Operator operator, LogicalPlan plan, List sides) {
    json.append(",\"expressions\":[");
    operator.tell(plan, this, sides);
    json.append("],\"details\":[").append(details).append("]");
  }

  // -- for operators

  /** Writes the expressions that columns are computed from. */
  public void named(List expressions) {
    for (int i = 0; i < expressions.size(); i++) {
      if (!(expressions.get(i) instanceof Alias)) continue;
      Alias a = (Alias) expressions.get(i);
      write("output", (Expression) a.child(), id(a.toAttribute()), "");
    }
  }

  public void one(String role, Expression e) {
    write(role, e, "-1", "");
  }

  public void all(String role, List expressions) {
    for (int i = 0; i < expressions.size(); i++) {
      Expression e = (Expression) expressions.get(i);
      if (e instanceof SortOrder) order((SortOrder) e);
      else one(role, e);
    }
  }

  private void order(SortOrder o) {
    String how = pair("direction", o.direction().sql()) + "," + pair("nulls", o.nullOrdering().sql().substring(6));
    write("order", (Expression) o.child(), "-1", how);
  }

  /** Writes what one of several branches puts into a column; in: labels of the columns that it reads. */
  public void branch(String kind, int number, Expression e, Map in, Attribute column) {
    Expressions branch = new Expressions(check, json, in, out, queries);
    branch.any = any;
    branch.branch(kind, number, e, column);
    any = true;
  }

  public void branch(String kind, int number, Expression e, Attribute column) {
    write("branch", e, id(column), pair(kind, String.valueOf(number)));
  }

  /** Writes a node's expressions without knowing what they mean: plain columns count as keys of a group. */
  public void others(LogicalPlan plan, String role) {
    List expressions = list(plan.expressions());
    Set made = new HashSet(list(plan.output()));
    for (int i = 0; i < expressions.size(); i++) {
      if (made.contains(expressions.get(i))) continue;
      one(expressions.get(i) instanceof Attribute ? "group" : role, (Expression) expressions.get(i));
    }
  }

  public void detail(String key, Object value) {
    details.append(details.length() == 0 ? "" : ",").append(pair(key, value instanceof Expression ? ((Expression) value).sql() : value.toString()));
  }

  /** Whether a column is passed on unchanged. */
  public boolean handsOn(Attribute a) {
    return out.get(a.exprId()).equals(in.get(a.exprId()));
  }

  /** Returns the number of an output column. */
  public String id(Attribute a) {
    String label = (String) out.get(a.exprId());
    return label.substring(label.lastIndexOf('#') + 1);
  }

  // -- writing

  private static String pair(String key, String value) {
    return "[" + Json.quoted(key) + "," + Json.quoted(value) + "]";
  }

  private void write(String role, Expression user, String column, String details) {
    Expression e = Sql.plain(user);
    String sql = "";
    String shown = "";
    String why = "";
    int number = -1;
    String functions = functions(e);
    try {
      sql = new Sql(in, queries, false).of(e);
      // Spark knows a function of the user's by its name only where replay registers it.
      if (functions.length() == 0) number = check.add(e, new Sql(in, queries, true).of(e), in, queries);
      else shown = shown(e);
    } catch (Sql.Unwritten x) {
      why = x.getMessage();
      shown = shown(e);
    }
    json.append(any ? ",\n" : "").append("{\"role\":\"").append(role).append("\",\"column\":").append(column);
    json.append(",\"sql\":").append(Json.quoted(sql)).append(",\"shown\":").append(Json.quoted(shown));
    json.append(",\"why\":").append(Json.quoted(why)).append(",\"check\":").append(number);
    details += details.length() == 0 || functions.length() == 0 ? functions : "," + functions;
    json.append(",\"details\":[").append(details).append("],\"terms\":[");
    any = true;
    terms(e, new boolean[1]);
    json.append("]}");
  }

  /** Returns the Python functions in an expression: how Spark calls each, and what it returns. */
  private static String functions(Expression e) {
    String found = "";
    if (e instanceof PythonUDF) {
      PythonUDF f = (PythonUDF) e;
      found = pair("function " + Marks.function(f.func(), f.name()), f.evalType() + " " + f.dataType().json());
    }
    List children = list(e.children());
    for (int i = 0; i < children.size(); i++) {
      String more = functions((Expression) children.get(i));
      if (more.length() > 0) found += (found.length() == 0 ? "" : ",") + more;
    }
    return found;
  }

  private static String shown(Expression e) {
    try {
      return e.sql();
    } catch (RuntimeException x) {
      return e.toString();
    }
  }

  private void terms(Expression e, boolean[] more) {
    List children = list(e.children());
    String kind = e.getClass().getSimpleName();
    String value = "";
    String column = "-1";
    if (e instanceof Attribute || e instanceof OuterReference) {
      Attribute a = (Attribute) (e instanceof Attribute ? e : ((OuterReference) e).e());
      String label = (String) in.get(a.exprId());
      value = a.name();
      column = label == null ? "-1" : label.substring(label.lastIndexOf('#') + 1);
      children.clear();
    } else if (e instanceof SubqueryExpression) {
      value = String.valueOf(queries.get(((SubqueryExpression) e).exprId()));
      children.clear();
    } else if (e instanceof Literal) {
      value = ((Literal) e).value() == null ? "NULL" : e.toString();
    } else if (e instanceof Cast) {
      value = e.dataType().catalogString();
    } else if (e instanceof WindowSpecDefinition) {
      value = String.valueOf(((WindowSpecDefinition) e).partitionSpec().size());
    } else if (e instanceof SortOrder) {
      value = ((SortOrder) e).direction().sql() + " " + ((SortOrder) e).nullOrdering().sql();
    } else if (e instanceof InSubquery) {
      children = list(((InSubquery) e).values());
      children.add(((InSubquery) e).query());
    } else if (e instanceof PythonUDF) {
      value = Marks.function(((PythonUDF) e).func(), ((PythonUDF) e).name());
    } else if (e instanceof ScalaUDF) {
      value = ((ScalaUDF) e).name();
    } else {
      value = e.prettyName();
      if (!e.deterministic()) value = random(e) ? "nondeterministic " + value : value;
    }
    json.append(more[0] ? ",[" : "[").append(Json.quoted(kind)).append(",").append(Json.quoted(value));
    json.append(",").append(column).append(",").append(children.size()).append("]");
    more[0] = true;
    for (int i = 0; i < children.size(); i++) terms((Expression) children.get(i), more);
  }

  /** Whether this node is nondeterministic itself, and none below it is. */
  private static boolean random(Expression e) {
    List children = list(e.children());
    for (int i = 0; i < children.size(); i++) if (!((Expression) children.get(i)).deterministic()) return false;
    return true;
  }
}

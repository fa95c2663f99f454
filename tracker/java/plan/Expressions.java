package provspark.plan;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.InSubquery;
import org.apache.spark.sql.catalyst.expressions.InheritAnalysisRules;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.OuterReference;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.expressions.ScalaUDF;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.WindowSpecDefinition;
import org.apache.spark.sql.catalyst.plans.logical.*;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import provspark.trees.Json;
import provspark.trees.Marks;
import static provspark.trees.Trees.*;

/** The expressions of one operation, as JSON. Raw types, for Janino. */
public class Expressions {
  private final SqlCheck check;
  private final StringBuilder json;
  private final StringBuilder details = new StringBuilder();
  private final Map in;
  private final Map out;
  private final Map queries;
  private boolean any = false;

  /** in, out: by ExprId the labels of the columns in reach and of those that it makes; queries: its subqueries' numbers. */
  public Expressions(SqlCheck check, StringBuilder json, Map in, Map out, Map queries) {
    this.check = check;
    this.json = json;
    this.in = in;
    this.out = out;
    this.queries = queries;
  }

  /** sides: labels of the columns of each child. */
  public void of(LogicalPlan plan, List sides) {
    json.append(",\"expressions\":[");
    if (plan instanceof Project) named(list(((Project) plan).projectList()));
    else if (plan instanceof Filter) one("condition", ((Filter) plan).condition());
    else if (plan instanceof Join) join((Join) plan);
    else if (plan instanceof Aggregate) aggregate((Aggregate) plan);
    else if (plan instanceof Sort) sort((Sort) plan);
    else if (plan instanceof Window) window((Window) plan);
    else if (plan instanceof Union) union((Union) plan, sides);
    else if (plan instanceof Expand) expand((Expand) plan);
    else if (plan instanceof Generate) generate((Generate) plan);
    else if (plan instanceof Deduplicate) all("group", list(((Deduplicate) plan).keys()));
    else if (plan instanceof GlobalLimit) detail("n", ((GlobalLimit) plan).limitExpr());
    else if (plan instanceof LocalLimit) detail("n", ((LocalLimit) plan).limitExpr());
    else if (plan instanceof Offset) detail("n", ((Offset) plan).offsetExpr());
    else if (plan instanceof Tail) detail("n", ((Tail) plan).limitExpr());
    else if (plan instanceof SetOperation) detail("all", plan.productElement(2).toString());
    else if (plan instanceof Sample) sample((Sample) plan);
    else if (plan instanceof RepartitionByExpression) all("partition", list(((RepartitionByExpression) plan).partitionExpressions()));
    else if (plan instanceof LateralJoin) lateral((LateralJoin) plan);
    else if (plan instanceof LogicalRelation) relation((LogicalRelation) plan);
    else if (!plan.children().isEmpty()) other(plan);
    json.append("],\"details\":[").append(details).append("]");
  }

  private void named(List expressions) {
    for (int i = 0; i < expressions.size(); i++) {
      if (!(expressions.get(i) instanceof Alias)) continue;
      Alias a = (Alias) expressions.get(i);
      write("output", (Expression) a.child(), id(a.toAttribute()), "");
    }
  }

  private void one(String role, Expression e) {
    write(role, e, "-1", "");
  }

  private void all(String role, List expressions) {
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

  private void join(Join join) {
    detail("type", join.joinType().sql());
    if (!join.condition().isEmpty()) one("condition", (Expression) join.condition().get());
  }

  private void lateral(LateralJoin join) {
    detail("type", join.joinType().sql());
    if (!join.condition().isEmpty()) one("condition", (Expression) join.condition().get());
  }

  private void aggregate(Aggregate a) {
    all("group", list(a.groupingExpressions()));
    named(list(a.aggregateExpressions()));
  }

  private void sort(Sort sort) {
    detail("global", String.valueOf(sort.global()));
    all("order", list(sort.order()));
  }

  private void window(Window window) {
    all("partition", list(window.partitionSpec()));
    all("order", list(window.orderSpec()));
    named(list(window.windowExpressions()));
  }

  private void union(Union union, List sides) {
    List output = list(union.output());
    List children = list(union.children());
    for (int i = 0; i < children.size(); i++) {
      List columns = list(((LogicalPlan) children.get(i)).output());
      Map labels = (Map) sides.get(i);
      for (int j = 0; j < columns.size(); j++) {
        Expression e = (Expression) columns.get(j);
        new Expressions(check, json, labels, out, queries).branch(i, e, id((Attribute) output.get(j)), any);
        any = true;
      }
    }
  }

  private void branch(int number, Expression e, String column, boolean more) {
    any = more;
    write("branch", e, column, pair("child", String.valueOf(number)));
  }

  private void expand(Expand expand) {
    List output = list(expand.output());
    List copies = list(expand.projections());
    for (int i = 0; i < copies.size(); i++) {
      List copy = list((scala.collection.Seq) copies.get(i));
      for (int j = 0; j < copy.size(); j++) {
        Attribute a = (Attribute) output.get(j);
        if (!out.get(a.exprId()).equals(in.get(a.exprId()))) {
          write("branch", (Expression) copy.get(j), id(a), pair("copy", String.valueOf(i)));
        }
      }
    }
    detail("copies", String.valueOf(copies.size()));
  }

  private void generate(Generate g) {
    StringBuilder made = new StringBuilder();
    List columns = list(g.generatorOutput());
    for (int i = 0; i < columns.size(); i++) made.append(i == 0 ? "" : " ").append(id((Attribute) columns.get(i)));
    detail("outer", String.valueOf(g.outer()));
    detail("columns", made.toString());
    one("generator", (Expression) g.generator());
  }

  private void sample(Sample s) {
    detail("lower", String.valueOf(s.lowerBound()));
    detail("upper", String.valueOf(s.upperBound()));
    detail("replacement", String.valueOf(s.withReplacement()));
  }

  private void relation(LogicalRelation r) {
    if (r.catalogTable().nonEmpty()) detail("table", ((CatalogTable) r.catalogTable().get()).identifier().unquotedString());
    if (r.relation() instanceof HadoopFsRelation) detail("format", ((HadoopFsRelation) r.relation()).fileFormat().toString());
  }

  /** A node that has no text of its own: what it computes from, as far as it tells. */
  private void other(LogicalPlan plan) {
    if (plan instanceof AsOfJoin) detail("type", ((AsOfJoin) plan).joinType().sql());
    List expressions = list(plan.expressions());
    Set made = new HashSet(list(plan.output()));
    for (int i = 0; i < expressions.size(); i++) {
      if (made.contains(expressions.get(i))) continue;
      boolean group = expressions.get(i) instanceof Attribute;
      one(group ? "group" : plan instanceof AsOfJoin ? "condition" : "output", (Expression) expressions.get(i));
    }
  }

  // -- writing

  private String id(Attribute a) {
    String label = (String) out.get(a.exprId());
    return label.substring(label.lastIndexOf('#') + 1);
  }

  private static String pair(String key, String value) {
    return "[" + Json.quoted(key) + "," + Json.quoted(value) + "]";
  }

  private void detail(String key, Object value) {
    details.append(details.length() == 0 ? "" : ",").append(pair(key, value instanceof Expression ? ((Expression) value).sql() : value.toString()));
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
      // A function of the user's is known by its name only where replay makes it so.
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

  /** The Python functions in an expression: how Spark calls each, and what it returns. */
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

  /** Whether it is this node that is not deterministic, and none below it. */
  private static boolean random(Expression e) {
    List children = list(e.children());
    for (int i = 0; i < children.size(); i++) if (!((Expression) children.get(i)).deterministic()) return false;
    return true;
  }
}

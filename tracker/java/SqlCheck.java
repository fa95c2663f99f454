package provspark;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Generator;
import org.apache.spark.sql.catalyst.expressions.InSubquery;
import org.apache.spark.sql.catalyst.expressions.OuterReference;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.WindowExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.BooleanType$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Metadata;
import static provspark.Trees.*;

/**
 * Whether Spark reads texts back as the expressions that they were written for. All are read in one plan; only where one of
 * them is not read as it should, each is read alone. Raw types, for Janino.
 */
public class SqlCheck {
  private final SparkSession session;
  private final UUID own = UUID.randomUUID();
  private final List expressions = new ArrayList();
  private final List texts = new ArrayList();
  private final Map columns = new LinkedHashMap();

  public SqlCheck(SparkSession session) {
    this.session = session;
  }

  /** Takes a text of flat subqueries, and its expression as written over the labels; returns its number. */
  public int add(Expression e, String text, Map labels, Map subqueries) {
    expressions.add(e.transformDown(new Rebinding(this, labels, subqueries)));
    texts.add(text);
    return texts.size() - 1;
  }

  /** By number, whether the text says what the expression says. */
  public boolean[] run() {
    boolean[] out = new boolean[texts.size()];
    List simple = new ArrayList();
    for (int i = 0; i < out.length; i++) if (!alone(i)) simple.add(Integer.valueOf(i));
    List found = read(simple);
    for (int i = 0; found != null && i < simple.size(); i++) {
      out[((Integer) simple.get(i)).intValue()] = same(simple.get(i), found.get(i));
    }
    for (int i = 0; i < out.length; i++) {
      if (out[i]) continue;
      List single = read(one(Integer.valueOf(i)));
      for (int j = 0; single != null && j < single.size(); j++) out[i] = out[i] || same(Integer.valueOf(i), single.get(j));
    }
    return out;
  }

  /** Windows, generators and aggregates change the plan around them. */
  private boolean alone(int i) {
    return holds((Expression) expressions.get(i));
  }

  private static boolean holds(Expression e) {
    if (e instanceof WindowExpression || e instanceof Generator || e.getClass().getSimpleName().equals("AggregateExpression")) return true;
    List children = list(e.children());
    for (int i = 0; i < children.size(); i++) if (holds((Expression) children.get(i))) return true;
    return false;
  }

  private boolean same(Object number, Object found) {
    Expression e = (Expression) expressions.get(((Integer) number).intValue());
    return ((Expression) found).canonicalized().equals(e.canonicalized());
  }

  /** What Spark reads some texts as; null where it can't. */
  private List read(List numbers) {
    try {
      List named = new ArrayList();
      for (int i = 0; i < numbers.size(); i++) {
        String text = (String) texts.get(((Integer) numbers.get(i)).intValue());
        named.add(alias((Expression) session.sessionState().sqlParser().parseExpression(text), "c" + i));
      }
      LogicalPlan leaf = LocalRelation$.MODULE$.apply(seq(new ArrayList(columns.values())));
      LogicalPlan plan = (LogicalPlan) session.sessionState().analyzer().execute(new Project(seq(named), leaf));
      List out = new ArrayList();
      boolean apart = numbers.size() == 1 && alone(((Integer) numbers.get(0)).intValue());
      if (apart) collect(plan, out);
      else children(list(plan.expressions()), out);
      return apart || out.size() == numbers.size() ? out : null;
    } catch (Exception e) {
      return null;
    }
  }

  private static void collect(LogicalPlan plan, List out) {
    if (plan instanceof Window) children(list(((Window) plan).windowExpressions()), out);
    else if (plan instanceof Generate) out.add(((Generate) plan).generator());
    else if (plan instanceof Aggregate || plan instanceof Project) children(list(plan.expressions()), out);
    List below = list(plan.children());
    for (int i = 0; i < below.size(); i++) collect((LogicalPlan) below.get(i), out);
  }

  private static void children(List named, List out) {
    for (int i = 0; i < named.size(); i++) {
      Expression e = (Expression) named.get(i);
      out.add(e instanceof Alias ? ((Alias) e).child() : e);
    }
  }

  /** The column of a label: of one number in all expressions, and of no number that Spark gives. */
  private AttributeReference column(String label, DataType type) {
    if (!columns.containsKey(label)) {
      ExprId id = new ExprId(columns.size(), own);
      columns.put(label, new AttributeReference(label, type, true, Metadata.empty(), id, seq(new ArrayList())));
    }
    return (AttributeReference) columns.get(label);
  }

  static class Rebinding extends scala.runtime.AbstractPartialFunction {
    private final SqlCheck check;
    private final Map labels;
    private final Map subqueries;

    Rebinding(SqlCheck check, Map labels, Map subqueries) {
      this.check = check;
      this.labels = labels;
      this.subqueries = subqueries;
    }

    public boolean isDefinedAt(Object e) {
      return e instanceof Attribute || e instanceof OuterReference || e instanceof SubqueryExpression || e instanceof InSubquery;
    }

    public Object applyOrElse(Object e, scala.Function1 otherwise) {
      if (!isDefinedAt(e)) return otherwise.apply(e);
      if (e instanceof InSubquery) return subquery(((InSubquery) e).query(), BooleanType$.MODULE$);
      if (e instanceof SubqueryExpression) return subquery(e, ((Expression) e).dataType());
      Attribute a = (Attribute) (e instanceof OuterReference ? ((OuterReference) e).e() : e);
      return check.column((String) labels.get(a.exprId()), a.dataType());
    }

    private Object subquery(Object e, DataType type) {
      return check.column("subquery#" + subqueries.get(((SubqueryExpression) e).exprId()), type);
    }
  }
}

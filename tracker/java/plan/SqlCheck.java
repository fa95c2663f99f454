package provspark.plan;

import java.util.ArrayList;
import java.util.Arrays;
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
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.OuterReference;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.WindowExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.BooleanType$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType$;
import org.apache.spark.sql.types.IntegerType$;
import org.apache.spark.sql.types.LongType$;
import org.apache.spark.sql.types.Metadata;
import static provspark.spark.LogicalPlans.*;
import static provspark.trees.Trees.*;

/**
 * Checks that Spark reads texts back as the expressions that they were written for. It reads all of them in one plan,
 * and those that differ once more, each alone. Raw types, for Janino.
 */
public class SqlCheck {
  private final SparkSession session;
  private final Operators operators;
  private final UUID own = UUID.randomUUID();
  private final List expressions = new ArrayList();
  private final List texts = new ArrayList();
  private final Map columns = new LinkedHashMap();

  public SqlCheck(SparkSession session, Operators operators) {
    this.session = session;
    this.operators = operators;
  }

  /** Adds an expression over labelled columns and its text, with flat subqueries; returns its number. */
  public int add(Expression e, String text, Map labels, Map subqueries) {
    expressions.add(e.transformDown(new Rebinding(this, labels, subqueries)));
    texts.add(text);
    return texts.size() - 1;
  }

  /** Returns, by number, whether the text means what the expression means. */
  public boolean[] run() {
    SparkSession.setActiveSession(session);
    boolean[] out = new boolean[texts.size()];
    for (int i = 0; i < out.length; i++) out[i] = plain((Expression) expressions.get(i));
    together(out, ROW);
    together(out, AGGREGATE);
    for (int i = 0; i < out.length; i++) {
      if (out[i]) continue;
      List single = read(one(Integer.valueOf(i)));
      for (int j = 0; single != null && j < single.size(); j++) out[i] = out[i] || same(Integer.valueOf(i), single.get(j));
    }
    return out;
  }

  /**
   * Whether an expression has only nodes whose text has one meaning under all settings: most have, and reading takes
   * time.
   */
  private static boolean plain(Expression e) {
    if (!PLAIN.contains(e.getClass().getSimpleName())) return false;
    if (e instanceof Literal && !PLAIN_TYPES.contains(e.dataType())) return false;
    List children = list(e.children());
    for (int i = 0; i < children.size(); i++) if (!plain((Expression) children.get(i))) return false;
    return true;
  }

  private static final List PLAIN = Arrays.asList(new String[] {
      "AttributeReference", "Literal", "And", "Or", "Not", "EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual",
      "GreaterThan", "GreaterThanOrEqual", "IsNull", "IsNotNull", "CaseWhen"});
  private static final List PLAIN_TYPES = Arrays.asList(new Object[] {
      IntegerType$.MODULE$, LongType$.MODULE$, DoubleType$.MODULE$, BooleanType$.MODULE$});

  private void together(boolean[] out, int kind) {
    List numbers = new ArrayList();
    for (int i = 0; i < out.length; i++) if (!out[i] && kind((Expression) expressions.get(i)) == kind) numbers.add(Integer.valueOf(i));
    if (numbers.isEmpty()) return;
    List found = read(numbers);
    for (int i = 0; found != null && i < numbers.size(); i++) {
      out[((Integer) numbers.get(i)).intValue()] = same(numbers.get(i), found.get(i));
    }
  }

  private static final int ROW = 0;
  private static final int AGGREGATE = 1;
  private static final int ALONE = 2;

  /** Returns what an expression does to the plan around it: nothing, turn it into one aggregate, or more than that. */
  private static int kind(Expression e) {
    if (e instanceof WindowExpression || e instanceof Generator) return ALONE;
    int kind = e.getClass().getSimpleName().equals("AggregateExpression") ? AGGREGATE : ROW;
    List children = list(e.children());
    for (int i = 0; i < children.size(); i++) kind = Math.max(kind, kind((Expression) children.get(i)));
    return kind;
  }

  private boolean same(Object number, Object found) {
    Expression e = (Expression) expressions.get(((Integer) number).intValue());
    return Sql.plain((Expression) found).canonicalized().equals(e.canonicalized());
  }

  /** Returns what Spark reads some texts as; null if it can't. */
  private List read(List numbers) {
    try {
      List named = new ArrayList();
      for (int i = 0; i < numbers.size(); i++) {
        String text = (String) texts.get(((Integer) numbers.get(i)).intValue());
        named.add(alias((Expression) session.sessionState().sqlParser().parseExpression(text), "c" + i));
      }
      LogicalPlan leaf = rows(new ArrayList(columns.values()));
      LogicalPlan plan = (LogicalPlan) session.sessionState().analyzer().execute(projection(named, leaf));
      List out = new ArrayList();
      boolean apart = kind((Expression) expressions.get(((Integer) numbers.get(0)).intValue())) == ALONE;
      if (apart) collect(plan, out);
      else children(list(plan.expressions()), out);
      return apart || out.size() == numbers.size() ? out : null;
    } catch (Exception e) {
      return null;
    }
  }

  private void collect(LogicalPlan plan, List out) {
    children(operators.of(plan).called(plan), out);
    List below = list(plan.children());
    for (int i = 0; i < below.size(); i++) collect((LogicalPlan) below.get(i), out);
  }

  private static void children(List named, List out) {
    for (int i = 0; i < named.size(); i++) {
      Expression e = (Expression) named.get(i);
      out.add(e instanceof Alias ? ((Alias) e).child() : e);
    }
  }

  /** Returns the column of a label, with one id in all expressions, which Spark gives to no other column. */
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

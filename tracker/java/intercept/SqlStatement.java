package provspark.intercept;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.analysis.NameParameterizedQuery$;
import org.apache.spark.sql.catalyst.analysis.PosParameterizedQuery;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.CommandExecutionMode$;
import provspark.sinks.CatalogTable;
import provspark.spark.ScriptVariables;
import provspark.trees.Trees;
import static provspark.trees.Trees.values;
import static provspark.spark.LogicalPlans.*;

/** A statement that may write. It is parsed and, if it is a plain write, analysed without running it. Uses raw types. */
public class SqlStatement {
  private static final Set WRITES = set("InsertIntoStatement CreateTableAsSelect InsertIntoDir AppendData OverwriteByExpression");
  private static final Set OTHERS = set(
      "OverwritePartitionsDynamic ReplaceTableAsSelect MergeIntoTable UpdateTable DeleteFromTable "
      + "LoadData");
  private static final Set SCRIPTS = set("CompoundBody UnresolvedExecuteImmediate ExecuteImmediateQuery");
  private static final Set COMMANDS = set(
      "InsertIntoHadoopFsRelationCommand CreateDataSourceTableAsSelectCommand InsertIntoDataSourceDirCommand");
  private static final String PARSER = "org.apache.spark.sql.catalyst.parser.";

  private final SparkSession session;
  private final boolean aside;
  private LogicalPlan parsed;
  private LogicalPlan analysed;
  private scala.collection.immutable.Map given = scala.collection.immutable.Map$.MODULE$.empty();
  private List commands = new ArrayList();

  /** Pass either `text` or the parsed `plan`, and null for the other. `arguments` is a Map or an array of Columns. */
  public SqlStatement(SparkSession session, String text, Object arguments, LogicalPlan plan) {
    this.session = session;
    aside = false;
    parsed = plan != null ? plan : parsed(text, arguments);
  }

  /** Creates the statement within an EXECUTE IMMEDIATE. `arguments` is a Map or an array of expressions. */
  private SqlStatement(SparkSession session, String text, Object arguments) {
    this.session = session;
    aside = true;
    parsed = parsed(text, arguments);
  }

  private LogicalPlan parsed(String text, Object arguments) {
    try {
      return parse(text, arguments);
    } catch (Throwable e) {
      return null; // Spark itself reports the error
    }
  }

  /**
   * Returns "" if the statement writes nothing, or if Spark rejects it; "write" for a write that capture follows; else the
   * name of the plan node: a script, an EXECUTE IMMEDIATE, or a write that capture can't follow.
   */
  public String kind() {
    if (parsed == null) return "";
    String name = within(parsed, SCRIPTS);
    if (name.length() == 0) name = within(parsed, OTHERS);
    if (name.length() > 0) return name;
    if (within(parsed, WRITES).length() == 0) return Commands.changes(parsed) ? name(parsed) : "";
    scala.Option variables = aside ? ScriptVariables.get() : null;
    try {
      if (aside) ScriptVariables.set(scala.Option.empty());
      analysed = session.sessionState().executePlan(parsed, CommandExecutionMode$.MODULE$.SKIP()).analyzed();
    } catch (Throwable e) {
      return "";
    } finally {
      if (aside) ScriptVariables.set(variables);
    }
    List parts = name(analysed).equals("Union") ? Trees.list(analysed.children()) : Trees.one(analysed);
    for (int i = 0; i < parts.size(); i++) {
      LogicalPlan part = (LogicalPlan) parts.get(i);
      if (!COMMANDS.contains(name(part)) && database(part) == null) return name(part);
    }
    commands = parts;
    return "write";
  }

  /** Returns the write commands, in order. */
  public List commands() {
    return commands;
  }

  /** Returns the body of the SQL script. */
  public LogicalPlan body() {
    LogicalPlan plan = parsed;
    while (!name(plan).equals("CompoundBody")) plan = (LogicalPlan) plan.children().head();
    return plan;
  }

  /** Returns the named arguments for the script's statements. Empty on Spark 4.1 and later, where the parser inserts them. */
  public scala.collection.immutable.Map arguments() {
    boolean open = !name(parsed).equals("CompoundBody");
    return open ? given : scala.collection.immutable.Map$.MODULE$.empty();
  }

  /**
   * Returns the statement that EXECUTE IMMEDIATE runs, with its text and arguments evaluated. Null if they can't be evaluated, or
   * if it assigns to variables (INTO), because then it writes nothing, or Spark rejects it. It does not see variables of a script.
   */
  public SqlStatement immediate() {
    List found = new ArrayList();
    List texts = new ArrayList();
    Iterator it = values(parsed).iterator();
    while (it.hasNext()) {
      Object value = it.next();
      if (value instanceof scala.util.Either) {
        boolean text = value instanceof scala.util.Left;
        value = text ? Literal$.MODULE$.apply(((scala.util.Left) value).value()) : ((scala.util.Right) value).value();
      }
      if (value instanceof Expression) texts.add(value);
      if (value instanceof scala.collection.Seq) found.add(Trees.list((scala.collection.Seq) value));
    }
    if (!((List) found.get(1)).isEmpty()) return null;
    List arguments = (List) found.get(0);
    List columns = new ArrayList();
    columns.add(Trees.alias((Expression) texts.get(0), "text"));
    for (int i = 0; i < arguments.size(); i++) {
      Expression e = (Expression) arguments.get(i);
      if (!taken(e instanceof Alias ? ((Alias) e).child() : e)) return null;
      columns.add(e instanceof Alias ? e : (Object) Trees.alias(e, ""));
    }
    try {
      LogicalPlan asked = projection(columns, new OneRowRelation());
      Dataset computed = Dataset.ofRows(session, asked);
      if (!computed.queryExecution().analyzed().deterministic()) return null;
      Row row = (Row) ((Object[]) computed.collect())[0];
      Map named = new HashMap();
      Object[] positional = new Object[arguments.size()];
      for (int i = 0; i < positional.length; i++) {
        positional[i] = Literal$.MODULE$.create(row.get(i + 1), computed.schema().apply(i + 1).dataType());
        String name = computed.schema().apply(i + 1).name();
        if (name.length() > 0) named.put(name, positional[i]);
      }
      Object given = named.isEmpty() ? (Object) positional : (Object) named;
      return new SqlStatement(session, row.getString(0), given);
    } catch (Throwable e) {
      return null;
    }
  }

  /** Whether Spark accepts an argument: 4.0 only literals and variables, later versions anything without a subquery. */
  private boolean taken(Expression e) {
    boolean simple = e instanceof Literal || e instanceof UnresolvedAttribute;
    return simple || !name(parsed).equals("ExecuteImmediateQuery") && !SubqueryExpression.hasSubquery(e);
  }

  /** Returns the rows of a command as a Dataset. */
  public Dataset rows(LogicalPlan command) {
    return Dataset.ofRows(session, query(command));
  }

  private static LogicalPlan query(LogicalPlan command) {
    for (int i = 0; i < command.productArity(); i++) {
      if (command.productElementName(i).equals("query")) return (LogicalPlan) command.productElement(i);
    }
    throw new IllegalArgumentException(name(command) + " has no query");
  }

  /** Returns the JDBC options of the JDBCTableCatalog table that a command writes to, or null if it writes elsewhere. */
  public Map database(LogicalPlan command) {
    return CatalogTable.options(session, command);
  }

  /** Runs the statement with other plans in place of the commands' queries. They must output the same columns. */
  public Dataset run(List plans) {
    List made = new ArrayList();
    for (int i = 0; i < plans.size(); i++) made.add(replaced((LogicalPlan) commands.get(i), (LogicalPlan) plans.get(i)));
    LogicalPlan whole = (LogicalPlan) made.get(0);
    if (name(analysed).equals("Union")) whole = (LogicalPlan) analysed.withNewChildren(Trees.seq(made));
    return Dataset.ofRows(session, whole);
  }

  private static LogicalPlan replaced(LogicalPlan command, LogicalPlan plan) {
    LogicalPlan query = query(command);
    List was = Trees.list(query.output());
    List is = Trees.list(plan.output());
    Map now = new HashMap();
    for (int i = 0; i < was.size(); i++) now.put(((Attribute) was.get(i)).exprId(), is.get(i));
    List values = values(command);
    for (int i = 0; i < values.size(); i++) {
      if (values.get(i) == query) values.set(i, plan);
      else if (values.get(i) instanceof scala.collection.Seq) values.set(i, bound((scala.collection.Seq) values.get(i), now));
    }
    return (LogicalPlan) command.makeCopy(values.toArray());
  }

  /** Returns partition columns as attributes of the new plan, and anything else unchanged. */
  private static Object bound(scala.collection.Seq items, Map now) {
    List all = Trees.list(items);
    for (int i = 0; i < all.size(); i++) {
      if (!(all.get(i) instanceof Attribute)) return items;
      all.set(i, now.get(((Attribute) all.get(i)).exprId()));
    }
    return Trees.seq(all);
  }

  // -- parsing, as SparkSession.sql does

  private LogicalPlan parse(String text, Object arguments) throws Exception {
    ParserInterface parser = session.sessionState().sqlParser();
    boolean named = arguments instanceof Map;
    int count = arguments == null ? 0 : named ? ((Map) arguments).size() : ((Object[]) arguments).length;
    if (count == 0) return parser.parsePlan(text);
    if (named) this.given = named((Map) arguments);
    Object given = named ? (Object) this.given : (Object) positional((Object[]) arguments);
    Method with = null;
    Method[] methods = parser.getClass().getMethods();
    for (int i = 0; i < methods.length; i++) if (methods[i].getName().equals("parsePlanWithParameters")) with = methods[i];
    if (with == null) {
      LogicalPlan plan = parser.parsePlan(text);
      if (named) return (LogicalPlan) NameParameterizedQuery$.MODULE$.apply(plan, (scala.collection.immutable.Map) given);
      return new PosParameterizedQuery(plan, (scala.collection.immutable.Seq) given);
    }
    Class context = Class.forName(PARSER + (named ? "NamedParameterContext" : "PositionalParameterContext"));
    return (LogicalPlan) with.invoke(parser, new Object[] {text, context.getConstructors()[0].newInstance(new Object[] {given})});
  }

  private scala.collection.immutable.Map named(Map arguments) {
    scala.collection.immutable.Map out = scala.collection.immutable.Map$.MODULE$.empty();
    Iterator it = arguments.entrySet().iterator();
    while (it.hasNext()) {
      Map.Entry e = (Map.Entry) it.next();
      out = (scala.collection.immutable.Map) out.updated(e.getKey(), expression(e.getValue()));
    }
    return out;
  }

  private scala.collection.immutable.Seq positional(Object[] arguments) {
    List out = new ArrayList();
    for (int i = 0; i < arguments.length; i++) out.add(expression(arguments[i]));
    return Trees.seq(out);
  }

  private Expression expression(Object argument) {
    return argument instanceof Column ? session.expression((Column) argument) : (Expression) argument;
  }

  // -- helpers

  /** Returns the first node with one of these names, above the queries, or "". */
  private static String within(LogicalPlan plan, Set names) {
    String own = name(plan);
    if (names.contains(own)) return own;
    boolean through = own.equals("UnresolvedWith") || own.equals("Union") || own.endsWith("ParameterizedQuery");
    Iterator it = Trees.list(plan.children()).iterator();
    while (through && it.hasNext()) {
      String found = within((LogicalPlan) it.next(), names);
      if (found.length() > 0) return found;
    }
    return "";
  }

  private static String name(LogicalPlan plan) {
    return plan.getClass().getSimpleName();
  }

  private static Set set(String words) {
    return new HashSet(Arrays.asList(words.split(" ")));
  }
}

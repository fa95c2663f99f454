package provspark;

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
import org.apache.spark.sql.catalyst.analysis.NameParameterizedQuery$;
import org.apache.spark.sql.catalyst.analysis.PosParameterizedQuery;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.CommandExecutionMode$;

/** A statement that may write: parsed and, where it is a plain write, analysed without running it. Raw types, for Janino. */
public class SqlStatement {
  private static final Set WRITES = set("InsertIntoStatement CreateTableAsSelect InsertIntoDir");
  private static final Set OTHERS = set(
      "OverwriteByExpression OverwritePartitionsDynamic ReplaceTableAsSelect MergeIntoTable UpdateTable DeleteFromTable "
      + "LoadData");
  private static final Set SCRIPTS = set("CompoundBody UnresolvedExecuteImmediate ExecuteImmediateQuery");
  private static final Set COMMANDS = set(
      "InsertIntoHadoopFsRelationCommand CreateDataSourceTableAsSelectCommand InsertIntoDataSourceDirCommand");
  private static final String PARSER = "org.apache.spark.sql.catalyst.parser.";

  private final SparkSession session;
  private LogicalPlan parsed;
  private LogicalPlan analysed;
  private List commands = new ArrayList();

  /** `text` is null where `plan` is what stands for it; `arguments` are a Map or an array of Columns, as Spark takes them. */
  public SqlStatement(SparkSession session, String text, Object arguments, LogicalPlan plan) {
    this.session = session;
    try {
      parsed = plan != null ? plan : parse(text, arguments);
    } catch (Throwable e) {
      parsed = null; // Spark says itself what is wrong with it
    }
  }

  /**
   * "" where it writes nothing, or nothing before Spark finds a mistake in it; "write"; else the name of what stands
   * for it: a script, a statement inside of a string, or a write that has no rows to follow.
   */
  public String kind() {
    if (parsed == null) return "";
    String name = within(parsed, SCRIPTS);
    if (name.length() == 0) name = within(parsed, OTHERS);
    if (name.length() > 0) return name;
    if (within(parsed, WRITES).length() == 0) return "";
    try {
      analysed = session.sessionState().executePlan(parsed, CommandExecutionMode$.MODULE$.SKIP()).analyzed();
    } catch (Throwable e) {
      return "";
    }
    List parts = name(analysed).equals("Union") ? Trees.list(analysed.children()) : Trees.one(analysed);
    for (int i = 0; i < parts.size(); i++) if (!COMMANDS.contains(name((LogicalPlan) parts.get(i)))) return name((LogicalPlan) parts.get(i));
    commands = parts;
    return "write";
  }

  /** The write commands, in order. */
  public List commands() {
    return commands;
  }

  /** The text that EXECUTE IMMEDIATE runs, where it is a literal and takes and gives no variables; else "". */
  public String immediate() {
    String text = "";
    Iterator it = values(parsed).iterator();
    while (it.hasNext()) {
      Object value = it.next();
      if (value instanceof scala.collection.Seq && ((scala.collection.Seq) value).nonEmpty()) return "";
      if (value instanceof Literal) text = String.valueOf(((Literal) value).value());
      if (value instanceof scala.util.Left) text = (String) ((scala.util.Left) value).value();
    }
    return text;
  }

  /** The rows of a command, as a Dataset. */
  public Dataset rows(LogicalPlan command) {
    return Dataset.ofRows(session, query(command));
  }

  private static LogicalPlan query(LogicalPlan command) {
    Iterator it = values(command).iterator();
    while (it.hasNext()) {
      Object value = it.next();
      if (value instanceof LogicalPlan) return (LogicalPlan) value;
    }
    throw new IllegalArgumentException(name(command) + " has no query");
  }

  /** Runs the statement with other plans in place of the commands' queries, which put out the same columns. */
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

  /** Partition columns, as the new plan puts them out; anything else as it is. */
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
    Object given = named ? (Object) named((Map) arguments) : (Object) positional((Object[]) arguments);
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
      out = (scala.collection.immutable.Map) out.updated(e.getKey(), session.expression((Column) e.getValue()));
    }
    return out;
  }

  private scala.collection.immutable.Seq positional(Object[] arguments) {
    List out = new ArrayList();
    for (int i = 0; i < arguments.length; i++) out.add(session.expression((Column) arguments[i]));
    return Trees.seq(out);
  }

  // -- small things

  /** The first node of these names, down to where rows are made. */
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

  private static List values(LogicalPlan plan) {
    List out = new ArrayList();
    scala.collection.Iterator it = plan.productIterator();
    while (it.hasNext()) out.add(it.next());
    return out;
  }

  private static Set set(String words) {
    return new HashSet(Arrays.asList(words.split(" ")));
  }
}

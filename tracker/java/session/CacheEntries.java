package provspark.session;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet$;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.logical.CacheTable;
import org.apache.spark.sql.catalyst.plans.logical.CollectMetrics;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.ObservationManager;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.CacheManager;
import org.apache.spark.sql.execution.CachedData;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.columnar.CachedRDDBuilder;
import org.apache.spark.sql.execution.columnar.InMemoryRelation$;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import provspark.trees.Trees;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import static provspark.spark.LogicalPlans.*;

/**
 * Spark's cache, under whose entries traced plans are put: an entry stays known by the user's plan and shows the user's
 * columns, and behind them stand those of the provenance columns. An entry is told by its CachedRDDBuilder, which every use shares.
 */
public class CacheEntries {
  private final List pending = new ArrayList();
  private final List builders = new ArrayList();
  private final List relations = new ArrayList();
  private final List transposed = new ArrayList();

  /** Takes the entries that are not known yet, the oldest first; returns how many. */
  public int unknown(SparkSession session) throws Exception {
    pending.clear();
    IndexedSeq all = (IndexedSeq) field(CacheManager.class, "cachedData").get(manager(session));
    for (int i = all.size() - 1; i >= 0; i--) {
      if (number(((CachedData) all.apply(i)).cachedRepresentation()) < 0) pending.add(all.apply(i));
    }
    return pending.size();
  }

  /** Whether something of an unknown entry was computed before it was seen. */
  public boolean begun(int i) throws Exception {
    return field(CachedRDDBuilder.class, "_cachedColumnBuffers").get(entry(i).cachedRepresentation().cacheBuilder()) != null;
  }

  /** An unknown entry's plan, with what it reads from other entries in its place. */
  public LogicalPlan plan(SparkSession session, int i) throws Exception {
    CacheManager manager = manager(session);
    Field field = field(CacheManager.class, "cachedData");
    synchronized (manager) {
      IndexedSeq all = (IndexedSeq) field.get(manager);
      List others = Trees.list(all);
      others.remove(entry(i));
      field.set(manager, Trees.seq(others).toIndexedSeq());
      try {
        return current(session, entry(i).plan());
      } finally {
        field.set(manager, all);
      }
    }
  }

  /** A plan with what is cached now in its place. */
  public LogicalPlan current(SparkSession session, LogicalPlan analysed) {
    return Dataset.ofRows(session, analysed).queryExecution().withCachedData();
  }

  /** Puts a traced plan, the user's columns first, under an entry; returns its number, -1 if it is gone. */
  public int replace(SparkSession session, int i, LogicalPlan traced) throws Exception {
    CachedData entry = entry(i);
    InMemoryRelation old = entry.cachedRepresentation();
    CacheManager manager = manager(session);
    InMemoryRelation whole = represent(session, traced, old.cacheBuilder());
    List columns = Trees.list(whole.output()).subList(0, old.output().size());
    return put(manager, entry, shown(whole, Trees.seq(columns))) ? remember(whole) : -1;
  }

  /** The first columns of a relation, in the order that these still tell: `withOutput` wants all that the order names. */
  private static InMemoryRelation shown(InMemoryRelation whole, Seq columns) {
    AttributeSet known = AttributeSet$.MODULE$.apply(columns);
    List ordering = new ArrayList();
    Iterator it = Trees.list(whole.outputOrdering()).iterator();
    while (it.hasNext()) {
      SortOrder each = (SortOrder) it.next();
      List same = Trees.list(each.sameOrderExpressions());
      same.add(0, each.child());
      for (int i = same.size() - 1; i >= 0; i--) if (!((Expression) same.get(i)).references().subsetOf(known)) same.remove(i);
      if (same.isEmpty()) break;
      Expression first = (Expression) same.remove(0);
      ordering.add(each.copy(first, each.direction(), each.nullOrdering(), Trees.seq(same)));
    }
    InMemoryRelation out = new InMemoryRelation(columns, whole.cacheBuilder(), Trees.seq(ordering));
    out.statsOfPlanToCache_$eq(whole.statsOfPlanToCache());
    return out;
  }

  /** As CacheManager does for the same level and name, under the configuration that it caches under. */
  private static InMemoryRelation represent(SparkSession session, LogicalPlan plan, CachedRDDBuilder as) throws Exception {
    Method method = CacheManager.class.getDeclaredMethod("getOrCloneSessionWithConfigsOff", new Class[] {SparkSession.class});
    method.setAccessible(true);
    SparkSession own = (SparkSession) method.invoke(manager(session), new Object[] {session});
    QueryExecution execution = Dataset.ofRows(own, plan).queryExecution();
    return InMemoryRelation$.MODULE$.apply(as.storageLevel(), execution, as.tableName());
  }

  private static boolean put(CacheManager manager, CachedData entry, InMemoryRelation shown) throws Exception {
    Field field = field(CacheManager.class, "cachedData");
    synchronized (manager) {
      IndexedSeq all = (IndexedSeq) field.get(manager);
      for (int i = 0; i < all.size(); i++) {
        if (all.apply(i) == entry) {
          field.set(manager, all.updated(i, new CachedData(entry.plan(), shown)));
          return true;
        }
      }
    }
    return false;
  }

  /** Leaves an unknown entry as it is; returns its number. */
  public int keep(int i) {
    return remember(entry(i).cachedRepresentation());
  }

  /** Puts entries that were never computed back to the users' own plans. */
  public void restore(SparkSession session) throws Exception {
    CacheManager manager = manager(session);
    IndexedSeq all = (IndexedSeq) field(CacheManager.class, "cachedData").get(manager);
    for (int i = 0; i < all.size(); i++) {
      CachedData entry = (CachedData) all.apply(i);
      InMemoryRelation shown = entry.cachedRepresentation();
      int number = number(shown);
      if (number < 0 || relation(number).output().size() == shown.output().size()) continue;
      if (field(CachedRDDBuilder.class, "_cachedColumnBuffers").get(shown.cacheBuilder()) != null) continue;
      put(manager, entry, represent(session, entry.plan(), shown.cacheBuilder()));
    }
  }

  private int remember(InMemoryRelation relation) {
    builders.add(relation.cacheBuilder());
    relations.add(relation);
    return builders.size() - 1;
  }

  /** The number of the entry that this relation reads, or -1. */
  public int number(InMemoryRelation relation) {
    for (int i = builders.size() - 1; i >= 0; i--) if (builders.get(i) == relation.cacheBuilder()) return i;
    return -1;
  }

  /** An entry's relation, its columns and those of the provenance columns. */
  public InMemoryRelation relation(int number) {
    return (InMemoryRelation) relations.get(number);
  }

  /**
   * Completes the Observations within what a user's plan reads from the cache. Spark looks for them in the plan that was
   * written, and in ours what is cached is a leaf.
   */
  public void observed(SparkSession session, LogicalPlan users) throws Exception {
    if (users instanceof InMemoryRelation) {
      Object builder = ((InMemoryRelation) users).cacheBuilder();
      IndexedSeq all = (IndexedSeq) field(CacheManager.class, "cachedData").get(manager(session));
      for (int i = 0; i < all.size(); i++) {
        CachedData entry = (CachedData) all.apply(i);
        boolean read = ((InMemoryRelation) entry.cachedRepresentation()).cacheBuilder() == builder;
        if (read && Trees.has(entry.plan(), CollectMetrics.class)) {
          complete(session, Dataset.ofRows(session, entry.plan()).queryExecution());
        }
      }
    }
    List children = Trees.list(users.children());
    for (int i = 0; i < children.size(); i++) observed(session, (LogicalPlan) children.get(i));
  }

  /** As Spark's listener does at a query's end; the method's name holds its class's in some versions. */
  private static void complete(SparkSession session, QueryExecution query) throws Exception {
    Method[] methods = ObservationManager.class.getDeclaredMethods();
    for (int i = 0; i < methods.length; i++) {
      String name = methods[i].getName();
      if (!name.endsWith("tryComplete") || methods[i].getParameterCount() != 1) continue;
      methods[i].setAccessible(true);
      methods[i].invoke(session.observationManager(), new Object[] {query});
    }
  }

  /** The relation with the columns of its provenance columns behind the user's. */
  public LogicalPlan whole(InMemoryRelation shown) {
    List columns = Trees.list(shown.output());
    List all = Trees.list(relation(number(shown)).output());
    for (int i = columns.size(); i < all.size(); i++) columns.add(((Attribute) all.get(i)).newInstance());
    return relation(number(shown)).withOutput(Trees.seq(columns));
  }

  /**
   * CACHE TABLE without LAZY computes at once: it is run lazily here. Returns its result and what is to be counted then;
   * null where the text is something else.
   */
  public Object[] lazily(SparkSession session, String text) throws Exception {
    LogicalPlan command = (LogicalPlan) session.sessionState().sqlParser().parsePlan(text);
    Object[] values = new Object[command.productArity()];
    for (int i = 0; i < values.length; i++) values[i] = command.productElement(i);
    int lazy = -1;
    for (int i = 0; i < values.length; i++) if (command.productElementName(i).equals("isLazy")) lazy = i;
    if (lazy < 0 || Boolean.TRUE.equals(values[lazy])) return null;
    values[lazy] = Boolean.TRUE;
    Dataset result = Dataset.ofRows(session, (LogicalPlan) command.makeCopy(values));
    if (command instanceof CacheTable) return new Object[] {result, Dataset.ofRows(session, ((CacheTable) command).table())};
    Object name = command.productElement(0); // a text, and from Spark 4.2 on an expression of one
    String view = name instanceof Expression ? ((Expression) name).eval(null).toString() : (String) name;
    return new Object[] {result, session.table("`" + view.replace("`", "``") + "`")};
  }

  public Dataset dataset(SparkSession session, LogicalPlan plan) {
    return Dataset.ofRows(session, plan);
  }

  /** The first n columns of a checkpoint. */
  public Dataset shown(SparkSession session, Dataset checkpoint, int n) {
    LogicalPlan plan = checkpoint.queryExecution().analyzed();
    return Dataset.ofRows(session, projection(Trees.list(plan.output()).subList(0, n), plan));
  }

  /** The number of the RDD that a leaf reads. */
  public int rdd(LogicalPlan plan) {
    return ((LogicalRDD) plan).rdd().id();
  }

  /** The number of a transposed frame's leaf, whose copies share the rows themselves; it gets one where it has none. */
  public int transposed(LogicalPlan plan) throws Exception {
    LogicalPlan leaf = plan;
    while (!leaf.children().isEmpty()) leaf = (LogicalPlan) leaf.children().apply(0);
    scala.collection.Seq rows = (scala.collection.Seq) leaf.productElement(1);
    Object first = rows.isEmpty() ? null : rows.apply(0);
    for (int i = 0; i < transposed.size(); i++) if (transposed.get(i) == first) return i;
    transposed.add(first);
    return transposed.size() - 1;
  }

  /** Whether every partition is computed. */
  public boolean loaded(int number) {
    return relation(number).cacheBuilder().isCachedColumnBuffersLoaded();
  }

  private CachedData entry(int i) {
    return (CachedData) pending.get(i);
  }

  private static CacheManager manager(SparkSession session) {
    return session.sharedState().cacheManager();
  }

  private static Field field(Class owner, String name) throws NoSuchFieldException {
    Field field = owner.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }
}

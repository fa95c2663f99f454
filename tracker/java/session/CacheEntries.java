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
 * Spark's cache, with traced plans in its entries. Spark still finds an entry by the user's plan, and it shows the user's
 * columns. The provenance columns come after them. An entry is identified by its CachedRDDBuilder, which all uses share.
 */
public class CacheEntries {
  private final List pending = new ArrayList();
  private final List builders = new ArrayList();
  private final List relations = new ArrayList();
  private final List transposed = new ArrayList();

  /** Collects the unknown entries, the oldest first. Returns their number. */
  public int unknown(SparkSession session) throws Exception {
    pending.clear();
    IndexedSeq all = (IndexedSeq) field(CacheManager.class, "cachedData").get(manager(session));
    for (int i = all.size() - 1; i >= 0; i--) {
      if (number(((CachedData) all.apply(i)).cachedRepresentation()) < 0) pending.add(all.apply(i));
    }
    return pending.size();
  }

  /** Whether Spark has already computed a part of an unknown entry. */
  public boolean begun(int i) throws Exception {
    return field(CachedRDDBuilder.class, "_cachedColumnBuffers").get(entry(i).cachedRepresentation().cacheBuilder()) != null;
  }

  /** Returns an unknown entry's plan, with parts that other entries cache replaced by these. */
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

  /** Returns a plan with cached parts replaced by their cache entries. */
  public LogicalPlan current(SparkSession session, LogicalPlan analysed) {
    return Dataset.ofRows(session, analysed).queryExecution().withCachedData();
  }

  /** Puts a traced plan, whose first columns are the user's, into an entry. Returns its number, or -1 if it was removed. */
  public int replace(SparkSession session, int i, LogicalPlan traced) throws Exception {
    CachedData entry = entry(i);
    InMemoryRelation old = entry.cachedRepresentation();
    CacheManager manager = manager(session);
    InMemoryRelation whole = represent(session, traced, old.cacheBuilder());
    List columns = Trees.list(whole.output()).subList(0, old.output().size());
    return put(manager, entry, shown(whole, Trees.seq(columns))) ? remember(whole) : -1;
  }

  /** Returns a relation with its first columns, and the ordering as far as they define it: `withOutput` needs all its columns. */
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

  /** Creates a relation as CacheManager does, with the same storage level, name and configuration. */
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

  /** Registers an unknown entry without changing it. Returns its number. */
  public int keep(int i) {
    return remember(entry(i).cachedRepresentation());
  }

  /** Restores the user's plans of entries that were never computed. */
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

  /** Returns the number of the entry that a relation reads, or -1. */
  public int number(InMemoryRelation relation) {
    for (int i = builders.size() - 1; i >= 0; i--) if (builders.get(i) == relation.cacheBuilder()) return i;
    return -1;
  }

  /** Returns an entry's relation, with the user's columns and the provenance columns. */
  public InMemoryRelation relation(int number) {
    return (InMemoryRelation) relations.get(number);
  }

  /**
   * Completes the Observations in the cache entries that a user's plan reads. Spark looks for them in the written plan, but in
   * the rewritten one a cache entry is a leaf.
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

  /** Calls tryComplete as Spark's listener does after a query. In some versions, the method name starts with the class name. */
  private static void complete(SparkSession session, QueryExecution query) throws Exception {
    Method[] methods = ObservationManager.class.getDeclaredMethods();
    for (int i = 0; i < methods.length; i++) {
      String name = methods[i].getName();
      if (!name.endsWith("tryComplete") || methods[i].getParameterCount() != 1) continue;
      methods[i].setAccessible(true);
      methods[i].invoke(session.observationManager(), new Object[] {query});
    }
  }

  /** Returns the relation with the provenance columns after the user's columns. */
  public LogicalPlan whole(InMemoryRelation shown) {
    List columns = Trees.list(shown.output());
    List all = Trees.list(relation(number(shown)).output());
    for (int i = columns.size(); i < all.size(); i++) columns.add(((Attribute) all.get(i)).newInstance());
    return relation(number(shown)).withOutput(Trees.seq(columns));
  }

  public Dataset dataset(SparkSession session, LogicalPlan plan) {
    return Dataset.ofRows(session, plan);
  }

  /** Returns the first n columns of a checkpoint. */
  public Dataset shown(SparkSession session, Dataset checkpoint, int n) {
    LogicalPlan plan = checkpoint.queryExecution().analyzed();
    return Dataset.ofRows(session, projection(Trees.list(plan.output()).subList(0, n), plan));
  }

  /** Returns the id of the RDD that a leaf reads. */
  public int rdd(LogicalPlan plan) {
    return ((LogicalRDD) plan).rdd().id();
  }

  /** Returns the number of a transposed DataFrame's leaf, assigning one if it has none. Copies of a leaf share its row objects. */
  public int transposed(LogicalPlan plan) throws Exception {
    LogicalPlan leaf = plan;
    while (!leaf.children().isEmpty()) leaf = (LogicalPlan) leaf.children().apply(0);
    scala.collection.Seq rows = (scala.collection.Seq) leaf.productElement(1);
    Object first = rows.isEmpty() ? null : rows.apply(0);
    for (int i = 0; i < transposed.size(); i++) if (transposed.get(i) == first) return i;
    transposed.add(first);
    return transposed.size() - 1;
  }

  /** Whether all partitions of an entry are computed. */
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

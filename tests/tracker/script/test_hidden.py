"""Which plans hold values that the script may have read, and which only those that its text shows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from _hidden import HEAD, look, table
from _scripts import run

from provspark.tracker.script import program
from provspark.tracker.script.hidden_values import hidden
from provspark.tracker.spark.jvm import Jvm

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore"),  # of pandas on Spark
]

SHOWN = {
    "operators": (
        "out = df.filter((df.v > 2) & (F.col('k') == 'a') | (1.5 + df.v < 7) & (-3 <= df.v) & (10 - df.v != 4))"
    ),
    "isin": "out = df.filter(df.k.isin('a', 'b') | ~df.v.isin([1, 2]))",
    "a constant name": "KEYS = ['a', 'b']\nLIMIT = 10\nout = df.filter(df.k.isin(KEYS) & (df.v < LIMIT)).limit(LIMIT)",
    "lit": (
        "out = df.select('k', lit('2024-01-01'), F.lit(1), F.lit(1.5), F.lit(Decimal('2.50')), F.lit(b'x'), "
        "F.lit([1, 2]))"
    ),
    "dates": (
        "DAY = date(2024, 1, 1)\n"
        "out = df.select(F.lit(DAY), F.lit(datetime.datetime(2024, 1, 1, 2, 3)), F.lit(DAY + "
        "timedelta(days=1)), F.lit(timedelta(2)))"
    ),
    "the clock": (
        "now = datetime.datetime.now()\nout = df.withColumn('at', F.lit(now)).withColumn('day', F.lit(date.today()))"
    ),
    "the environment": "out = df.withColumn('home', F.lit(os.environ.get('HOME', '?')))",
    "text put together": (
        "A = 'x'\nout = df.withColumn('t', F.lit(f'{A}-{1:03}')).withColumn('u', F.lit('a' + "
        "A)).withColumn('w', F.lit('%s!' % A))"
    ),
    "arguments": "day = sys.argv[1]\nout = df.filter(df.k == day).withColumn('n', F.lit(int(sys.argv[2])))",
    "arguments in SQL": "day = sys.argv[1]\nout = df.filter(f\"k = '{day}' and v > 3\")",
    "argparse": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('day')\np.add_argument('--n', "
        "type=int, default=7)\n"
        "args = p.parse_args([sys.argv[1]])\nout = df.filter(df.k == args.day).withColumn('n', F.lit(args.n + 1))"
    ),
    "limits and samples": "out = df.sample(0.5, seed=3).limit(7).repartition(3).offset(1)",
    "seeds": "out = df.withColumn('r', F.rand()).withColumn('s', F.randn(3)).orderBy(F.shuffle(F.array('v')))",
    "fillna": "out = df.fillna(0).fillna({'k': 'none'}).na.fill(1.5).dropna(thresh=1)",
    "replace": "out = df.replace('a', 'b').na.replace([1, 2], [3, 4], 'v')",
    "windows": (
        "w = Window.partitionBy('k').orderBy('v')\nout = df.select(F.sum('v').over(w.rowsBetween(-3, 0)),"
        " F.lag('v', 2, 0).over(w), F.lead('v').over(w), F.row_number().over(w), F.ntile(4).over(w),"
        " F.sum('v').over(w.rangeBetween(Window.unboundedPreceding, 5)))"
    ),
    "time windows": "out = df.groupBy(F.window('t', '10 minutes', '5 minutes')).agg(F.count('*'))",
    "session windows": "out = df.groupBy(F.session_window('t', '10 minutes')).count()",
    "formats": (
        "out = df.select(F.date_format('t', 'yyyy-MM'), F.to_date(F.lit('01/02/2024'), 'dd/MM/yyyy'), "
        "F.trunc('t', 'month'))"
    ),
    "defaults": (
        "out = df.select(F.round('v'), F.split('k', ','), F.regexp_replace('k', 'a+', 'z'), F.substring('k', 1, 2),"
        " F.concat_ws('-', 'k', 'k'), F.months_between('t', 't'), F.lpad('k', 5, '0'), F.locate('a', 'k'), "
        "F.sort_array(F.array('v')),"
        " F.sequence(F.lit(1), F.lit(5)), F.conv('k', 16, 10), F.mask('k'), F.left('k', F.lit(2)), "
        "F.nvl('k', F.lit('q')),"
        " F.translate('k', 'a', 'b'), F.instr('k', 'a'), F.date_add('t', 3), F.overlay('k', F.lit('zz'), 2), "
        "F.log(2.0, 'v'))"
    ),
    "aggregates": (
        "out = df.groupBy('k').agg(F.count('*'), F.countDistinct('v'), F.percentile_approx('v', [0.25, "
        "0.5]), F.percentile('v', 0.5),"
        " F.approx_count_distinct('v'), F.first('v', True), F.collect_list('v'), F.max_by('v', 't'), "
        "F.expr('sum(v) + 1'))"
    ),
    "count": "out = df.groupBy('k').count().agg({'count': 'sum'})",
    "describe": "out = df.describe().union(df.summary('count', '25%'))",
    "conditions": (
        "out = df.withColumn('c', F.when(df.v > 1, 'one').when(df.v.between(4, 6), lit('two')).otherwise('z'))"
    ),
    "strings": (
        "out = df.filter(df.k.like('a%') | df.k.contains('b') | df.k.startswith('c') | df.k.rlike('^d'))"
        ".withColumn('s', df.k.substr(1, 3))"
    ),
    "structures": (
        "out = df.select(F.struct('k', (df.v + 1).alias('w')).alias('s'), F.array('v', F.lit(0)).alias('a'),"
        " F.create_map(lit('key'), 'v').alias('m')).select('s.k', 's.w', F.col('a')[0], F.col('m')['key'], "
        "F.col('a').getItem(1))"
    ),
    "json": (
        "out = df.select(F.get_json_object('k', '$.a'), F.from_json('k', 'a INT'), F.to_json(F.struct('k', "
        "'v')), F.schema_of_json(lit('{}')))"
    ),
    "higher order": (
        "out = df.select(F.transform(F.array('v', 'v'), lambda e: e + 1), F.aggregate(F.array('v'), "
        "F.lit(0).cast('bigint'), lambda a, e: a + e))"
    ),
    "pivot": "out = df.groupBy('v').pivot('k', ['a', 'b']).agg(F.sum('v'), F.max('t'))",
    "pivot of whatever there is": "out = df.groupBy('v').pivot('k').sum('v')",
    "cubes": "out = df.cube('k', 'v').agg(F.grouping_id(), F.count('*'))",
    "unpivot": "out = df.select('k', 'v').unpivot('k', ['v'], 'name', 'value')",
    "drop duplicates": "out = df.dropDuplicates(['k']).distinct().sort(F.desc('v'))",
    "sampleBy": "out = df.sampleBy('k', {'a': 0.5, 'b': 0.1}, 3)",
    "joins": "out = df.alias('a').join(df.alias('b'), (F.col('a.k') == F.col('b.k')) & (F.col('a.v') > 3), 'left')",
    "SQL": (
        "df.createOrReplaceTempView('t')\nout = spark.sql(\"SELECT k, round(v), v + 5 FROM t WHERE k IN "
        "('a', 'b') LIMIT 3\")"
    ),
    "SQL put together": (
        "df.createOrReplaceTempView('t')\ntable, n = 't', 5\nout = spark.sql(f'''\n  SELECT k, v + {n}\n  "
        "FROM {table}\n  WHERE v > 2\n''')"
    ),
    "SQL of columns": (
        "df.createOrReplaceTempView('t')\ncols = ', '.join(df.columns)\nout = spark.sql(f'SELECT {cols}, 1 "
        "AS one FROM t')"
    ),
    "SQL joined": (
        "df.createOrReplaceTempView('t')\nparts = ['SELECT k', 'FROM t', 'WHERE v > 2']\nout = spark.sql(' "
        "'.join(parts))"
    ),
    "SQL with format": (
        "df.createOrReplaceTempView('t')\nout = spark.sql('SELECT k FROM {} WHERE v > {n}'.format('t', n=2))"
    ),
    "SQL with arguments": (
        "df.createOrReplaceTempView('t')\nout = spark.sql('SELECT v + :a FROM t WHERE k = :b', args={'a': 5, 'b': 'q'})"
    ),
    "SQL with a variable of PySpark": "out = spark.sql('SELECT v + 1 FROM {d} WHERE v > {n}', d=df, n=2)",
    "expressions": "out = df.selectExpr('v + 1', \"concat(k, 'z') AS z\").filter('z > 3').select(F.expr('upper(z)'))",
    "a view of SQL": (
        "df.createOrReplaceTempView('t')\nspark.sql(\"CREATE OR REPLACE TEMP VIEW w AS SELECT * FROM t WHERE "
        "k = 'a'\")\n"
        "out = spark.sql('SELECT * FROM w WHERE v > 1')"
    ),
    "functions of the script": (
        "def keep(frame, keys, least=0):\n    return frame.filter(frame.k.isin(keys) & (frame.v > least))\n\n"
        "def flag(c):\n    return F.when(c, F.lit('yes')).otherwise(lit('no'))\n\n"
        "out = keep(keep(df, ['a'], 3), keys=['b', 'c']).withColumn('f', flag(df.v > 9))"
    ),
    "transform": (
        "def tidy(d):\n    return d.filter(d.v > 9)\nout = df.transform(tidy).transform(lambda d: "
        "d.withColumn('z', lit('q')))"
    ),
    "loops over constants": (
        "out = df\nfor name, value in {'a': 1, 'b': 'x'}.items():\n    out = out.withColumn(name, F.lit(value))\n"
        "out = out.filter(functools.reduce(operator.or_, [out.k == v for v in ('p', 'q')]))"
    ),
    "conditions in a list": (
        "conds = []\nfor v in ['a', 'b']:\n    conds.append(df.k == v)\nout = df.filter(conds[0] | conds[1])"
    ),
    "columns by name": (
        "cond = (F.col('v') > 3) & (F.col('k') == 'x')\nextra = [F.lit('m').alias('m'), (F.col('v') * "
        "2).alias('w')]\nout = df.filter(cond).select('*', *extra)"
    ),
    "a chain": (
        "out = (\n    df.filter(F.col('v') > 3)\n    .withColumn('c', F.lit('x'))\n    .filter(\n        "
        "F.col('k')\n        .isin('a', 'b')\n    )\n    .limit(5)\n)"
    ),
    "a class": (
        "class Job:\n    LIMIT = 5\n    def __init__(self, day):\n        self.day = day\n    def run(self, d):\n"
        "        return d.filter((d.k == self.day) & (d.v < self.LIMIT))\nout = Job('2024').run(df)"
    ),
    "rows of constants": (
        "made = spark.createDataFrame([('a', 1), ('b', 2)], 'k STRING, n INT')\nout = df.join(made, "
        "'k').filter('n > 0')"
    ),
    "a run log": (
        "out = spark.createDataFrame([('load', datetime.datetime.now(), sys.argv[1])], 'a STRING, b "
        "TIMESTAMP, c STRING')"
    ),
    "ranges": "out = spark.range(10).join(spark.range(1, 5, 2), 'id')",
    "VALUES": "out = spark.sql(\"SELECT * FROM VALUES (1, 'a'), (2, 'b') AS v(a, b) WHERE a > 1\")",
    "an RDD of constants": "out = spark.sparkContext.parallelize([('a', 1)]).toDF(['k', 'n'])",
    "said": "out = df.filter(df.k.isin(provspark.constant(keys)))",
    "said before": "provspark.constant(keys)\nout = df.filter(df.k.isin(keys))",
    "booleans and nulls": "out = df.withColumn('b', F.lit(True)).withColumn('n', F.lit(None))",
    "subqueries": (
        "df.createOrReplaceTempView('t')\nout = spark.sql('SELECT * FROM t WHERE v > (SELECT avg(v) + 1 FROM "
        't WHERE k <> "z")\')'
    ),
    "columns of functions made elsewhere": (
        "band = F.when(df.v < 30, 'under 30').otherwise('over')\n"
        "out = df.withColumn('o', F.when(df.k == 'x', 1).otherwise(0)).withColumn('band', band)"
    ),
    "columns made elsewhere": "v = F.col('v')\nbig = v > 100\nnamed = big.alias('big')\nout = df.select('k', named)",
}
HIDDEN = {
    "isin": "out = df.filter(df.k.isin(keys))",
    "isin, spread": "out = df.filter(df.k.isin(*keys))",
    "isin of a set": "out = df.filter(df.k.isin(set(keys)))",
    "lit": "out = df.withColumn('x', F.lit(x))",
    "lit of a name": "top = max(r.v for r in got)\nout = df.withColumn('x', lit(top))",
    "a number that is elsewhere in the text": (
        "three = got[3].v\nother = spark.range(3).limit(3)\nout = df.filter(df.v > three)"
    ),
    "a number that is elsewhere in the statement": "three = got[3].v\nout = df.limit(3).filter(df.v > three)",
    "a number of a comment": "# 3\nthree = got[3].v\nout = df.filter(df.v > three)",
    "an operator": "out = df.filter(df.v > x)",
    "an operator, the other way round": "out = df.filter(x < df.v)",
    "an operator among others": "out = df.filter((df.v > 1) & (df.k == keys[0]))",
    "arithmetic": "out = df.withColumn('w', df.v - x)",
    "between": "out = df.filter(df.v.between(x, 9))",
    "text put together": "out = df.withColumn('t', F.lit(f'key {keys[1]}'))",
    "SQL put together": "out = df.filter(f\"k = '{keys[1]}'\")",
    "SQL of numbers": "out = df.filter(f'v > {x}')",
    "SQL with a list": (
        "df.createOrReplaceTempView('t')\nlist_ = ', '.join(map(repr, keys))\nout = spark.sql(f'SELECT * "
        "FROM t WHERE k IN ({list_})')"
    ),
    "SQL with arguments": (
        "df.createOrReplaceTempView('t')\nout = spark.sql('SELECT * FROM t WHERE k = :b', args={'b': keys[1]})"
    ),
    "SQL with places": (
        "df.createOrReplaceTempView('t')\nout = spark.sql('SELECT * FROM t WHERE k = ?', args=[keys[1]])"
    ),
    "SQL with a variable of PySpark": "out = spark.sql('SELECT * FROM {d} WHERE k = {b}', d=df, b=keys[1])",
    "expressions": "out = df.selectExpr(f\"'{keys[1]}' AS x\")",
    "expr": "out = df.withColumn('e', F.expr(f'v + {x}'))",
    "a column of a function made elsewhere": (
        "band = F.when(df.v < 30, keys[1]).otherwise('over')\n"
        "out = df.withColumn('o', F.when(df.k == 'x', 1).otherwise(0)).withColumn('band', band)"
    ),
    "when": "out = df.withColumn('c', F.when(df.k == 'a', keys[1]).otherwise('z'))",
    "otherwise": "out = df.withColumn('c', F.when(df.k == 'a', 'b').otherwise(keys[1]))",
    "fillna": "out = df.fillna(x)",
    "fillna of a dictionary": "out = df.fillna({'k': keys[1]})",
    "replace": "out = df.replace(keys[1], 'z')",
    "replace to": "out = df.replace('z', keys[1])",
    "a mapping": (
        "mapping = {r.k: r.v for r in got}\npairs = [F.lit(p) for kv in mapping.items() for p in kv]\n"
        "out = df.withColumn('m', F.create_map(*pairs)[df.k])"
    ),
    "a loop": "out = df\nfor r in got:\n    out = out.withColumn('c', F.when(F.col('k') == r.k, r.v))",
    "conditions in a list": "conds = [df.k == k for k in keys]\nout = df.filter(functools.reduce(operator.or_, conds))",
    "limit": "out = df.limit(int(got[4].v) + 37)",
    "pivot": "out = df.groupBy('v').pivot('k', sorted(set(keys))).sum('v')",
    "sampleBy": "out = df.sampleBy('k', {k: 0.5 for k in keys}, 3)",
    "like": "out = df.filter(df.k.like(keys[0] + '%'))",
    "a window's frame": "out = df.select(F.sum('v').over(Window.orderBy('v').rowsBetween(-int(x) - 40, 0)))",
    "lag's default": "out = df.select(F.lag('k', 1, keys[1]).over(Window.orderBy('v')))",
    "a date": "out = df.filter(df.t > got[0].t)",
    "a date, as a literal": "out = df.withColumn('d', F.lit(got[0].t))",
    "a decimal": "out = df.filter(df.v * Decimal('1.5') > Decimal(str(x)))",
    "functions of the script": "def keep(d, ks):\n    return d.filter(d.k.isin(ks))\nout = keep(keep(df, ['a']), keys)",
    "a class": (
        "class Job:\n    def __init__(self, day):\n        self.day = day\n    def run(self, d):\n"
        "        return d.filter(d.k == self.day)\nout = Job(keys[1]).run(df)"
    ),
    "pandas": "p = df.toPandas()\nout = df.filter(df.v > float(p.v.mean()) + 0.125)",
    "in a subquery": (
        "df.createOrReplaceTempView('t')\nout = df.filter(df.v.isNotNull()).join(spark.sql(f'SELECT k FROM t "
        "WHERE v > {x}'), 'k')"
    ),
    "an array": "out = df.withColumn('a', F.array(*[F.lit(k) for k in keys]))",
    "a list as a literal": "out = df.withColumn('a', F.lit(keys))",
    "beneath a view": "df.filter(df.k == keys[1]).createOrReplaceTempView('w')\nout = spark.sql('SELECT * FROM w')",
    "a view of SQL": (
        "df.createOrReplaceTempView('t')\nspark.sql(f\"CREATE OR REPLACE TEMP VIEW w AS SELECT * FROM t "
        "WHERE k = '{keys[1]}'\")\n"
        "out = spark.sql('SELECT * FROM w')"
    ),
    "UDF": "f = udf(lambda k: k in keys, 'boolean')\nout = df.filter(f('k'))",
    "UDF with a broadcast": (
        "b = spark.sparkContext.broadcast({r.k: r.v for r in got})\nf = udf(lambda k: b.value.get(k), "
        "'bigint')\nout = df.withColumn('m', f('k'))"
    ),
    "pandas UDF": "f = pandas_udf(lambda s: s + x, 'bigint')\nout = df.withColumn('m', f('v'))",
    "pandas UDAF": (
        "@pandas_udf('double')\ndef f(s: pd.Series) -> float:\n    return s.mean() + x\nout = "
        "df.groupBy('k').agg(f('v'))"
    ),
    "mapInPandas": "out = df.mapInPandas(lambda it: (p[p.k.isin(keys)] for p in it), df.schema)",
    "mapInArrow": "out = df.mapInArrow(lambda it: it, df.schema)",
    "applyInPandas": "out = df.groupBy('k').applyInPandas(lambda p: p, df.schema)",
    "cogroup": "out = df.groupBy('k').cogroup(df.groupBy('k')).applyInPandas(lambda a, b: a, df.schema)",
    "applyInArrow": "out = df.groupBy('k').applyInArrow(lambda t: t, df.schema)",
    "UDTF": (
        "from pyspark.sql.functions import udtf\n@udtf(returnType='a STRING')\nclass Keys:\n    def eval(self, k):\n"
        "        yield (keys[0],)\nout = df.lateralJoin(Keys(F.col('k').outer()))"
    ),
    "RDD": "out = df.rdd.filter(lambda r: r.k in keys).toDF(df.schema)",
    "rows made": "out = spark.createDataFrame([(k,) for k in keys], 'k STRING')",
    "rows made, joined": (
        "ks = spark.createDataFrame([(k,) for k in keys], 'k STRING')\nout = df.join(ks, 'k', 'left_semi')"
    ),
    "rows of pandas": "p = df.toPandas()\nout = spark.createDataFrame(p[p.v % 2 == 0])",
    "rows of Arrow": "out = spark.createDataFrame(df.toArrow())",
    "rows of an RDD": "out = spark.sparkContext.parallelize([(k,) for k in keys]).toDF(['k'])",
    "rows of VALUES": "v = ', '.join(f\"('{k}')\" for k in keys)\nout = spark.sql(f'SELECT * FROM VALUES {v} AS v(k)')",
    "ranges": "out = spark.range(int(x), 50)",
}
PANDAS = "import pyspark.pandas as ps\nd = ps.read_parquet(source)\np = df.toPandas()\n"
SHOWN["pandas on Spark"] = PANDAS + "out = d[d.v > 5].assign(w=d.v * 2 + 1).sort_values('v').head(7).to_spark()"
SHOWN["rows of pandas on Spark"] = PANDAS + "out = ps.DataFrame({'a': [1, 2]}).to_spark()"
SHOWN["rows of pandas, handed over"] = PANDAS + "out = ps.from_pandas(pd.DataFrame({'a': [1, 2]})).to_spark()"
HIDDEN["pandas on Spark"] = PANDAS + "out = d[d.v > int(p.v[0])].to_spark()"
HIDDEN["pandas on Spark, isin"] = PANDAS + "out = d[d.k.isin(keys)].to_spark()"
HIDDEN["rows of pandas on Spark"] = PANDAS + "out = ps.DataFrame({'a': keys}).to_spark()"
HIDDEN["rows of pandas, handed over"] = PANDAS + "out = ps.from_pandas(p[p.v > 3]).to_spark()"
HIDDEN["pandas on Spark, computed on the driver"] = PANDAS + "out = d.apply(lambda s: s.astype(str)).to_spark()"
CONFIG = (
    "import enum\nfrom dataclasses import dataclass\n@dataclass\nclass Config:\n    label: str\n    least: int = 40\n"
    "class Level(enum.Enum):\n    HIGH = 'high'\nconfig = Config(label='big')\n"
)
SHOWN["a data class"] = CONFIG + "out = df.withColumn('c', F.when(df.v > config.least, config.label).otherwise('z'))"
SHOWN["an enumeration"] = CONFIG + "out = df.filter(df.k == Level.HIGH.value).replace(Level.HIGH.value, config.label)"
HIDDEN["beside a data class"] = (
    CONFIG + "out = df.withColumn('c', F.when(df.v > 1, keys[0]).when(df.v > 2, config.label))"
)
VARIABLE = "df.createOrReplaceTempView('t')\nspark.sql('DECLARE OR REPLACE VARIABLE most BIGINT')\n"
SHOWN["a session variable"] = VARIABLE + "spark.sql('SET VAR most = 700')\nout = df.filter('v > most')"
HIDDEN["a session variable"] = (
    VARIABLE + "spark.sql('SET VAR most = (SELECT max(v) FROM t)')\nout = df.filter('v >= most')"
)
HIDDEN["a session variable with a value"] = VARIABLE + "spark.sql(f'SET VAR most = {x}')\nout = df.filter('v >= most')"
SHOWN["click"] = (
    "def option(name):\n    return lambda f: f\n@option('--day')\ndef main(day):\n"
    "    return df.withColumn('d', F.lit(day))\nout = main(*sys.argv[1:2])"
)
SHOWN["VALUES that are filled in"] = "out = spark.sql('SELECT * FROM VALUES (:a) AS v(a)', args={'a': 'b'})"
HIDDEN["VALUES that are filled in"] = "out = spark.sql('SELECT * FROM VALUES (:a) AS v(a)', args={'a': keys[0]})"
LONG = ".filter(F.col('v') > 700)" * 150
SHOWN["a long chain"] = f"out = df.filter(F.col('k') == F.lit('q')){LONG}"
HIDDEN["a long chain"] = f"out = df.filter(F.col('k') == F.lit(keys[0])){LONG}"


@pytest.fixture(scope="module")
def source(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    return table(spark, tmp_path_factory.mktemp("hidden"))


@pytest.mark.parametrize("case", SHOWN)
def test_shown(case: str, spark: Any, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert look(SHOWN[case], spark, source, tmp_path, monkeypatch).reason == ""


@pytest.mark.parametrize("case", HIDDEN)
def test_hidden(case: str, spark: Any, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = look(HIDDEN[case], spark, source, tmp_path, monkeypatch)
    assert found and found.reason.endswith(".")


NUMBERS = {
    "lit": "out = df.withColumn('n', F.lit(n))",
    "an operator": "out = df.filter(df.v > n / 2)",
    "fillna": "out = df.filter(df.k == 'a').fillna(n)",
    "SQL": "out = df.filter(f'v > {n} and v < 100')",
    "a statistic": "out = df.withColumn('z', (df.v - mean) / F.lit(n))",
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers(case: str, spark: Any, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that derive from reads of one number alone are told apart."""
    head = "n = df.count() + 1000\nmean = df.agg(F.avg('v')).first()[0]\n"
    line = len(HEAD.splitlines()) + 1
    numbers = frozenset(f"{tmp_path / 'script.py'}:{i}" for i in (line, line + 1))
    assert look(head + NUMBERS[case], spark, source, tmp_path, monkeypatch)
    assert not look(head + NUMBERS[case], spark, source, tmp_path, monkeypatch, numbers)
    assert look(head + "n += x\n" + NUMBERS[case], spark, source, tmp_path, monkeypatch, numbers)


@pytest.mark.parametrize("text", ["SELECT * FROM VALUES (1), (2) AS v(a)", "SELECT * FROM VALUES (:a) AS v(a)"])
def test_rows_of_a_text_that_nothing_noted(text: str, spark: Any, tmp_path: Path) -> None:
    """The text itself says so, where a statement such as INSERT made the rows."""
    program().forget()
    run(tmp_path, f"text = {text!r}\nx = print()\n")
    plan = spark.sql(text, args={"a": 1} if ":a" in text else None)._jdf.queryExecution().analyzed()
    with ThreadPoolExecutor(1) as alone:
        assert alone.submit(hidden, Jvm(spark), plan).result()
        program().source(str(tmp_path / "script.py"))
        assert not alone.submit(hidden, Jvm(spark), plan).result()

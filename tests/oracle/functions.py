"""SQL of every built-in function that random plans draw, over the columns p (int), q (text) and r (long).

Plain Spark computes their values over the oracle's literal rows; the oracle itself knows which rows they came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from oracle.cases import configured
from pyspark.version import __version__

VERSION = tuple(int(part) for part in __version__.split(".")[:2])

VARIABLES = (
    "p AS i",
    "r AS l",
    "r / 2 AS d",
    "CAST(CAST(r AS DECIMAL(12, 2)) * 0.75 AS DECIMAL(14, 2)) AS n",
    "q AS s",
    "p > 1 AS b",
    "date_add(DATE'2020-02-28', p) AS dt",
    "timestamp_seconds(pmod(r, 100000) * 86399) AS ts",
    "array(p, 1, NULL, 3, 0) AS a",
    "map('k', p) AS m",
    "named_struct('u', p, 'v v', q) AS st",
    "CAST(q AS BINARY) AS bin",
    "to_json(named_struct('p', p, 'q', array(r))) AS j",
    "parse_json(to_json(named_struct('p', p, 'q', array(r)))) AS va",
)
"""Columns of every type, of which expressions.sql speaks."""

_MORE = """
i != 2
i <> 2
NOT b
b OR i = 0
b AND i = 2
! b
i <= 2
i >= 2
i == 2
i < 2
i > 2
regexp(s, 'a')
regexp_like(s, 'a')
isnotnull(i)
isnull(i)
like(s, 'a%')
acos(d / 1000000)
acosh(abs(d) + 1)
asin(d / 1000000)
asinh(d)
atan(d)
atan2(d, i)
atanh(d / 1000000)
cbrt(d)
ceiling(d)
cos(d)
cosh(i)
cot(d + 1)
csc(d + 1)
degrees(d)
expm1(i)
hypot(i, d)
log10(abs(d) + 1)
log1p(abs(d))
log2(abs(d) + 1)
mod(l, 3)
negative(i)
positive(i)
power(i, 2)
radians(d)
rint(d)
sec(d)
signum(i)
sinh(i)
tan(d)
tanh(d)
try_mod(l, i)
try_subtract(l, i)
unhex(hex(bin))
i | 4
l >> 1
l >>> 1
l << 1
bit_get(l, 1)
getbit(l, 0)
shiftright(i, 1)
shiftrightunsigned(i, 1)
convert_timezone('UTC', 'Europe/Paris', timestamp_ntz'2020-01-01 00:00:00')
date_diff(dt, DATE'2020-01-01')
date_from_unix_date(i)
datediff(dt, DATE'2020-01-01')
datepart('year', dt)
day(dt)
dayname(dt)
dayofmonth(dt)
dayofweek(dt)
dayofyear(dt)
from_utc_timestamp(ts, 'Asia/Tokyo')
hour(ts)
make_dt_interval(1, i, 3, 4)
make_timestamp(2020, 1, 1, coalesce(i, 0), 0, 0)
make_timestamp_ltz(2020, 1, 1, coalesce(i, 0), 0, 0)
make_timestamp_ntz(2020, 1, 1, coalesce(i, 0), 0, 0)
make_ym_interval(1, i)
minute(ts)
month(dt)
monthname(dt)
next_day(dt, 'MON')
quarter(dt)
second(ts)
timestamp_micros(l)
timestamp_millis(l)
to_date('2020-01-02')
to_timestamp_ltz('2020-01-02')
to_timestamp_ntz('2020-01-02')
to_unix_timestamp(ts)
to_utc_timestamp(ts, 'Asia/Tokyo')
try_make_interval(1, i)
try_make_timestamp(2020, i, 1, 0, 0, 0)
try_make_timestamp_ltz(2020, i, 1, 0, 0, 0)
try_make_timestamp_ntz(2020, i, 1, 0, 0, 0)
unix_date(dt)
unix_micros(ts)
unix_millis(ts)
unix_seconds(ts)
weekofyear(dt)
aes_decrypt(aes_encrypt(s, '0000000000000000', 'ECB'), '0000000000000000', 'ECB')
try_aes_decrypt(bin, '0000000000000000', 'ECB')
bitmap_bit_position(l)
bitmap_bucket_number(l)
bitmap_count(bin)
java_method('java.lang.Math', 'abs', coalesce(i, 0))
reflect('java.lang.Math', 'abs', coalesce(i, 0))
try_reflect('java.lang.Math', 'abs', coalesce(i, 0))
map_zip_with(m, m, (k, x, y) -> x + y)
transform_keys(m, (k, v) -> concat(k, 'x'))
array_except(a, array(1))
array_intersect(a, array(1, 3))
array_min(a)
array_prepend(a, 7)
array_remove(a, 1)
array_repeat(s, 2)
array_size(a)
arrays_overlap(a, array(3, 9))
arrays_zip(a, a)
bit_length(s)
btrim(s)
char_length(s)
character_length(s)
chr(97 + coalesce(i, 0))
collate(s, 'UTF8_LCASE')
collation(s)
decode(bin, 'UTF-8')
endswith(s, 'a')
lcase(s)
len(s)
locate('a', s)
make_valid_utf8(s)
octet_length(s)
printf('%s', s)
regexp_extract_all(s, '(a)', 1)
regexp_instr(s, 'a')
regexp_substr(s, 'a')
repeat(s, 2)
right(s, 1)
rpad(s, 3, 'x')
rtrim(s)
space(i)
substring_index(s, 'a', 1)
to_varchar(n, '999999999999.99')
try_to_binary(s, 'hex')
try_validate_utf8(s)
ucase(s)
unbase64(base64(bin))
validate_utf8(s)
CASE WHEN b THEN 1 END
nullifzero(i)
bigint(i)
binary(s)
boolean(i)
date(ts)
decimal(i)
double(i)
float(i)
smallint(i)
string(i)
timestamp(dt)
tinyint(i)
cardinality(a)
concat(s, 'x')
sha(s)
sha1(s)
schema_of_csv('1,a')
to_xml(named_struct('p', i))
from_xml('<p><u>1</u></p>', 'u INT')
schema_of_xml('<p><u>1</u></p>')
xpath('<a><b>1</b></a>', 'a/b/text()')
xpath_boolean('<a>1</a>', 'a')
xpath_double('<a>1</a>', 'a')
xpath_float('<a>1</a>', 'a')
xpath_int('<a>1</a>', 'a')
xpath_long('<a>1</a>', 'a')
xpath_number('<a>1</a>', 'a')
xpath_short('<a>1</a>', 'a')
is_variant_null(va)
schema_of_variant(va)
to_variant_object(a)
try_parse_json(j)
try_variant_get(va, '$.p', 'INT')
variant_get(va, '$.p', 'INT')
map_from_entries(array(struct(1, s)))
try_parse_url('http://a/b', 'HOST')
try_url_decode(s)
url_decode('a%20b')
url_encode(s)
shuffle(array(i), 3)
between(i, 1, 2)
date_part('month', dt)
date_trunc('DAY', ts)
pmod(i, 2)
"""

_FROM_43 = """
from_base32(to_base32(bin))
hmac('key', s)
is_valid_variant(va)
jaro_winkler_similarity(s, 'ab')
time_bucket(INTERVAL '15' MINUTE, ts, TIMESTAMP '1970-01-01 00:00:00')
timestamp_nanos(l * 1000)
unix_nanos(timestamp_nanos(l))
variant_array_append(va, '$.q', 4)
try_variant_array_append(va, '$', 4)
variant_delete(va, '$.p')
variant_insert(va, '$.new', i)
try_variant_insert(va, '$.p', i)
variant_set(va, '$.p', 2)
try_variant_set(va, '$.p', i)
variant_strip_nulls(va)
vector_cosine_similarity(array(FLOAT(i), 1F), array(2F, 1F))
vector_inner_product(array(FLOAT(i), 1F), array(2F, 1F))
vector_l2_distance(array(FLOAT(i), 1F), array(2F, 1F))
vector_norm(array(FLOAT(i), 1F), 2F)
vector_normalize(array(FLOAT(i), 1F), 2F)
"""

SCALARS: tuple[str, ...] = (
    *(Path(__file__).parent / "expressions.sql").read_text(encoding="utf-8").splitlines(),
    *(line for line in _MORE.splitlines() if line),
    *(("quote(s)", "try_to_date('2020-01-02')") if VERSION >= (4, 1) else ()),
    *((line for line in _FROM_43.splitlines() if line) if VERSION >= (4, 3) else ()),
)

ROUNDED = "round({}, 6) + 0.0D"
"""Sums of fractions depend on the order in which they are added up."""

AGGREGATES: tuple[str, ...] = (
    "any(p > 1)",
    "approx_count_distinct(r)",
    "approx_percentile(r, 0.5)",
    "avg(r)",
    "bit_and(r)",
    "bit_or(r)",
    "bit_xor(r)",
    "bitmap_count(bitmap_construct_agg(bitmap_bit_position(p)))",
    "bitmap_count(bitmap_or_agg(CAST(q AS BINARY)))",
    "bool_and(p > 0)",
    "bool_or(p > 2)",
    "sort_array(collect_set(r))",
    ROUNDED.format("corr(p, r)"),
    "count(r)",
    "count(*)",
    "count(DISTINCT p, q)",
    "sum(DISTINCT r)",
    "sum(r) FILTER (WHERE p > 1)",
    "count_if(p > 1)",
    "count_min_sketch(r, 0.5D, 0.5D, 1)",
    ROUNDED.format("covar_pop(p, r)"),
    ROUNDED.format("covar_samp(p, r)"),
    "every(p > 0)",
    "hll_sketch_estimate(hll_union(hll_sketch_agg(p), hll_sketch_agg(CAST(r AS INT)), true))",
    "hll_sketch_estimate(hll_sketch_agg(r))",
    ROUNDED.format("kurtosis(r)"),
    "listagg(q, ',') WITHIN GROUP (ORDER BY q)",
    "string_agg(q, ',') WITHIN GROUP (ORDER BY q)",
    "max(q)",
    "max_by(r, struct(p, r))",
    "mean(r)",
    "median(r)",
    "min(q)",
    "min_by(r, struct(p, r))",
    "mode(r, true)",
    "percentile(r, 0.3)",
    "percentile_approx(r, array(0.2, 0.8))",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY r)",
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY r)",
    *(
        ROUNDED.format(f"regr_{name}(p, r)")
        for name in ("avgx", "avgy", "intercept", "r2", "slope", "sxx", "sxy", "syy")
    ),
    "regr_count(p, r)",
    "schema_of_variant_agg(parse_json(to_json(named_struct('p', p))))",
    ROUNDED.format("skewness(r)"),
    "some(p > 2)",
    *(ROUNDED.format(f"{name}(r)") for name in ("std", "stddev", "stddev_pop", "stddev_samp")),
    *(ROUNDED.format(f"{name}(r)") for name in ("var_pop", "var_samp", "variance")),
    "sum(r)",
    "sum(p + 0.5)",
    "try_avg(r)",
    "try_sum(r)",
    *(
        (
            "theta_sketch_estimate(theta_sketch_agg(r))",
            "kll_sketch_get_n_bigint(kll_sketch_agg_bigint(r))",
            "kll_sketch_get_n_double(kll_sketch_agg_double(CAST(r AS DOUBLE)))",
            "kll_sketch_get_n_float(kll_sketch_agg_float(CAST(p AS FLOAT)))",
            *(
                f"theta_sketch_estimate(theta_{how}(theta_sketch_agg(p), theta_sketch_agg(CAST(r AS INT))))"
                for how in ("union", "difference", "intersection")
            ),
            *(
                f"kll_sketch_{what.format(t)}"
                for t, r in (
                    ("bigint", "coalesce(r, 0)"),
                    ("double", "coalesce(r / 2, 0)"),
                    ("float", "FLOAT(coalesce(p, 0))"),
                )
                for what in (
                    f"get_quantile_{{0}}(kll_sketch_agg_{{0}}({r}), 0.5D)",
                    f"get_rank_{{0}}(kll_sketch_agg_{{0}}({r}), {t.upper()}(1))",
                    f"get_n_{{0}}(kll_sketch_merge_{{0}}(kll_sketch_agg_{{0}}({r}), kll_sketch_agg_{{0}}({r})))",
                )
            ),
        )
        if VERSION >= (4, 1)
        else ()
    ),
    *(
        (
            "sort_array(collect_union(array(r, p)))",
            "vector_avg(array(FLOAT(p), 1F))",
            "vector_sum(array(FLOAT(p), 1F))",
            *(
                text.replace("#", t)
                for t, cast in (("double", "DOUBLE"), ("integer", "INT"))
                for a, b in [(f"tuple_sketch_agg_{t}(p, {cast}(r))", f"tuple_sketch_agg_{t}(INT(r), {cast}(p))")]
                for text in (
                    f"tuple_sketch_estimate_#({a})",
                    f"tuple_sketch_summary_#({a})",
                    f"tuple_sketch_theta_#({a})",
                    *(
                        f"tuple_sketch_estimate_#(tuple_{how}_{other})"
                        for how in ("difference", "intersection", "union")
                        for other in (f"#({a}, {b})", f"theta_#({a}, theta_sketch_agg(INT(r)))")
                    ),
                )
            ),
        )
        if VERSION >= (4, 3)
        else ()
    ),
)
"""Whose value does not depend on the order of the rows."""

ORDERED_AGGREGATES: tuple[str, ...] = (
    "any_value(r)",
    "array_agg(r)",
    "collect_list(r)",
    "first(r)",
    "first(r, true)",
    "first_value(q)",
    "histogram_numeric(r, 3)",
    "last(r)",
    "last_value(r, true)",
    "listagg(q, ',')",
    "max_by(r, p)",
    "min_by(r, p)",
    "mode(q)",
    *(("approx_top_k(r)", "approx_top_k_estimate(approx_top_k_accumulate(r))") if VERSION >= (4, 1) else ()),
)
"""Whose value does: they are drawn over one partition in one order."""

MERGED: tuple[tuple[str, str], ...] = (
    ("hll_sketch_agg(r)", "hll_sketch_estimate(hll_union_agg(s))"),
    *(
        (
            ("bitmap_construct_agg(bitmap_bit_position(coalesce(p, 0)))", "bitmap_count(bitmap_and_agg(s))"),
            ("theta_sketch_agg(r)", "theta_sketch_estimate(theta_union_agg(s))"),
            ("theta_sketch_agg(r)", "theta_sketch_estimate(theta_intersection_agg(s))"),
            ("kll_sketch_agg_bigint(r)", "kll_sketch_get_n_bigint(kll_merge_agg_bigint(s))"),
            ("kll_sketch_agg_double(CAST(r AS DOUBLE))", "kll_sketch_get_n_double(kll_merge_agg_double(s))"),
            ("kll_sketch_agg_float(CAST(p AS FLOAT))", "kll_sketch_get_n_float(kll_merge_agg_float(s))"),
            ("approx_top_k_accumulate(r)", "size(approx_top_k_estimate(approx_top_k_combine(s)))"),
        )
        if VERSION >= (4, 1)
        else ()
    ),
    *(
        (f"tuple_sketch_agg_{t}(p, {cast}(r))", f"tuple_sketch_estimate_{t}(tuple_{how}_agg_{t}(s))")
        for t, cast in (("double", "DOUBLE"), ("integer", "INT"))
        for how in ("intersection", "union")
        if VERSION >= (4, 3)
    ),
)
"""An aggregate of groups by p and q, and one by p over what that made."""

_ROWS = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
WINDOWS: tuple[tuple[str, str], ...] = (
    *((f, "") for f in ("row_number()", "rank()", "dense_rank()", "percent_rank()", "cume_dist()", "ntile(2)")),
    *((f, "") for f in ("lag(r)", "lead(r, 1, 9)", "lag(q, 2, 'none')", "lead(r) IGNORE NULLS")),
    ("nth_value(r, 2)", _ROWS),
    ("first_value(r)", ""),
    ("last_value(r) IGNORE NULLS", _ROWS),
    ("sum(r)", "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"),
    ("max(r)", "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
    ("count(*)", _ROWS),
    ("collect_list(r)", "ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING"),
    *((("counter_diff(abs(r))", ""),) if VERSION >= (4, 3) else ()),
)
"""A function, and its frame over an order of all columns."""

GENERATORS: tuple[tuple[str, str, str], ...] = (
    ("explode(array(r, p))", "v", "v"),
    ("explode_outer(CASE WHEN p > 1 THEN array(r, 1) END)", "v", "v"),
    ("explode(map(coalesce(p, 0), r))", "k, v", "k + v"),
    ("posexplode(array(r, p, r))", "k, v", "concat_ws(',', k, v)"),
    ("posexplode_outer(filter(array(r, p), x -> x > 1))", "k, v", "concat_ws(',', k, v)"),
    ("inline(array(struct(p, q), named_struct('p', p + 1, 'q', q)))", "k, v", "concat_ws(',', k, v)"),
    ("inline_outer(CASE WHEN p > 1 THEN array(struct(p, q)) END)", "k, v", "concat_ws(',', k, v)"),
    ("stack(2, r, p + 1L, 7L, r)", "k, v", "concat_ws(',', k, v)"),
    ("json_tuple(to_json(named_struct('a', p, 'b', q)), 'a', 'b')", "k, v", "concat_ws(',', k, v)"),
)
"""Of each row: the generator, the names of its columns, the value taken from them. All but the last also as LATERAL."""

TABLE_FUNCTIONS: tuple[tuple[str, str, str], ...] = (
    ("variant_explode(parse_json(to_json(array(r, p))))", "n, k, v", "concat_ws(',', n, CAST(v AS STRING))"),
    ("variant_explode_outer(parse_json(to_json(array(r))))", "n, k, v", "concat_ws(',', n, CAST(v AS STRING))"),
    *GENERATORS,
)


def folded(value: str, *others: str) -> str:
    """Return SQL of a small number that says what values of any types are.

    The value of r is always among them: what computes r, Spark computes only where something uses it.
    """
    values = ", ".join(f"CAST({v} AS STRING)" for v in (value, *others))
    return f"CAST(pmod(xxhash64(concat_ws('~', {values})), 5) AS BIGINT)"


def by_spark(text: str, rows: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Run SQL over literal rows in plain Spark; ``{rows}`` in it has the columns nr (their places), p, q and r."""
    return list(_by_spark(text, tuple(tuple(row) for row in rows)))


@lru_cache(4096)
def _by_spark(text: str, rows: tuple[tuple[Any, ...], ...]) -> tuple[tuple[Any, ...], ...]:
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession()
    assert spark is not None
    values = ", ".join(f"({n}, {', '.join(map(_literal, row))})" for n, row in enumerate(rows)) or "(0, 0, '', 0)"
    typed = "CAST(nr AS INT) AS nr, CAST(p AS INT) AS p, CAST(q AS STRING) AS q, CAST(r AS BIGINT) AS r"
    some = "" if rows else " WHERE false"
    given = f"(SELECT {typed} FROM VALUES {values} AS v(nr, p, q, r){some})"
    with configured(spark, {"spark.sql.leafNodeDefaultParallelism": 1}):  # one partition: some functions see its order
        return tuple(tuple(row) for row in spark.sql(text.replace("{rows}", given)).coalesce(1).collect())


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'" if isinstance(value, str) else str(value)

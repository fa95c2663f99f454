i + l * 2 - 1
-i
i / 2
l div 2
l % 3
try_add(i, 2147483647)
try_divide(i, 0)
try_multiply(l, 3L)
abs(i)
i = 1 AND NOT b OR d > 0.5
i <=> NULL
i BETWEEN 0 AND 5
i NOT IN (1, 2)
s IN ('x', 'a''b\\c')
i IS NULL
s LIKE '%\\_%'
s LIKE 'a%' ESCAPE '/'
s RLIKE '^a'
s ILIKE 'A%'
s LIKE ANY ('a%', 'Z%')
s || '-' || i
CASE WHEN i > 0 THEN 'p' WHEN i < 0 THEN 'n' END
IF(b, i, l)
coalesce(i, l, 0)
nvl(s, 'none')
nvl2(s, 1, 2)
nullif(i, 1)
ifnull(d, 0)
greatest(i, l)
least(d, n)
decode(i, 1, 'one', 'other')
zeroifnull(i)
CAST(i AS STRING)
CAST(s AS BINARY)
try_cast(s AS INT)
CAST(n AS DECIMAL(20, 4))
CAST(d AS FLOAT)
CAST(ts AS DATE)
CAST(i AS TINYINT)
CAST(a AS ARRAY<STRING>)
CAST(l AS TIMESTAMP)
CAST(b AS INT)
n * 2 + 0.5
n / 3
round(d, 1)
1Y + i
2S
3.5F
1e10D
12.340BD
'tab\tnew\nline'
"double"
NULL
DOUBLE('NaN')
FLOAT('Infinity')
X'ab'
DATE'2020-01-31' + INTERVAL 1 MONTH
ts + INTERVAL '1 02:03:04.5' DAY TO SECOND
dt - DATE'2020-01-01'
ts - ts
dt + INTERVAL '3-4' YEAR TO MONTH
ts + make_interval(1, 2, 0, i)
date_add(dt, i)
date_sub(dt, 3)
year(dt)
extract(MONTH FROM ts)
date_part('dow', dt)
date_trunc('HOUR', ts)
trunc(dt, 'MM')
date_format(ts, 'yyyy-MM')
try_to_timestamp(s, 'yyyy')
to_timestamp('2020-01-01 00:00:00')
unix_timestamp(ts)
from_unixtime(l)
last_day(dt)
timestamp_ntz'2020-01-01 01:02:03'
make_date(2020, 1, abs(i))
months_between(ts, dt)
add_months(dt, i)
weekday(dt)
timestampadd(HOUR, 2, ts)
timestampdiff(DAY, ts, TIMESTAMP'2022-01-01')
dateadd(DAY, i, dt)
upper(s)
lower(s)
trim(BOTH 'a' FROM s)
ltrim(s)
substring(s, 2, 3)
substr(s FROM 2 FOR 1)
left(s, 2)
length(s)
regexp_replace(s, '[a-z]', 'x')
regexp_extract(s, '(.)', 1)
regexp_count(s, 'a')
split(s, '')
split_part(s, 'b', 1)
concat_ws('-', s, 'z')
format_string('%s/%d', s, i)
lpad(s, 6, '*')
initcap(s)
translate(s, 'ab', 'xy')
reverse(s)
replace(s, 'a', 'q')
instr(s, 'b')
position('b' IN s)
contains(s, 'a')
startswith(s, 'a')
overlay(s PLACING 'W' FROM 1)
md5(s)
sha2(s, 256)
hash(i, s)
xxhash64(i, s)
base64(bin)
hex(bin)
crc32(bin)
encode(s, 'UTF-8')
mask(s)
try_element_at(a, 1)
a[i]
element_at(m, 'k')
try_element_at(a, 9)
size(a)
array_contains(a, 3)
sort_array(a)
array(i, l)
get(a, 1)
array_distinct(a)
array_join(a, ',', '?')
slice(a, 1, 2)
sequence(1, 5, 2)
array_max(a)
flatten(array(a, a))
array_position(a, 1)
array_union(a, a)
array_append(a, 8)
array_insert(a, 1, 9)
array_compact(a)
transform(a, x -> x + i)
transform(a, (x, k) -> x * k)
filter(a, x -> x > 1)
exists(a, x -> x = 3)
forall(a, x -> x > 0)
aggregate(a, 0, (acc, x) -> acc + coalesce(x, 0), acc -> acc * 2)
zip_with(a, a, (x, y) -> x + y)
array_sort(array(3, i, 1), (x, y) -> coalesce(y, 0) - coalesce(x, 0))
transform(a, x -> aggregate(a, x, (p, q) -> p + q))
reduce(a, 1, (p, q) -> p + 1)
m['k']
map_keys(m)
map_values(m)
map('a', i)
map_filter(m, (k, v) -> v > 0)
transform_values(m, (k, v) -> v + 1)
map_entries(m)
map_from_arrays(array(1, 2), array('x', s))
map_concat(m, map('z', 2))
map_contains_key(m, 'k')
st.u
st.`v v`
struct(i, s)
named_struct('x', i, 'y', struct(l))
array(st).u
named_struct('a b', named_struct('c', i)).`a b`.c
from_json(j, 'p INT, q ARRAY<INT>')
to_json(st)
get_json_object(j, '$.p')
json_array_length(j)
schema_of_json('{"a": 1}')
from_json(j, 'p INT', map('mode', 'PERMISSIVE'))
from_csv('1,2', 'x INT, y INT')
to_csv(st)
json_object_keys(j)
floor(d)
ceil(d)
sqrt(abs(d))
pow(i, 2)
ln(abs(d) + 1)
log(2, 8)
exp(d)
sin(d)
bround(n, 1)
sign(i)
pmod(i, 3)
width_bucket(d, 0, 10, 5)
conv('ff', 16, 10)
bin(l)
shiftleft(i, 2)
i & 3
i ^ 1
~i
bit_count(l)
factorial(3)
isnan(d)
nanvl(d, 1.0D)
typeof(n)
assert_true(true)
equal_null(i, l)
int(s IS NULL)
e()
pi()
version() IS NULL
to_number('12', '99')
to_char(n, '99.99')
try_to_number('x', '9')
format_number(d, 2)
luhn_check('79')
parse_url('http://a/b', 'HOST')
is_valid_utf8(s)
to_binary('61', 'hex')
aes_encrypt(s, '0000000000000000', 'ECB')
levenshtein(s, 'ab')
soundex(s)
find_in_set('b', 'a,b')
sentences('a b. c')
str_to_map('a:1')
xpath_string('<a>1</a>', 'a')
elt(1, s, 'y')
char(65)
ascii(s)
s LIKE 'é%'
i & 3
dt - INTERVAL '90' DAY
dt + INTERVAL 3 DAYS

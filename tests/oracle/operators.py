"""What each operator means for rows and their witnesses, one short function each, by nested loops.

aggregate and distinct owe a row to the whole group; joins to the rows joined; a semi-join to the row and
every row that makes it true; an anti-join and EXCEPT to the left rows alone; INTERSECT to the equal rows of
both sides. Context: what a scalar subquery's value was computed from, a window's partition, the rows for which a
kept duplicate stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from oracle.relation import Relation, Tagged, Witness, context
from oracle.values import eq, key, plain, rank, same

Row = Any
How = Literal["inner", "left", "right", "full", "cross", "semi", "anti"]


def where(r: Relation, condition: Callable[[Row], bool | None]) -> Relation:
    """Keep the rows for which the condition is true, neither false nor unknown."""
    return Relation(r.columns, tuple((v, w) for v, w in r.rows if condition(v) is True))


def select(r: Relation, /, *names: str, **computed: Callable[[Row], Any]) -> Relation:
    """Keep columns by name, then add computed ones."""
    return Relation.of(
        (*names, *computed),
        [((*(getattr(v, n) for n in names), *(f(v) for f in computed.values())), w) for v, w in r.rows],
    )


def rename(r: Relation, *names: str) -> Relation:
    """Give the columns other names."""
    return Relation.of(names, r.rows)


def join(
    left: Relation,
    right: Relation,
    on: Callable[[Row, Row], bool | None] = lambda a, b: True,
    how: How = "inner",
) -> Relation:
    """Join by a condition; the columns of both sides in a row, or the left's for semi and anti."""
    if how in ("semi", "anti"):
        return _filter_by(left, right, on, how == "semi")
    pairs: list[tuple[tuple[Any, ...], frozenset[Witness]]] = []
    met: set[int] = set()
    for v, w in left.rows:
        hits = [j for j, (x, _) in enumerate(right.rows) if on(v, x) is True]
        met.update(hits)
        pairs += [((*v, *right.rows[j][0]), w | right.rows[j][1]) for j in hits]
        if not hits and how in ("left", "full"):
            pairs.append(((*v, *[None] * len(right.columns)), w))
    if how in ("right", "full"):
        alone = [t for j, t in enumerate(right.rows) if j not in met]
        pairs += [((*[None] * len(left.columns), *x), y) for x, y in alone]
    return Relation.of((*left.columns, *right.columns), pairs)


def _filter_by(left: Relation, right: Relation, on: Callable[[Row, Row], bool | None], keep: bool) -> Relation:
    out: list[Tagged] = []
    for v, w in left.rows:
        hits = [y for x, y in right.rows if on(v, x) is True]
        if bool(hits) is keep:
            out.append((v, w.union(*hits)))
    return Relation(left.columns, tuple(out))


def scalar(r: Relation, name: str, subquery: Callable[[Row], Relation]) -> Relation:
    """Append the only value of the only row (None without a row) of a subquery of each row."""
    out = []
    for v, w in r.rows:
        found = subquery(v).rows
        assert len(found) < 2, "a scalar subquery has one row"
        value = found[0][0][0] if found else None
        out.append(((*v, value), w.union(*(context(y) for _, y in found))))
    return Relation.of((*r.columns, name), out)


def lateral(r: Relation, columns: Sequence[str], subquery: Callable[[Row], Relation], outer: bool = False) -> Relation:
    """Join each row with the rows of a subquery of it; `outer` keeps the rows that have none."""
    out = []
    for v, w in r.rows:
        found = subquery(v).rows
        out += [((*v, *x), w | y) for x, y in found]
        if outer and not found:
            out.append(((*v, *[None] * len(columns)), w))
    return Relation.of((*r.columns, *columns), out)


def meets(r: Relation, subquery: Callable[[Row], Relation], keep: bool = True) -> Relation:
    """Keep the rows for which a subquery of each has rows, owed to these too; or those for which it has none."""
    found = [(v, w, [y for _, y in subquery(v).rows]) for v, w in r.rows]
    return Relation(r.columns, tuple((v, w.union(*hits)) for v, w, hits in found if bool(hits) is keep))


def exists(r: Relation, name: str, other: Relation, on: Callable[[Row, Row], bool | None]) -> Relation:
    """Append whether the other side has a row for which the condition is true."""
    out = []
    for v, w in r.rows:
        hits = [y for x, y in other.rows if on(v, x) is True]
        out.append(((*v, bool(hits)), w.union(*hits)))
    return Relation.of((*r.columns, name), out)


def window(r: Relation, by: Sequence[str], /, **functions: Callable[[Row, list[Row]], Any]) -> Relation:
    """Append functions of a row and all rows of its partition."""
    out = []
    for v, w in r.rows:
        mine = [(x, y) for x, y in r.rows if all(same(getattr(v, n), getattr(x, n)) for n in by)]
        values = (f(v, [x for x, _ in mine]) for f in functions.values())
        out.append(((*v, *values), w.union(*(context(y) for _, y in mine))))
    return Relation.of((*r.columns, *functions), out)


def windows(r: Relation, *parts: Relation) -> Relation:
    """Put side by side what windows over the same rows append: none of them sees another's context."""
    n = len(r.columns)
    out = []
    for lines in zip(r.rows, *(p.rows for p in parts), strict=True):
        values = (*lines[0][0], *(x for v, _ in lines[1:] for x in v[n:]))
        out.append((values, frozenset[Witness]().union(*(w for _, w in lines))))
    return Relation.of((*r.columns, *(c for p in parts for c in p.columns[n:])), out)


def keep_first(r: Relation, by: Sequence[str]) -> Relation:
    """Of each group the row that comes first; the others are its context."""
    groups: dict[Any, list[Tagged]] = {}
    for v, w in r.rows:
        groups.setdefault(tuple(key(getattr(v, n)) for n in by), []).append((v, w))
    out = [(_keyed(rows[0][0], by), rows[0][1].union(*(context(w) for _, w in rows[1:]))) for rows in groups.values()]
    return Relation.of(r.columns, out)


def _keyed(row: Row, by: Sequence[str]) -> Row:
    return row._replace(**{n: plain(getattr(row, n)) for n in by})


def using(*names: str) -> Callable[[Row, Row], bool | None]:
    """Equality on columns of the same names, for `join`."""
    return lambda a, b: all(eq(getattr(a, n), getattr(b, n)) is True for n in names)


def group(r: Relation, by: Sequence[str], **aggregates: Callable[[list[Row]], Any]) -> Relation:
    """Group by columns (none: one row, even over no input); aggregates are functions of the group."""
    groups: dict[Any, list[Tagged]] = {} if by else {(): []}
    for v, w in r.rows:
        groups.setdefault(tuple(key(getattr(v, n)) for n in by), []).append((v, w))
    out = []
    for members in groups.values():
        rows = [v for v, _ in members]
        keys = [plain(getattr(rows[0], n)) for n in by]
        values = (*keys, *(f(rows) for f in aggregates.values()))
        out.append((values, frozenset[Witness]().union(*(w for _, w in members))))
    return Relation.of((*by, *aggregates), out)


def distinct(r: Relation) -> Relation:
    """One row of each set of equal ones, owed to all of them."""
    places = [f"c{i}" for i in range(len(r.columns))]
    return rename(group(rename(r, *places), places), *r.columns)


def union(first: Relation, *others: Relation) -> Relation:
    """Rows of all, by position."""
    return Relation.of(first.columns, [t for r in (first, *others) for t in r.rows])


def intersect(left: Relation, right: Relation) -> Relation:
    """INTERSECT: the rows in both, once."""
    return distinct(join(left, right, lambda a, b: key(tuple(a)) == key(tuple(b)), "semi"))


def subtract(left: Relation, right: Relation) -> Relation:
    """EXCEPT: the left rows that the right has not, once."""
    return distinct(join(left, right, lambda a, b: key(tuple(a)) == key(tuple(b)), "anti"))


def intersect_all(left: Relation, right: Relation) -> Relation:
    """INTERSECT ALL: as many of each row as both have; owed to the equal rows of both sides."""
    return _counted(left, right, lambda a, b: min(len(a), len(b)), True)


def subtract_all(left: Relation, right: Relation) -> Relation:
    """EXCEPT ALL: as many of each row as the left has more; which of the equal left rows they are nobody can tell."""
    return _counted(left, right, lambda a, b: len(a) - len(b), False)


def _counted(
    left: Relation, right: Relation, times: Callable[[list[Tagged], list[Tagged]], int], both_sides: bool
) -> Relation:
    groups: dict[Any, tuple[list[Tagged], list[Tagged]]] = {}
    for side, r in enumerate((left, right)):
        for t in r.rows:
            groups.setdefault(key(tuple(t[0])), ([], []))[side].append(t)
    out = []
    for ours, theirs in groups.values():
        witnesses = frozenset[Witness]().union(*(w for _, w in (ours + theirs if both_sides else ours)))
        out += [(plain(tuple(ours[0][0])), witnesses)] * max(0, times(ours, theirs)) if ours else []
    return Relation.of(left.columns, out)


def sort(r: Relation, *by: str) -> Relation:
    """Order by columns; a name with ``-`` before it is descending (nulls last, as Spark's is)."""
    rows = list(r.rows)
    for name in reversed(by):
        bare = name.lstrip("-")
        rows.sort(key=lambda t, n=bare: rank(getattr(t[0], n)), reverse=name != bare)  # type: ignore[misc]
    return Relation(r.columns, tuple(rows))


def limit(r: Relation, n: int, skip: int = 0) -> Relation:
    """The rows from `skip` on, `n` at most."""
    return Relation(r.columns, r.rows[skip : skip + n])


def explode(r: Relation, column: str, outer: bool = False, position: bool = False) -> Relation:
    """A row for each element of an array column, place and element appended; `outer` keeps the rest."""
    empty = (None, None) if position else (None,)
    out = []
    for v, w in r.rows:
        items = getattr(v, column) or []
        out += [((*v, *((i, x) if position else (x,))), w) for i, x in enumerate(items)]
        if outer and not items:
            out.append(((*v, *empty), w))
    return Relation.of((*r.columns, *(("pos", "col") if position else ("col",))), out)


def count(column: str | None = None) -> Callable[[list[Row]], int]:
    """COUNT(*), or of a column's non-null values."""
    return lambda rows: sum(column is None or getattr(v, column) is not None for v in rows)


def count_distinct(column: str) -> Callable[[list[Row]], int]:
    """COUNT(DISTINCT column)."""
    return lambda rows: len({key(getattr(v, column)) for v in rows} - {key(None)})


def total(column: str) -> Callable[[list[Row]], Any]:
    """SUM: None over no value."""
    return _over(column, sum)


def least(column: str) -> Callable[[list[Row]], Any]:
    """MIN."""
    return _over(column, lambda values: min(values, key=rank))


def most(column: str) -> Callable[[list[Row]], Any]:
    """MAX: NaN is the largest."""
    return _over(column, lambda values: max(values, key=rank))


def mean(column: str) -> Callable[[list[Row]], Any]:
    """AVG."""
    return _over(column, lambda values: sum(values) / len(values))


def _over(column: str, fold: Callable[[list[Any]], Any]) -> Callable[[list[Row]], Any]:
    def aggregate(rows: list[Row]) -> Any:
        values = [x for x in (getattr(v, column) for v in rows) if x is not None]
        return fold(values) if values else None

    return aggregate

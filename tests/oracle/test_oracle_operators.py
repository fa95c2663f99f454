"""The oracle against examples worked by hand."""

from __future__ import annotations

import math

import pytest
from oracle.operators import (
    count,
    count_distinct,
    distinct,
    exists,
    explode,
    group,
    intersect,
    intersect_all,
    join,
    keep_first,
    least,
    limit,
    mean,
    most,
    rename,
    scalar,
    select,
    sort,
    subtract,
    subtract_all,
    total,
    union,
    using,
    where,
    window,
    windows,
)
from oracle.relation import Relation, scan
from oracle.values import both, canon, either, eq, key, lt, negate, rank, same, within

NAN = float("nan")
A = scan("a", ("k", "v"), [(1, 10), (1, 11), (None, 12), (2, 13)], 0)
B = scan("b", ("k", "w"), [(1, "x"), (None, "y"), (3, "z"), (1, "u")], 1)


def rows(r: Relation) -> list[tuple[tuple[object, ...], str]]:
    """Rows with their witnesses as short text: ``a0 b1``, ``a2?`` for context, an occurrence where it is unusual."""
    usual = {"a": 0, "b": 1}
    return [
        (
            tuple(v),
            " ".join(sorted(s + str(i) + ("" if usual[s] == o else f"@{o}") + "?" * len(k) for s, o, i, *k in w)),
        )
        for v, w in r.rows
    ]


def test_scan_owes_each_row_to_itself() -> None:
    assert rows(A) == [((1, 10), "a0"), ((1, 11), "a1"), ((None, 12), "a2"), ((2, 13), "a3")]


def test_where_drops_unknown() -> None:
    assert rows(where(A, lambda r: eq(r.k, 1))) == [((1, 10), "a0"), ((1, 11), "a1")]
    assert rows(where(A, lambda r: negate(eq(r.k, 1)))) == [((2, 13), "a3")]


def test_select_computes() -> None:
    assert rows(select(limit(A, 1), "v", n=lambda r: r.v + r.k)) == [((10, 11), "a0")]


def test_inner_join_leaves_null_keys_out() -> None:
    assert rows(join(A, B, using("k"))) == [
        ((1, 10, 1, "x"), "a0 b0"),
        ((1, 10, 1, "u"), "a0 b3"),
        ((1, 11, 1, "x"), "a1 b0"),
        ((1, 11, 1, "u"), "a1 b3"),
    ]


def test_outer_joins_keep_the_unmatched() -> None:
    matched = rows(join(A, B, using("k")))
    left = [((None, 12, None, None), "a2"), ((2, 13, None, None), "a3")]
    right = [((None, None, None, "y"), "b1"), ((None, None, 3, "z"), "b2")]
    assert rows(join(A, B, using("k"), "left")) == matched + left
    assert rows(join(A, B, using("k"), "right")) == matched + right
    assert rows(join(A, B, using("k"), "full")) == matched + left + right


def test_null_safe_join_and_names() -> None:
    got = join(A, B, lambda a, b: same(a.k, b.k) and a.v == 12)
    assert rows(got) == [((None, 12, None, "y"), "a2 b1")]
    assert [v._2 for v, _ in got.rows] == [None]


def test_cross_join() -> None:
    assert len(join(A, B, how="cross").rows) == 16


def test_semi_join_owes_to_all_that_make_it_true() -> None:
    assert rows(join(A, B, using("k"), "semi")) == [((1, 10), "a0 b0 b3"), ((1, 11), "a1 b0 b3")]


def test_anti_join_owes_to_the_left_alone() -> None:
    assert rows(join(A, B, using("k"), "anti")) == [((None, 12), "a2"), ((2, 13), "a3")]


def test_group_owes_to_the_whole_group() -> None:
    got = group(A, ["k"], n=count(), s=total("v"), lo=least("v"), hi=most("v"), m=mean("v"))
    assert rows(got) == [
        ((1, 2, 21, 10, 11, 10.5), "a0 a1"),
        ((None, 1, 12, 12, 12, 12.0), "a2"),
        ((2, 1, 13, 13, 13, 13.0), "a3"),
    ]


def test_global_group_of_nothing_is_owed_to_nothing() -> None:
    nothing = where(A, lambda r: False)
    assert rows(group(nothing, [], n=count(), s=total("v"))) == [((0, None), "")]
    assert rows(group(nothing, ["k"], n=count())) == []
    assert rows(group(A, [], n=count("k"), d=count_distinct("k"))) == [((3, 2), "a0 a1 a2 a3")]


def test_group_takes_nan_as_one_and_signed_zeros_as_one() -> None:
    r = scan("a", ("x",), [(NAN,), (-0.0,), (0.0,), (-NAN,)], 0)
    got = group(r, ["x"], n=count(), hi=most("x"))
    assert [w for _, w in rows(got)] == ["a0 a3", "a1 a2"]
    assert math.isnan(got.rows[0][0].x) and repr(got.rows[1][0].x) == "0.0"


def test_distinct_takes_repeated_names() -> None:
    r = rename(scan("a", ("p", "q"), [(1, 2), (1, 3), (1, 2)], 0), "p", "p")
    assert rows(distinct(r)) == [((1, 2), "a0 a2"), ((1, 3), "a1")]


def test_union_keeps_occurrences_apart() -> None:
    again = scan("a", ("k", "v"), [(1, 10)], 2)
    assert rows(union(limit(A, 1), again)) == [((1, 10), "a0"), ((1, 10), "a0@2")]
    assert rows(distinct(union(limit(A, 1), again))) == [((1, 10), "a0 a0@2")]


def test_set_operators() -> None:
    p, q = select(A, "k"), select(B, "k")
    assert rows(intersect(p, q)) == [((1,), "a0 a1 b0 b3"), ((None,), "a2 b1")]
    assert rows(subtract(p, q)) == [((2,), "a3")]


def test_set_operators_that_count() -> None:
    p, q = select(A, "k"), select(B, "k")
    assert rows(intersect_all(p, q)) == [((1,), "a0 a1 b0 b3")] * 2 + [((None,), "a2 b1")]
    assert rows(subtract_all(q, limit(p, 1))) == [((1,), "b0 b3"), ((None,), "b1"), ((3,), "b2")]


def test_scalar_subqueries_are_context() -> None:
    got = scalar(limit(A, 2, skip=1), "n", lambda r: select(where(B, lambda b: eq(b.w, "y") and r.k == 1), "w"))
    assert rows(got) == [((1, 11, "y"), "a1 b1?"), ((None, 12, None), "a2")]


def test_exists_is_owed_to_what_makes_it_true() -> None:
    assert rows(exists(A, "e", B, using("k"))) == [
        ((1, 10, True), "a0 b0 b3"),
        ((1, 11, True), "a1 b0 b3"),
        ((None, 12, False), "a2"),
        ((2, 13, False), "a3"),
    ]


def test_a_windows_partition_is_context_its_row_too() -> None:
    one = window(A, ["k"], n=lambda r, rows: len(rows))
    assert rows(one)[0] == ((1, 10, 2), "a0 a0? a1?")
    all_of_it = window(A, [], m=lambda r, rows: len(rows))
    assert rows(limit(windows(A, one, all_of_it), 1)) == [((1, 10, 2, 4), "a0 a0? a1? a2? a3?")]


def test_the_row_kept_is_data_the_others_context() -> None:
    assert rows(keep_first(A, ["k"])) == [((1, 10), "a0 a1?"), ((None, 12), "a2"), ((2, 13), "a3")]


def test_sort_and_limit() -> None:
    assert [v.v for v, _ in sort(A, "k", "-v").rows] == [12, 11, 10, 13]
    assert [v.v for v, _ in sort(A, "-k", "v").rows] == [13, 10, 11, 12]
    assert rows(limit(sort(A, "k", "v"), 2, skip=1)) == [((1, 10), "a0"), ((1, 11), "a1")]


def test_explode() -> None:
    r = scan("a", ("id", "xs"), [(1, [7, None]), (2, []), (3, None)], 0)
    assert rows(select(explode(r, "xs"), "id", "col")) == [((1, 7), "a0"), ((1, None), "a0")]
    assert rows(select(explode(r, "xs", outer=True, position=True), "id", "pos", "col")) == [
        ((1, 0, 7), "a0"),
        ((1, 1, None), "a0"),
        ((2, None, None), "a1"),
        ((3, None, None), "a2"),
    ]


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (both(True, None), None),
        (both(False, None), False),
        (either(True, None), True),
        (either(False, None), None),
        (eq(None, None), None),
        (same(None, None), True),
        (eq(NAN, NAN), True),
        (eq(-0.0, 0.0), True),
        (lt(1.0, NAN), True),
        (lt(None, 1), None),
        (within(1, [2, None]), None),
        (within(1, [1, None]), True),
        (within(None, []), False),
    ],
)
def test_three_valued_logic(got: bool | None, expected: bool | None) -> None:
    assert got is expected


def test_names_of_values() -> None:
    assert len({canon(v) for v in (1, 1.0, True, "1", None, -0.0, 0.0)}) == 7
    assert canon(NAN) == canon(-NAN) and key((-0.0, [NAN])) == key((0.0, [NAN]))
    assert canon({"a": 1}) == canon((1,)) != canon([1])
    assert sorted([NAN, 1.0, None, -1.0], key=rank)[0] is None


def test_bag_counts_equal_rows_with_equal_witnesses() -> None:
    doubled = explode(scan("a", ("xs",), [([1, 1],)], 0), "xs")
    assert sorted(doubled.bag().values()) == [2]
    assert A.bag() != union(A, A).bag()

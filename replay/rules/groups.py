"""Operations over groups of rows: the groups of the rows in question are needed whole."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.operations import Operation
from provspark.replay.columns import FOCUS, GATHERED, HIDDEN, NUMBER, PARENT, WITNESS, labels, quoted
from provspark.replay.rules.base import Frame, Kit, of_role, outputs, select
from provspark.replay.rules.key_literals import one_of


class _Grouped:
    def keys(self, operation: Operation, kit: Kit) -> list[str]:
        raise NotImplementedError

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        raise NotImplementedError

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        child = kit.focus(operation.children[0])
        if child is None:
            return None
        members = members_of(operation, child, self.keys(operation, kit), kit)
        return self.build(operation, [members], kit).filter(FOCUS)


class Aggregate(_Grouped):
    """GROUP BY."""

    def keys(self, operation: Operation, kit: Kit) -> list[str]:
        """Return the keys' texts."""
        return [kit.sql(operation, e) for e in of_role(operation, "group")]

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """See `Rule`."""
        from pyspark.sql import functions as sf

        keys = [sf.expr(k) for k in self.keys(operation, kit)]
        made = [sf.expr(e) for e in (*outputs(operation, kit), *GATHERED)]
        return (inputs[0].groupBy(*keys) if keys else inputs[0]).agg(*made)


class Distinct(_Grouped):
    """One row of all equal ones."""

    def keys(self, operation: Operation, kit: Kit) -> list[str]:
        """Return the keys' texts: all columns."""
        return labels(operation.columns)

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """See `Rule`."""
        from pyspark.sql import functions as sf

        names = labels(operation.columns)
        made = [sf.expr(e) for e in (*(f"{n} AS {n}" for n in names), *GATHERED)]
        return inputs[0].groupBy(*[sf.expr(n) for n in names]).agg(*made)


class Window(_Grouped):
    """Values over the rows of a partition."""

    def keys(self, operation: Operation, kit: Kit) -> list[str]:
        """Return the texts of the partition's keys."""
        return [kit.sql(operation, e) for e in of_role(operation, "partition")]

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """See `Rule`."""
        return select(inputs[0], outputs(operation, kit))


class Deduplicate(_Grouped):
    """dropDuplicates on columns: which of the duplicates Spark kept is known from the store, not from the text."""

    def keys(self, operation: Operation, kit: Kit) -> list[str]:
        """Return the keys' texts."""
        return [kit.sql(operation, e) for e in of_role(operation, "group")]

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """See `Rule`."""
        from pyspark.sql import functions as sf

        if _all_columns(operation, kit):
            return Distinct().build(operation, inputs, kit)
        kit.unsure(operation, "which of some duplicates Spark kept; the first by row id is taken for it")
        keys = [sf.expr(k) for k in self.keys(operation, kit)]
        names = labels(operation.columns)
        row = ", ".join([*names, *HIDDEN])
        one = inputs[0].groupBy(*keys).agg(sf.expr(f"min_by(struct({row}), {WITNESS}) AS one"))
        return one.selectExpr(*(f"one.{n}" for n in (*names, *HIDDEN)))

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        """See `Rule`."""
        if _all_columns(operation, kit):
            return Distinct().focus(operation, kit)
        child = kit.focus(operation.children[0])
        if child is None:
            return None
        texts = self.keys(operation, kit)
        names = labels(operation.columns)
        members = members_of(operation, child, texts, kit)
        keys = ", ".join(texts)
        group = f"dense_rank() OVER (ORDER BY {keys}) AS __group"
        numbered = kit.keep(operation, members.selectExpr(*names, *HIDDEN, group))
        groups: dict[int, list[int]] = {}
        rows = numbered.collect()
        for row in rows:
            groups.setdefault(row["__group"], []).append(row[NUMBER])
        chosen = []
        for numbers in groups.values():
            witnesses = [tuple(sorted((w["op"], w["row"]) for w in rows[n][WITNESS])) for n in numbers]
            found = kit.kept(operation, witnesses)
            keeper = numbers[found]
            chosen.append(keeper)
            values = {c.name: rows[keeper][c.label] for c in operation.columns}
            for n in numbers:
                if n != keeper:
                    for parent in rows[n][PARENT]:
                        kit.merged(operation, parent["row"], values, witnesses[found])
        kept = numbered.filter(f"{FOCUS} AND {NUMBER} IN ({', '.join(map(str, chosen))})")
        return select(kept, names)


def _all_columns(operation: Operation, kit: Kit) -> bool:
    """Whether duplicates are equal rows: then none is left for another."""
    return {kit.sql(operation, e) for e in of_role(operation, "group")} >= set(labels(operation.columns))


def members_of(operation: Operation, some: Frame, keys: Sequence[str], kit: Kit) -> Frame:
    """Return all rows of an operation's child whose keys are those of some of them that are kept."""
    near = one_of(some, [(k, k) for k in keys], nulls=True)
    rows = kit.all(operation.children[0], near)
    # The literals of a single key say all that a join with the kept rows would.
    return rows if len(keys) == 1 and near != "true" else grouped_with(some, rows, keys)


def grouped_with(some: Frame, all_rows: Frame, keys: Sequence[str]) -> Frame:
    """Return all rows whose keys are those of some row."""
    from pyspark.sql import functions as sf

    if not keys:
        return all_rows
    names = [quoted(f"__key{i}") for i in range(len(keys))]
    mine = some.selectExpr(*(f"{k} AS {n}" for k, n in zip(keys, names, strict=True))).distinct()
    condition = " AND ".join(f"({k}) <=> {n}" for k, n in zip(keys, names, strict=True))
    return all_rows.join(sf.broadcast(mine), sf.expr(condition), "left_semi")

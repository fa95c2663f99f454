"""DISTINCT, and dropDuplicates on some columns."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.operations import Operation
from provspark.replay.columns import FOCUS, GATHERED, HIDDEN, NUMBER, PARENT, WITNESS, labels
from provspark.replay.contract import Frame, Kit, of_role, select
from provspark.replay.groups import GroupedRule, members_of
from provspark.replay.records import Cause


class Distinct(GroupedRule):
    """DISTINCT: one row of each set of equal rows."""

    def keys(self, operation: Operation, kit: Kit) -> list[str]:
        """Return all columns, as SQL."""
        return labels(operation.columns)

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        from pyspark.sql import functions as sf

        names = labels(operation.columns)
        made = [sf.expr(e) for e in (*(f"{n} AS {n}" for n in names), *GATHERED)]
        return inputs[0].groupBy(*[sf.expr(n) for n in names]).agg(*made)

    def is_of_rows(self, operation: Operation) -> bool:
        return bool(operation.columns)

    def query(self, operation: Operation, columns: str, under: Sequence[str], kit: Kit) -> str:
        return f"SELECT DISTINCT {columns} FROM {under[0]}"


class Deduplicate(GroupedRule):
    """dropDuplicates on some columns: only the store knows which of the duplicates Spark kept."""

    keeps_one = True

    def keys(self, operation: Operation, kit: Kit) -> list[str]:
        """Return the keys as SQL."""
        return [kit.sql(operation, e) for e in of_role(operation, "group")]

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        from pyspark.sql import functions as sf

        if _all_columns(operation, kit):
            return Distinct().build(operation, inputs, kit)
        kit.unsure(operation, "it is not known which duplicate Spark kept; the replay keeps the first by row id")
        keys = [sf.expr(k) for k in self.keys(operation, kit)]
        names = labels(operation.columns)
        row = ", ".join([*names, *HIDDEN])
        one = inputs[0].groupBy(*keys).agg(sf.expr(f"min_by(struct({row}), {WITNESS}) AS one"))
        return one.selectExpr(*(f"one.{n}" for n in (*names, *HIDDEN)))

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
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
            place = kit.kept(operation, witnesses)
            keeper = numbers[place]
            chosen.append(keeper)
            values = {c.name: rows[keeper][c.label] for c in operation.columns}
            for n in numbers:
                if n != keeper:
                    for parent in rows[n][PARENT]:
                        kit.merged(operation, parent["row"], values, witnesses[place])
        kept = numbered.filter(f"{FOCUS} AND {NUMBER} IN ({', '.join(map(str, chosen))})")
        return select(kept, names)

    def is_of_rows(self, operation: Operation) -> bool:
        return bool(operation.columns)

    def cause(self, operation: Operation, before: int) -> Cause:
        return "duplicate"


def _all_columns(operation: Operation, kit: Kit) -> bool:
    """Whether the keys are all columns: then duplicates are equal, and it does not matter which one is kept."""
    return {kit.sql(operation, e) for e in of_role(operation, "group")} >= set(labels(operation.columns))


RULES = {"Deduplicate": Deduplicate(), "Distinct": Distinct()}

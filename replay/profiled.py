"""Profile the rows after operations. Spark runs the operations again over all input rows of a write."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from provspark.index_store.profiles import computation as compute
from provspark.index_store.profiles.profile import Correlations, Profile
from provspark.index_store.values.types import arrow_type
from provspark.model.datasets import Dataset, Field, Files, Version
from provspark.model.errors import ProvSparkError, ReplayError
from provspark.model.operations import Operation
from provspark.replay.columns import distinct, names_of, quoted
from provspark.replay.contract import Frame, Refused
from provspark.replay.determinism import unsettled
from provspark.replay.engine import Engine
from provspark.replay.narrow import SameRule
from provspark.replay.rules import replay_rule
from provspark.replay.session import told_by_spark
from provspark.replay.spread import OperationProfile

__all__ = ["Profiler"]

_NO_FILES = Files.of([])


@dataclass
class Profiler:
    """Profiles the rows after operations, once for each operation.

    Parameters
    ----------
    engine : Engine
        An engine without selected rows.
    dataset : Dataset
        The dataset that the write made.
    columns : collection of str, optional
        Only columns of these names, in upper or lower case.
    """

    engine: Engine
    dataset: Dataset
    columns: Collection[str] | None = None
    _whys: dict[int, str] = field(default_factory=dict)
    _rows: dict[int, int] = field(default_factory=dict)
    _profiles: dict[tuple[int, bool], Profile] = field(default_factory=dict)

    def stage(self, operation: Operation, *, every: bool = False) -> OperationProfile:
        """Profile the selected columns, or every column, after an operation; or return why that is not possible."""
        try:
            why = self._why(operation)
            if why:
                return OperationProfile(operation, None, why)
            return OperationProfile(operation, self.profile(operation, every or self.columns is None))
        except Refused as e:
            needs = "" if e.operation.index == operation.index else f"it needs the rows of {e.operation.text!r}: "
            return OperationProfile(operation, None, needs + e.why)
        except ReplayError:
            raise
        except ProvSparkError as e:
            return OperationProfile(operation, None, str(e))
        except Exception as e:
            self.engine.session.check()
            return OperationProfile(operation, None, told_by_spark(e))

    def profile(self, operation: Operation, every: bool) -> Profile:
        """Return the profile of the rows after an operation, of every column or of the selected ones."""
        key = operation.index, every
        if key not in self._profiles:
            name = f"{self.dataset} after operation {operation.index}"
            profile = self._handed_on(operation, every) or self._computed(operation, every)
            self._profiles[key] = replace(profile, dataset=name, version="")
        return self._profiles[key]

    def _why(self, operation: Operation) -> str:
        """Return why the rows after an operation may differ from those of the step; "" if they are the same."""
        if operation.index not in self._whys:
            why = ""
            for before in (*operation.children, *operation.subqueries):
                behind = self._why(self.engine.operation(before))
                text = self.engine.operation(before).text
                why = why or (
                    f"it needs the rows of {text!r}: {behind}" if behind and "it needs" not in behind else behind
                )
            if not why:
                self.engine.whole(operation.index)
                self._expect()
                why = unsettled(operation, self.engine)
            self._whys[operation.index] = why
        return self._whys[operation.index]

    def _expect(self) -> None:
        self.engine.session.expect(sum(self.engine.sources.scanned.values()))

    def _mine(self, operation: Operation, every: bool) -> dict[int, str]:
        names = names_of(operation)
        if every or self.columns is None:
            return names
        asked = {c.lower() for c in self.columns}
        return {i: n for i, n in names.items() if {n.lower(), n.rpartition("#")[0].lower()} & asked}

    def _size(self, operation: Operation) -> int:
        if operation.index not in self._rows:
            one = _row_for_row(operation)
            self._rows[operation.index] = (
                self._size(self.engine.operation(operation.children[0]))
                if one
                else int(self.engine.whole(operation.index).count())
            )
        return self._rows[operation.index]

    def _handed_on(self, operation: Operation, every: bool) -> Profile | None:
        """Return the child's profile if the operation passes on all its rows and these columns unchanged, else None."""
        if not _row_for_row(operation):
            return None
        child = self.engine.operation(operation.children[0])
        before = self._profiles.get((child.index, every))
        if before is None:
            return None
        had, mine = self._mine(child, every), self._mine(operation, every)
        came = _origins(operation, child)
        if not all(came.get(i) in had for i in mine):
            return None
        pairs = {n: had[came[i]] for i, n in mine.items()}
        left_out = dict(before.left_out)
        kept = [n for n in pairs if pairs[n] not in left_out]
        numbers = [n for n in kept if pairs[n] in before.correlations.columns]
        values = [before.correlations.of(pairs[a], pairs[b]) for i, a in enumerate(numbers) for b in numbers[i + 1 :]]
        return replace(
            before,
            columns=tuple(replace(before.column(pairs[n]), name=n) for n in kept),
            correlations=Correlations(tuple(numbers), tuple(values)) if len(numbers) > 1 else Correlations(),
            left_out=tuple((n, left_out[pairs[n]]) for n in pairs if pairs[n] in left_out),
        )

    def _computed(self, operation: Operation, every: bool) -> Profile:
        from provspark.index_store.profiles.spark_queries import aggregated

        names = self._mine(operation, every)
        columns = [c for c in distinct(operation.columns) if c.id in names]
        rows = self._size(operation)
        fields = tuple(Field(names[c.id], c.type) for c in columns)
        version = Version("", self.dataset, rows, 0, "memory", fields=fields)
        labels = [f"{quoted(c.label)} AS {quoted(names[c.id])}" for c in columns]
        frame = self.engine.whole(operation.index).selectExpr(*labels)
        self._expect()
        if rows * len(fields) > compute.LIMIT:
            return aggregated(version, frame)
        return compute.profile_of(version, _NO_FILES, read=lambda some: _read(frame, some, version))


def _read(frame: Frame, names: Sequence[str], version: Version) -> pa.Table:
    table = frame.select(*map(quoted, names)).toArrow()
    if len(table) != version.rows:
        raise ReplayError(
            f"an operation before {version.dataset} returned {version.rows:,} rows, and {len(table):,} when it ran "
            f"again: it is not deterministic. Profile the rows before it instead"
        )
    types = {f.name: f.type for f in version.fields}
    made = [c.cast(arrow_type(types[n])) if pa.types.is_timestamp(c.type) else c for n, c in _columns(table)]
    return pa.table(made, names=list(names))


def _columns(table: pa.Table) -> Iterator[tuple[str, pa.ChunkedArray]]:
    return zip(table.column_names, table.columns, strict=True)


def _row_for_row(operation: Operation) -> bool:
    """Whether an operation makes one row from each row, and records where each column comes from."""
    return bool(operation.children) and replay_rule(operation.node).row_for_row


def _origins(operation: Operation, child: Operation) -> Mapping[int, int]:
    """Return the child's column for each column that an operation passes on unchanged, by id."""
    if isinstance(replay_rule(operation.node), SameRule):
        return {c.id: had.id for had, c in zip(child.columns, operation.columns, strict=True)}
    made = {e.column for e in operation.expressions}
    return {c.id: c.id for c in child.columns if c.id not in made}

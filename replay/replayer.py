"""Replay writes: find the source rows, run the engine, check the result, and return the answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

from provspark.index_store.profiles.profile import Profile
from provspark.index_store.query.column_walk import Settled
from provspark.index_store.query.nodes import WriteNode
from provspark.model.arrays import Int64
from provspark.model.errors import (
    ReplayCancelledError,
    ReplayError,
    ValuesUnavailableError,
    VersionChangedError,
    near_columns,
)
from provspark.model.operations import Operation
from provspark.model.progress import Progress
from provspark.model.runs import Runs
from provspark.replay.cells import cells_of
from provspark.replay.columns import names_of
from provspark.replay.contract import Refused
from provspark.replay.end_check import found_all, places, unsure, verdict
from provspark.replay.endings import endings_of
from provspark.replay.engine import Engine
from provspark.replay.functions import Functions
from provspark.replay.kept_rows import stages_of, witnesses_of
from provspark.replay.profiled import Profiler
from provspark.replay.records import InputRow, Replayed
from provspark.replay.rules import replay_rule
from provspark.replay.session import Session, told_by_spark
from provspark.replay.sources import Sources
from provspark.replay.spread import OperationProfiles, difference, operation_of
from provspark.replay.write_rows import KeptOf, Witness, results_of, sources_of

__all__ = ["MOST", "Replayer", "operations_of"]

MOST = 1000
"""Maximum number of rows that a replay follows after each operation."""
_ROUNDS = 8
"""Maximum number of replays of one write, each with another choice of the duplicates that Spark may have kept."""


def operations_of(node: WriteNode) -> tuple[Operation, ...]:
    """Return a write's operations.

    Raises
    ------
    ReplayError
        None are stored.
    """
    if not node.operations:
        why = f": {node.write.reason}" if node.write.reason else ""
        raise ReplayError(
            f"step {node.step} kept no operations of its write of {node.write.output.dataset}, so it can't be "
            f"replayed{why}. Run it again with this version of provspark."
        )
    return node.operations


@dataclass
class Replayer:
    """Runs replays, one at a time, in its own Spark session, which it creates when first needed.

    Parameters
    ----------
    most : int
        Maximum number of rows to follow after each operation. Others are left out, and the answer reports that.
    progress : callable, optional
        Called with the progress of a replay.
    functions : bool
        Whether user-defined functions run. They are imported; the script never runs.
    """

    most: int = MOST
    progress: Progress | None = None
    functions: bool = False
    _session: Session | None = None

    @property
    def session(self) -> Session:
        """The replay's session; created when first used."""
        if self._session is None:
            self._session = Session(self.most)
        return self._session

    def cancel(self) -> None:
        """Stop the running replay, from another thread or from `progress`. It raises ReplayCancelledError."""
        if self._session is not None:
            self._session.cancel()

    def outputs(self, node: WriteNode, rows: Runs) -> Replayed:
        """Replay the source rows of output rows, and return only the lines that led to these."""
        with self._backward(node, rows) as (_, replayed, at):
            last = operations_of(node)[-1].index
            lines = set().union(*at.values())
            return replayed.only(replayed.ancestors(last, lines)) if lines else replayed

    def cells(self, node: WriteNode, rows: Runs, columns: Int64) -> Settled | str:
        """Return the source cells of output cells, as selected by the values of each row; or why they can't be found.

        Parameters
        ----------
        columns : int64 array
            Positions of the output's columns, from 1; 0 means the rows.
        """
        try:
            with self._backward(node, rows) as (engine, replayed, at):
                if replayed.verified is not True:
                    return replayed.why
                return cells_of(engine, replayed, node, at, columns)
        except ReplayCancelledError:
            raise
        except (ReplayError, ValuesUnavailableError, VersionChangedError) as e:
            return str(e)

    def inputs(self, node: WriteNode, rows: Mapping[str, Runs], *, all_sources: bool = False) -> Replayed:
        """Replay rows that the write read, by the id of their version."""
        axes = {i: rows[a.version] for i, a in enumerate(node.write.axes) if a.role == "input" and a.version in rows}
        with self._replay(node, axes, all_sources) as (_, told, _shortened):
            return told

    def counts(self, node: WriteNode) -> list[tuple[Operation, int, str]]:
        """Run a write's operations over all rows. Return the number of rows after each, or -1 and the reason."""
        counts = []
        with self._whole(node) as engine:
            for operation in self._in_turn(engine.operations):
                try:
                    counts.append((operation, engine.whole(operation.index).count(), ""))
                except Refused as e:
                    counts.append((operation, -1, e.why))
                except Exception as e:
                    self.session.check()
                    counts.append((operation, -1, told_by_spark(e)))
        return counts

    def spread(
        self,
        node: WriteNode,
        numbers: Sequence[int] | None,
        columns: Collection[str] | None,
        stored: Callable[[], Profile],
    ) -> OperationProfiles:
        """Run a write's operations over all rows, and profile the rows after some or all; see `operation_profiles`.

        Parameters
        ----------
        stored : callable
            Returns the profile of the stored output.
        """
        every = operations_of(node)
        if node.write.coverage == "untracked":
            why = f": {node.write.reason}" if node.write.reason else ""
            said = f"the lineage of {node.write.output.dataset} in step {node.step} is untracked{why}"
            raise ReplayError(f"{said}. Run the step again with capture.")
        asked = (
            range(len(every)) if numbers is None else sorted({operation_of(every, n, node.step).index for n in numbers})
        )
        wanted = {i for n in asked for i in (n, *every[n].children)}
        if columns is not None:
            _known(node, [n for i in wanted for n in names_of(every[i]).values()], columns)
        output = node.write.output
        with self._whole(node) as engine:
            profiler = Profiler(engine, output.dataset, columns)
            stages = tuple(profiler.stage(o) for o in self._in_turn([every[i] for i in sorted(wanted)]))
            end = every[-1]
            told = profiler.stage(end, every=True)
        verified, why = None, f"the replay stopped at {end.text!r}: {told.why}"
        if told.profile is not None:
            try:
                why = difference(told.profile, stored())
                verified = not why
            except (ValuesUnavailableError, VersionChangedError) as e:
                why = str(e)
        return OperationProfiles(
            node.step, node.write.index, str(output.dataset), every, stages, tuple(asked), verified, why
        )

    @contextmanager
    def _whole(self, node: WriteNode) -> Iterator[Engine]:
        """Yield an engine that runs a write's operations over all rows."""
        every = operations_of(node)
        with (
            self.session.aside(),
            closing(Sources(self.session.spark, node)) as sources,
            self.session.under(_settings(node)),
        ):
            yield Engine(self.session, sources, every, {}, _kept_of(node, every), self._functions())

    def _in_turn(self, operations: Sequence[Operation]) -> Iterator[Operation]:
        """Yield operations one by one. Before each, check for cancellation and report progress."""
        for done, operation in enumerate(operations):
            self.session.check()
            if self.progress is not None:
                self.progress(done, len(operations), operation.text)
            with self.session.running(operation.text):
                yield operation
        if self.progress is not None:
            self.progress(len(operations), len(operations), "")

    def _functions(self) -> Functions:
        return Functions(self.session.spark, self.functions)

    @contextmanager
    def _backward(self, node: WriteNode, rows: Runs) -> Iterator[tuple[Engine, Replayed, dict[int, set[int]]]]:
        """Replay the source rows of output rows. Yield engine, answer, and the lines equal to each output row."""
        with self._replay(node, sources_of(node, rows), True, closed=True) as (engine, told, shortened):
            at: dict[int, set[int]] = {}
            why = unsure(told, node, rows, most=self.most, shortened=shortened)
            verified: bool | None = None
            try:
                at = places(told.stage(told.operations[-1].index), node, rows.rows()[: self.most])
            except (ValuesUnavailableError, VersionChangedError) as e:
                why = why or str(e)
            if not why:
                verified, why = found_all(told, at)
            results = tuple(rows.rows()[: self.most].tolist())
            yield engine, replace(told, verified=verified, why=why, results=results), at

    @contextmanager
    def _replay(
        self, node: WriteNode, axes: Mapping[int, Runs], all_sources: bool, *, closed: bool = False
    ) -> Iterator[tuple[Engine, Replayed, bool]]:
        every = operations_of(node)
        focus: dict[int, list[int]] = {}
        shortened = False
        for operation in every:
            mine = Runs.span(0)
            for axis in operation.axes:
                mine = mine | axes.get(axis, Runs.span(0))
            if mine:
                shortened = shortened or mine.count > self.most
                focus[operation.index] = mine.rows()[: self.most].tolist()
        kept_of = _kept_of(node, every)
        by_id = all_sources or any(replay_rule(o.node).keeps_one for o in every)
        names = _Names(node, every)
        asked = {(op, row) for op, rows in focus.items() for row in rows}
        in_question = {s for w in asked for s in names(w)}
        with (
            self.session.aside(),
            closing(Sources(self.session.spark, node)) as sources,
            self.session.under(_settings(node)),
        ):
            admitted = self._functions()
            for _ in range(_ROUNDS):
                engine = Engine(self.session, sources, every, focus, kept_of, admitted, by_id, closed, self.progress)
                engine.run()
                last = engine.kept_rows.get(every[-1].index)
                if not engine.doubts or last is None or last.cut or node.write.coverage != "exact":
                    break
                if not kept_of.disproved(witnesses_of(last, every[-1])):
                    break
            stages = stages_of(every, engine.kept_rows, lambda w: names(w) if all_sources or w in asked else ())
            results = results_of(node, axes)
            told = Replayed(
                node.step,
                node.write.index,
                str(node.write.output.dataset),
                every,
                stages,
                endings_of(every, stages, engine.refused, engine.merges, in_question, names) if not closed else (),
                results=tuple(results.rows()[: self.most].tolist()),
                scanned=tuple(sorted(sources.scanned.items())),
                stopped=tuple((every[i], why) for i, why in sorted({**engine.unfollowed, **engine.refused}.items())),
                doubts=tuple((every[i], w) for i, whys in sorted(engine.doubts.items()) for w in sorted(whys)),
            )
            if not closed:
                verified, why = verdict(told, node, results, most=self.most, shortened=shortened)
                told = replace(told, verified=verified, why=why)
            yield engine, told, shortened


def _kept_of(node: WriteNode, operations: Sequence[Operation]) -> KeptOf:
    return KeptOf(node, {o.index: o.axes for o in operations})


def _settings(node: WriteNode) -> dict[str, str]:
    stored = node.store.operations(node.step, node.write)
    return dict(stored.settings) if stored else {}


def _known(node: WriteNode, names: Iterable[str], columns: Iterable[str]) -> None:
    """Raise UnknownColumnError unless each column is a column of some operation."""
    there = dict.fromkeys(n for name in names for n in (name, name.rpartition("#")[0]) if n)
    lower = {n.lower() for n in there}
    for column in columns:
        if column.lower() not in lower:
            raise near_columns(f"step {node.step}", column, there)


class _Names:
    """Maps a witness to its input rows."""

    def __init__(self, node: WriteNode, operations: Sequence[Operation]) -> None:
        axes = node.write.axes
        self._sources = {
            o.index: [(str(node.inputs[axes[a].version].version.dataset), axes[a]) for a in o.axes if axes[a].version]
            for o in operations
        }

    def __call__(self, witness: Witness) -> tuple[InputRow, ...]:
        operation, row = witness
        return tuple(InputRow(name, a.version, a.occurrence, row) for name, a in self._sources[operation])

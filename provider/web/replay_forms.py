"""Conversion of replays to the API's models, in the replay process: masked values never leave that process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from provspark.index_store.profiles.comparison import Impact
from provspark.index_store.profiles.profile import Profile
from provspark.index_store.query.nodes import Direction, VersionReference
from provspark.index_store.values.conditions import Condition
from provspark.index_store.values.json_cells import plain
from provspark.index_store.values.paths import find_path
from provspark.model.datasets import Dataset
from provspark.model.errors import ConditionError, ReplayError
from provspark.model.operations import Column, Operation
from provspark.replay.columns import distinct, names_of
from provspark.replay.history import History, Passage
from provspark.replay.records import InputRow, Replayed, ReplayEnding, Stage
from provspark.replay.shared_witnesses import SharedRows
from provspark.replay.spread import OperationProfiles
from provspark.replay.why_not import Missed, WhyNot
from provspark.web import describe, operation_forms, profile_forms
from provspark.web import replay_models as told
from provspark.web.models import ColumnJson
from provspark.web.scope import UserScope
from provspark.web.visible import Visible

__all__ = ["LINES", "history", "replayed", "shared", "spreads", "why_not"]

LINES = 200
"""Maximum number of rows that a replay follows, and of items in a response's lists."""
UNNAMED = "a value of Spark's own"
"""Placeholder for a column that Spark added and whose expression is hidden."""
UNTOLD = "the reason may contain masked values"


def replayed(scope: UserScope, of: Replayed, way: Direction) -> told.ReplayJson:
    """Describe the replay of one step."""
    return told.ReplayJson(passages=[_passage(scope, Passage(way, of.step, of.write, of.dataset, (), of))])


def history(scope: UserScope, of: History) -> told.ReplayJson:
    """Describe the history of rows or columns through all steps."""
    at = scope.prov.graph.find(Dataset.parse(of.dataset), of.version)
    return told.ReplayJson(
        passages=[_passage(scope, p) for p in of.passages],
        columns=[str(scope.visible.name_at(at, name)) for name in of.columns],
        drops=operation_forms.drops(scope.visible, at, of.drops),
    )


def shared(scope: UserScope, of: SharedRows) -> told.SharedRowsJson:
    """Describe rows between operations that share witnesses with others."""
    hidden = _hidden(scope.visible, of.step)
    about = _About(scope, of.step, None, hidden)
    return told.SharedRowsJson(
        step=of.step,
        verified=of.verified,
        doubt=about.doubt(of.why),
        asked=about.stage(of.asked),
        answer=about.stage(of.found),
    )


def why_not(scope: UserScope, of: WhyNot) -> told.WhyNotJson:
    """Describe where the input rows that satisfy the conditions ended."""
    return told.WhyNotJson(
        dataset=describe.named(of.dataset, scope.visible),
        conditions=_parts(of.conditions),
        rows=of.found.rows()[:LINES].tolist(),
        count=of.found.count,
        missed=[_missed(scope, m) for m in of.missed],
        untraced=_parts(of.untraced),
    )


def spreads(scope: UserScope, of: OperationProfiles) -> told.OperationSpreadsJson:
    """Describe the distributions of values before and after operations, for each operation that they read from."""
    profile_forms.shown(scope.visible)
    about = _About(scope, of.step, of.write, _hidden(scope.visible, of.step, of.write))
    known: list[told.OperationSpreadJson] = []
    untold: list[told.UntoldJson] = []
    for number in of.asked:
        for child in of.operations[number].children or (None,):
            try:
                known.append(_spread(of, number, child, about))
            except ReplayError as error:
                why = scope.visible.error(error)
                untold.append(told.UntoldJson(**about.described(of.operations[number]), child=child, why=why))
    return told.OperationSpreadsJson(
        step=of.step,
        write=of.write,
        dataset=describe.named(of.dataset, scope.visible),
        spreads=known,
        untold=untold,
    )


class _About:
    """Masking rules for the operations of a write, or of all writes of a step if `write` is None."""

    def __init__(self, scope: UserScope, step: str, write: int | None, hidden: frozenset[int]) -> None:
        self.visible, self.step, self.hidden = scope.visible, step, hidden
        self._writes = [write] if write is not None else sorted({w.index for w in scope.step(step).writes})
        self.all_open = self.visible.values and not hidden

    def described(self, operation: Operation) -> dict[str, Any]:
        """Describe an operation; without its text if that may contain masked values."""
        texts = [
            self.visible.step_operations(self.step, write, [operation.index], operation.text) for write in self._writes
        ]
        return {
            "operation": operation.index,
            "name": operation.name or operation.node,
            "text": texts[0] if texts and None not in texts else None,
            "site": self.visible.path(operation.site),
        }

    def name(self, name: str) -> str:
        """Return the visible name of a column between operations."""
        told = (self.visible.name_in(self.step, write, name) for write in self._writes)
        return next((t for t in told if t != name), name)

    def name_of(self, column: Column, own: Mapping[int, str]) -> str:
        """Return the visible name of a column. A column that Spark added is named by its expression, which may contain
        values, so it has a placeholder if anything is masked."""
        if column.id in own:
            return own[column.id] if self.visible.open else UNNAMED
        return self.name(column.name)

    def doubt(self, why: str) -> str:
        return why if self.all_open or not why else UNTOLD

    def stage(self, stage: Stage) -> told.ReplayStageJson:
        columns = distinct(stage.operation.columns)
        open_to = [self.visible.values and c.id not in self.hidden for c in columns]
        names = [self.name_of(c, stage.own) for c in columns]
        shown = dict(zip(stage.columns, names, strict=True))
        closed = {name for name, o in zip(stage.columns, open_to, strict=True) if not o}
        lines = [
            told.ReplayLineJson(
                values=[plain(v) if o else None for v, o in zip(line.values, open_to, strict=True)]
                if self.visible.values
                else None,
                changed=[shown[name] for name in line.changed if name not in closed],
                added=[shown[name] for name in line.added],
                parents=list(line.parents),
                sources=[_source(self.visible, s) for s in line.sources[:LINES]],
            )
            for line in stage.lines
        ]
        named = [
            ColumnJson(name=name, type=c.type, masked=not o) for c, name, o in zip(columns, names, open_to, strict=True)
        ]
        return told.ReplayStageJson(**self.described(stage.operation), columns=named, lines=lines, cut=stage.cut)

    def endings(self, every: Iterable[ReplayEnding]) -> list[told.EndedJson]:
        return [
            told.EndedJson(
                **self.described(e.operation), cause=e.cause, whole=e.whole, before=e.before, lines=list(e.lines)
            )
            for e in every
        ]

    def notes(self, replayed: Replayed) -> Iterator[str]:
        for operation, why in (*replayed.stopped, *replayed.doubts) if self.all_open else ():
            yield f"{self.described(operation)['text'] or operation.node}: {why}"


def _passage(scope: UserScope, passage: Passage) -> told.PassageJson:
    replayed, visible = passage.replayed, scope.visible
    about = _About(scope, passage.step, passage.write, _hidden(visible, passage.step, passage.write))
    return told.PassageJson(
        direction=passage.direction,
        step=describe.step(scope.step(passage.step)),
        write=passage.write,
        dataset=describe.named(passage.dataset, visible),
        why=visible.text(passage.why),
        verified=replayed.verified if replayed else None,
        doubt=about.doubt(replayed.why) if replayed else "",
        results=list(replayed.results[:LINES]) if replayed else [],
        stages=[about.stage(s) for s in replayed.stages] if replayed else [],
        endings=about.endings(replayed.endings) if replayed else [],
        notes=list(about.notes(replayed)) if replayed else [],
        trail=[
            told.TrailJson(
                **about.described(o), columns=list(dict.fromkeys(about.name_of(c, passage.own) for c in columns))
            )
            for o, columns in passage.trail
        ],
    )


def _missed(scope: UserScope, missed: Missed) -> told.MissedJson:
    """Describe the rows of one input; without the rows if the conditions are on masked columns."""
    visible = scope.visible
    is_open = all(_may_ask(visible, _inputs(scope, missed), c) for c in missed.conditions)
    answer = missed.replayed if is_open else None
    why = "" if answer else missed.why or "no row of this input satisfies the conditions"
    about = _About(scope, missed.step, None, _hidden(visible, missed.step))
    return told.MissedJson(
        step=missed.step,
        dataset=describe.named(missed.dataset, visible),
        conditions=_parts(missed.conditions) if is_open else [],
        rows=missed.rows.rows()[:LINES].tolist() if is_open else [],
        count=missed.rows.count if is_open else 0,
        rest=missed.rest if is_open else 0,
        results=list(answer.results[:LINES]) if answer else [],
        verified=answer.verified if answer else None,
        doubt=about.doubt(answer.why) if answer else "",
        why=visible.text(why) if is_open else "the conditions are on masked columns of this input",
        endings=about.endings(answer.endings) if answer else [],
    )


def _inputs(scope: UserScope, missed: Missed) -> list[VersionReference]:
    nodes = [n for n in scope.prov.graph.nodes if n.step == missed.step]
    known = [at for n in nodes for at in (n.output, *n.inputs.values())]
    return [at for at in known if str(at.version.dataset) == missed.dataset]


def _may_ask(visible: Visible, versions: Sequence[VersionReference], condition: Condition) -> bool:
    """Return whether at least one of these versions has the condition's column, and none masks it."""
    known = False
    for at in versions:
        try:
            field = find_path(at.version, condition.column).column
        except ConditionError:  # another version has it
            continue
        if field.name not in visible.columns(at):
            return False
        known = True
    return known


def _spread(of: OperationProfiles, number: int, child: int | None, about: _About) -> told.OperationSpreadJson:
    """Describe an operation's columns before and after it; masked columns appear with their names only."""
    untold = next((s for s in of.stages if s.profile is None), None)
    if untold is not None and about.hidden:
        raise ReplayError(f"the rows after operation {untold.operation.index} can't be profiled: {UNTOLD}")
    operation = of.operations[number]
    if operation.children:
        impact = of.impact(number, child)
    else:
        impact = Impact(of.step, Profile("", "", 0, ()), of.after(number))
    covered = {
        names_of(o)[i]
        for o in (operation, *(of.operations[c] for c in operation.children))
        for i in about.hidden & names_of(o).keys()
    }
    pairs = impact.pairs()
    column = profile_forms.column
    return told.OperationSpreadJson(
        **about.described(operation),
        step=of.step,
        children=list(operation.children),
        child=child,
        before_rows=impact.before.rows if operation.children else None,
        after_rows=impact.after.rows,
        columns=[
            told.ProfilePairJson(name=about.name(name), masked=True, before=None, after=None)
            if name in covered or (before is not None and before.name in covered)
            else told.ProfilePairJson(name=name, masked=False, before=column(before), after=column(after))
            for name, before, after in pairs[: profile_forms.COLUMNS]
        ],
        total=len(pairs),
        verified=of.verified,
        doubt=about.doubt(of.why),
    )


def _hidden(visible: Visible, step: str, write: int | None = None) -> frozenset[int]:
    """Return the masked columns between the operations of a write, or of all writes of a step."""
    nodes = [n for n in visible.graph.nodes if n.step == step] if write is None else visible.nodes(step, write)
    return frozenset[int]().union(*(visible.within(node) for node in nodes))


def _parts(conditions: Iterable[Condition]) -> list[told.ConditionParts]:
    return [(c.column, c.operator, plain(c.value)) for c in conditions]


def _source(visible: Visible, source: InputRow) -> told.SourceRowJson:
    return told.SourceRowJson(dataset=describe.named(source.dataset, visible), version=source.version, row=source.row)

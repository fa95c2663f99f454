"""Questions whose answers are kept as runs, to be combined, or written out later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal, get_args

import pyarrow as pa

from provspark.index_store.query.answer import Answer, about, ask
from provspark.index_store.query.dataset_relation import Correspondence
from provspark.index_store.query.derivations import Derivations
from provspark.index_store.query.neighbourhood import Neighbourhood, neighbourhood
from provspark.index_store.query.nodes import Direction
from provspark.index_store.query.reachable_rows import reach
from provspark.index_store.query.relation import compose, gathered, image
from provspark.index_store.query.rowset import Located, RowSet
from provspark.index_store.query.shared_derivations import co_contributory, co_dependency
from provspark.index_store.query.trace import Trace, trace
from provspark.index_store.query.walk import Stand
from provspark.model.errors import ConditionError
from provspark.model.runs import Runs
from provspark.operation_questions import OperationQuestions
from provspark.question_parameters import Rows, Semantics, Which

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Questions", "Rows", "Semantics", "Which"]


class Questions(OperationQuestions):
    """The questions of `Provenance`, with the same parameters; `Answer.table` gives what those return."""

    def select(self, dataset: str | RowSet, rows: Rows = None, **which: Unpack[Which]) -> RowSet:
        """Rows as a set."""
        asked = self.asked("select", dataset, rows, which)
        return RowSet(asked.at, asked.labels)

    def locate(
        self,
        rows: RowSet | Answer | pa.Table,
        version: str | None = None,
        *,
        run: str | None = None,
        as_of: datetime | str | None = None,
    ) -> Located:
        """See `Provenance.locate`."""
        return self.located(self.rowset(rows), version, run, as_of)

    def backward(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        *,
        to: str | None = None,
        via: str | Sequence[str] = (),
        **which: Unpack[Which],
    ) -> Answer:
        """See `Provenance.backward`."""
        return self._ask(dataset, rows, "backward", to, via, which)

    def forward(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        *,
        to: str | None = None,
        via: str | Sequence[str] = (),
        **which: Unpack[Which],
    ) -> Answer:
        """See `Provenance.forward`."""
        return self._ask(dataset, rows, "forward", to, via, which)

    def co_contributory(
        self, dataset: str | RowSet, rows: Rows = None, *, to: str, via: str | None = None, **which: Unpack[Which]
    ) -> Answer:
        """See `Provenance.co_contributory`."""
        asked = self.asked("co_contributory", dataset, rows, which)
        view = asked.view
        reached = co_contributory(
            view.back, asked.start(), view.known(to), view.dataset(via), context=asked.context, ahead=view.ahead
        )
        return asked.told(Answer.of(asked.at.version, asked.labels, "together", reached, asked.kinds, used=asked.used))

    def co_dependency(
        self, dataset: str | RowSet, rows: Rows = None, *, to: str, via: str, **which: Unpack[Which]
    ) -> Answer:
        """See `Provenance.co_dependency`."""
        asked = self.asked("co_dependency", dataset, rows, which)
        view, place = asked.view, asked.view.known(to)
        reached = co_dependency(
            view.back,
            asked.start(),
            asked.labels,
            place,
            self.place(view, via),
            context=asked.context,
            ahead=view.ahead,
        )
        answer = Answer.of(asked.at.version, asked.labels, "together", reached, asked.kinds, used=asked.used)
        return asked.now(answer, place)

    def composition(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        *,
        source: str,
        column: str,
        each: bool = True,
        **which: Unpack[Which],
    ) -> pa.Table:
        """See `Provenance.composition`."""
        from provspark.index_store.query.compositions import divide

        asked = self.asked("composition", dataset, rows, which)
        start, labels = asked.start(), asked.labels
        if not each:
            start, labels = Stand(start.at, gathered(image(start.boxes))), Runs.span(1)
        reached = reach(asked.view.back, [start], "backward", asked.view.known(source), context=asked.context)
        kept = Answer.of(asked.at.version, labels, "backward", reached, asked.kinds)
        told = about(asked.at.version, "backward", sorted({*kept.stops, *asked.stops}), used=asked.used)
        table = divide(kept.parts, labels, column).replace_schema_metadata(told)
        return table if each else table.drop_columns(["row"])

    def correspondence(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        *,
        to: str,
        via: str | Sequence[str] = (),
        **which: Unpack[Which],
    ) -> Correspondence:
        """See `Provenance.correspondence`."""
        asked = self.asked("correspondence", dataset, rows, which)
        view = asked.view
        rows_to_classes, start = asked.classes()
        places = self.places(view, via)
        reached = reach(view.back, [start], "backward", view.known(to), context=asked.context, via=places)
        kept = Answer.of(asked.at.version, asked.labels, "backward", reached, asked.kinds)
        parts = kept.parts
        if asked.semantics == "set":
            parts = tuple(replace(p, boxes=compose(rows_to_classes, p.boxes)) for p in parts)
        return Correspondence.of(asked.at, parts, tuple(sorted({*kept.stops, *asked.stops})), asked.used)

    def derivations(self, dataset: str | RowSet, rows: Rows = None, **which: Unpack[Which]) -> Derivations:
        """See `Provenance.derivations`."""
        asked = self.asked("derivations", dataset, rows, which)
        return Derivations.of(asked.view.back, asked.start(), asked.labels)

    def neighbourhood(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        direction: Direction | Literal["both"] = "backward",
        *,
        hops: int | None = None,
        limit: int = 10_000,
        **which: Unpack[Which],
    ) -> Neighbourhood:
        """See `Provenance.neighbourhood`."""
        if direction not in (*get_args(Direction), "both"):
            raise ConditionError(f"no direction {direction!r}; there are 'backward', 'forward' and 'both'")
        asked = self.asked("neighbourhood", dataset, rows, which)
        parts: list[Neighbourhood] = []
        for way in get_args(Direction) if direction == "both" else (direction,):
            linker = asked.view.linker(way)
            parts.append(
                neighbourhood(linker, asked.at, asked.labels, way, context=asked.context, hops=hops, limit=limit)
            )
        return parts[0] if len(parts) == 1 else parts[0] | parts[1]

    def trace(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        direction: Direction = "backward",
        *,
        to: str | None = None,
        **which: Unpack[Which],
    ) -> Trace:
        """See `Provenance.trace`."""
        if direction not in get_args(Direction):
            raise ConditionError(f"no direction {direction!r}; there are 'backward' and 'forward'")
        asked = self.asked("trace", dataset, rows, which)
        linker, place = asked.linker(direction), asked.view.dataset(to)
        traced = trace(
            linker,
            asked.at,
            asked.labels,
            direction,
            to=place,
            kinds=asked.kinds,
            trust=asked.trust,
            currents=asked.view.currents if direction == "forward" else None,
            everything=asked.versions == "all",
        )
        return asked.drawn(traced, place)

    def _ask(
        self,
        dataset: str | RowSet,
        rows: Rows,
        direction: Direction,
        to: str | None,
        via: str | Sequence[str],
        which: Which,
    ) -> Answer:
        asked = self.asked(direction, dataset, rows, which)
        start, view = asked.start(), asked.view
        places, place = self.places(view, via), view.dataset(to)
        answer = ask(
            asked.linker(direction),
            start.at,
            asked.labels,
            start.boxes,
            direction,
            to=place,
            kinds=asked.kinds,
            via=places,
            trust=asked.trust,
            used=asked.used,
        )
        return asked.now(answer, place) if direction == "forward" else asked.told(answer)

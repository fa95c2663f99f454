"""How the command line shows answers, by their class, and the options that their commands have for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import click

from provspark.api import Answer, Correspondence, Derivations, Explanations, Impact, Located, Profile, RowSet, Trace
from provspark.cli.export import GRAPH_OPTIONS, OPERATIONS_OPTION, PROV_JSON_OPTION, show_cells, show_neighbourhood
from provspark.cli.operations import show_explanations, show_operations
from provspark.cli.profile import show_impact, show_operation_profiles, show_profile
from provspark.cli.relations import (
    show_answer,
    show_columns,
    show_correspondence,
    show_derivations,
    show_located,
    show_rows,
)
from provspark.cli.replay import show_counts, show_history, show_replayed, show_shared_rows, show_why_not
from provspark.cli.tables import ENDED_OPTIONS, JSON_OPTION, TABLE_OPTIONS, limit_option
from provspark.cli.trace import show_trace
from provspark.index_store.query.cell_neighbourhood import CellNeighbourhood
from provspark.index_store.query.column_answer import ColumnAnswer
from provspark.index_store.query.neighbourhood import Neighbourhood
from provspark.index_store.query.operation_list import OperationList
from provspark.index_store.query.parameters import answer_class, parameters
from provspark.index_store.query.question import Question
from provspark.replay.history import History
from provspark.replay.records import Replayed
from provspark.replay.shared_witnesses import SharedRows
from provspark.replay.spread import OperationProfiles
from provspark.replay.why_not import WhyNot

__all__ = ["AnswerView", "view_of"]


@dataclass(frozen=True, slots=True)
class AnswerView:
    """A way to show answers.

    Parameters
    ----------
    show : callable
        Called with the `Inquiry`, and with the values of the options by name.
    options : sequence of click.Option
        Options of the view. If a question has a parameter of the same name, the parameter is used instead.
    """

    show: Callable[..., None]
    options: Sequence[click.Option] = TABLE_OPTIONS

    def besides(self, question: Question) -> list[click.Option]:
        """Return the options that are not parameters of a question."""
        own = {p.name for p in parameters(question)}
        return [o for o in self.options if o.name not in own]


_PAIRS = click.Option(["--pairs"], is_flag=True, help="Show the pairs instead of the number of pairs of each row.")
_PARTS = click.Option(
    ["--parts"], is_flag=True, help="Show each operation on its own, instead of combining those of a script line."
)
_SHARES = click.Option(
    ["--shares"], is_flag=True, help="Show the share of each value instead of measures such as count and mean."
)
_TABLE = AnswerView(show_answer)
_BY_CLASS: Mapping[type, AnswerView] = {
    Answer: _TABLE,
    CellNeighbourhood: AnswerView(show_cells, (PROV_JSON_OPTION, OPERATIONS_OPTION, JSON_OPTION)),
    ColumnAnswer: AnswerView(show_columns),
    Correspondence: AnswerView(show_correspondence, (_PAIRS, *TABLE_OPTIONS)),
    Derivations: AnswerView(show_derivations),
    Explanations: AnswerView(show_explanations, (_PARTS, limit_option(), JSON_OPTION)),
    History: AnswerView(show_history, ENDED_OPTIONS),
    Impact: AnswerView(show_impact, (_SHARES, *TABLE_OPTIONS)),
    Located: AnswerView(show_located),
    Neighbourhood: AnswerView(show_neighbourhood, (*GRAPH_OPTIONS, JSON_OPTION)),
    OperationList: AnswerView(show_operations, (JSON_OPTION,)),
    OperationProfiles: AnswerView(show_operation_profiles, (JSON_OPTION,)),
    Profile: AnswerView(show_profile, (JSON_OPTION,)),
    Replayed: AnswerView(show_replayed, (limit_option(5), JSON_OPTION)),
    RowSet: AnswerView(show_rows),
    SharedRows: AnswerView(show_shared_rows),
    Trace: AnswerView(show_trace, (limit_option(10, "Rows to show for each dataset."), JSON_OPTION)),
    WhyNot: AnswerView(show_why_not, ENDED_OPTIONS),
}
_BY_QUESTION: Mapping[str, AnswerView] = {"counts": AnswerView(show_counts, (JSON_OPTION,))}
"""Views of questions whose answers have no class of their own. All other answers are shown as their table."""


def view_of(question: Question) -> AnswerView:
    """Return the view for answers of a question."""
    views = (_BY_CLASS[c] for c in getattr(answer_class(question), "__mro__", ()) if c in _BY_CLASS)
    return _BY_QUESTION.get(question.name) or next(views, _TABLE)

"""Joins with the nearest rows: each left row with a number of right rows, nearest first."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.drafts import DraftOperation
from provspark.model.operation_rules import AGAIN, OperationRule
from provspark.model.operation_texts import shown, unbracketed
from provspark.tracker.families.join.operation import join_categories, join_links


def _text(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    """Describe the type of the join, the number of rows and the ranking."""
    kind = f"{o.detail('type').lower()} join with the {o.detail('rows')} nearest"
    return f"{kind} by {o.detail('by').lower()} " + ", ".join(unbracketed(shown(e)) for e in o.of_role("order"))


OPERATIONS = {"NearestByJoin": OperationRule(_text, join_links, join_categories, opaque=AGAIN)}

"""As-of joins: each left row with the nearest right row."""

from __future__ import annotations

from provspark.model.operation_rules import OperationRule
from provspark.tracker.families.join.operation import join_categories, join_links, join_text

OPERATIONS = {"AsOfJoin": OperationRule(join_text, join_links, join_categories)}

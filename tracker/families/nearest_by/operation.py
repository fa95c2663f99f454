"""Joins with the nearest rows of the other side."""

from __future__ import annotations

from provspark.model.operation_rules import OperationRule
from provspark.tracker.families.join.operation import join_categories

OPERATIONS = {"NearestByJoin": OperationRule(categories=join_categories)}

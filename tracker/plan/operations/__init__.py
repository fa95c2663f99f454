"""The operations of the user's plan, which are read before it is rewritten, and stored with the write."""

from __future__ import annotations

from provspark.tracker.plan.operations.build import Draft, built
from provspark.tracker.plan.operations.reader import OperationReader

__all__ = ["Draft", "OperationReader", "built"]

"""What the user's plan does, operation by operation: read from it before it is rewritten, kept with the write."""

from __future__ import annotations

from provspark.tracker.plan.operations.build import Draft, built
from provspark.tracker.plan.operations.reader import OperationReader

__all__ = ["Draft", "OperationReader", "built"]

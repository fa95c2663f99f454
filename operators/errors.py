"""Errors that tell Airflow how to end a task."""

from __future__ import annotations

from airflow.providers.common.compat.sdk import AirflowFailException

from provspark.model.errors import CaptureError

__all__ = ["NotCapturableError"]


class NotCapturableError(CaptureError, AirflowFailException):  # type: ignore[misc]
    """A job that no retry could capture. Airflow fails the task without retrying it."""
